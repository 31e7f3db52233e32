/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "bench/reference.h"
#include "verify/conformance.h"

/** y = W x + b, W [rows, columns]. */
static void apply(double *y, const double *w, const double *b, const double *x, uint32_t rows,
                  uint32_t columns) {
    for (uint32_t r = 0; r < rows; r++) {
        y[r] = b[r];
        for (uint32_t c = 0; c < columns; c++) {
            y[r] += w[(uint64_t)r * columns + c] * x[c];
        }
    }
}

/** The activation of x / (‖x‖/√width + 1e-8), in place. */
static void activate(double *x, const weft_bench_rpe *rpe) {
    double squares = 0.0;
    for (uint32_t c = 0; c < rpe->width; c++) {
        squares += x[c] * x[c];
    }
    const double length = sqrt(squares / rpe->width) + (double)1e-8F;
    for (uint32_t c = 0; c < rpe->width; c++) {
        x[c] = weft_reference_activation(rpe->activation, x[c] / length);
    }
}

/** h and next: [width]. */
static void evaluate(double *out, double *h, double *next, double input,
                     const weft_bench_rpe *rpe) {
    apply(h, rpe->weights[0], rpe->weights[1], &input, rpe->width, 1);
    for (uint32_t layer = 0; layer < rpe->layers; layer++) {
        const double *w = rpe->weights[2 + 2 * layer];
        const double *b = rpe->weights[3 + 2 * layer];
        const bool last = layer + 1 == rpe->layers;
        activate(h, rpe);
        apply(last ? out : next, w, b, h, last ? rpe->channels : rpe->width, rpe->width);
        double *free_one = h;
        h = next;
        next = free_one;
    }
}

const double *weft_bench_reference_rpe(weft_bench_reference *ref, const double *inputs,
                                       uint32_t count, const weft_bench_rpe *rpe) {
    const double each = (double)rpe->width * (rpe->layers * (rpe->width + 10.0) + rpe->channels);
    if (!weft_bench_reference_spend(ref, count * each)) {
        return NULL;
    }
    double *out = weft_bench_reference_array(ref, (uint64_t)count * rpe->channels);
    double *h = weft_bench_reference_array(ref, 2 * (uint64_t)rpe->width);
    for (uint64_t i = 0; h && i < count; i++) {
        evaluate(out + i * rpe->channels, h, h + rpe->width, inputs[i], rpe);
    }
    return h ? out : NULL;
}
