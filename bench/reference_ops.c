/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bench/reference.h"
#include "verify/conformance.h"

/** Four sums rather than one, which a processor adds at the same time. */
static double dot(const double *a, const double *b, uint32_t count) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (uint32_t lane = 0; lane < 4; lane++) {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    for (; i < count; i++) {
        sums[0] += a[i] * b[i];
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

void weft_bench_reference_linear(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                 const double *x, uint32_t k, const double *w, uint32_t channels,
                                 const double *bias) {
    if (!weft_bench_reference_spend(ref, (double)rows.count * k * channels)) {
        return;
    }
    for (uint32_t r = 0; r < rows.count; r++) {
        const double *token = x + (uint64_t)rows.at[r] * k;
        for (uint32_t c = 0; c < channels; c++) {
            out[(uint64_t)r * channels + c] =
                dot(token, w + (uint64_t)c * k, k) + (bias ? bias[c] : 0.0);
        }
    }
}

/** Copies the rows (x may be out, with all of its rows); whether the ops that follow may be done. */
static bool take_rows(weft_bench_reference *ref, double *out, weft_bench_rows rows, const double *x,
                      uint32_t channels, double cost) {
    if (!weft_bench_reference_spend(ref, cost * rows.count * channels)) {
        return false;
    }
    for (uint32_t r = 0; r < rows.count; r++) {
        memmove(out + (uint64_t)r * channels, x + (uint64_t)rows.at[r] * channels,
                channels * sizeof *out);
    }
    return true;
}

void weft_bench_reference_activation(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                     const double *x, uint32_t channels,
                                     weft_activation activation) {
    if (take_rows(ref, out, rows, x, channels, 10.0)) {
        for (uint64_t i = 0; i < (uint64_t)rows.count * channels; i++) {
            out[i] = weft_reference_activation(activation, out[i]);
        }
    }
}

void weft_bench_reference_layer_norm(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                     const double *x, uint32_t channels, const double *gamma,
                                     const double *beta, double epsilon) {
    if (take_rows(ref, out, rows, x, channels, 4.0)) {
        weft_reference_layer_norm(out, out, gamma, beta, rows.count, channels, epsilon);
    }
}

void weft_bench_reference_softmax(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                  const double *x, uint32_t channels) {
    if (take_rows(ref, out, rows, x, channels, 10.0)) {
        weft_reference_softmax(out, out, rows.count, channels);
    }
}
