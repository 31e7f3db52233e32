/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "verify/reference/convolution.h"

/** y = W x + b, W [rows, columns]. */
static void apply(double *y, const double *w, const double *b, const double *x, uint32_t rows,
                  uint32_t columns) {
    for (uint32_t r = 0; r < rows; r++) {
        y[r] = b ? b[r] : 0.0;
        for (uint32_t c = 0; c < columns; c++) {
            y[r] += w[(uint64_t)r * columns + c] * x[c];
        }
    }
}

/** `h`, `x` and `next` are memory for [width]. */
static void evaluate(double *out, double *h, double *x, double *next, double input,
                     const weft_reference_rpe_params *rpe) {
    apply(h, rpe->weight, rpe->bias, &input, rpe->width, 1);
    for (uint32_t i = 0; i < rpe->layer_count; i++) {
        const weft_reference_rpe_layer *layer = &rpe->layers[i];
        memcpy(x, h, rpe->width * sizeof *x);
        if (layer->norm) {
            weft_reference_normalize(x, layer->norm, 1, rpe->width);
        }
        for (uint32_t c = 0; c < rpe->width; c++) {
            x[c] = weft_reference_activation(rpe->activation, x[c]);
        }
        if (i + 1 == rpe->layer_count) {
            apply(out, layer->weight, layer->bias, x, rpe->channels, rpe->width);
            return;
        }
        apply(next, layer->weight, layer->bias, x, rpe->width, rpe->width);
        for (uint32_t c = 0; c < rpe->width; c++) {
            h[c] = next[c] + (rpe->residual ? h[c] : 0.0);
        }
    }
}

void weft_reference_rpe(weft_reference *ref, double *out, const double *inputs, uint32_t count,
                        const weft_reference_rpe_params *rpe) {
    const uint64_t width = rpe->width;
    const double each = (double)width * (rpe->layer_count * (rpe->width + 10.0) + rpe->channels);
    if (!weft_reference_spend(ref, count * each)) {
        return;
    }
    double *memory = weft_reference_array(ref, 3 * width);
    for (uint64_t i = 0; memory && i < count; i++) {
        evaluate(out + i * rpe->channels, memory, memory + width, memory + 2 * width, inputs[i],
                 rpe);
    }
}
