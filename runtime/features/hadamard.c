/* SPDX-License-Identifier: MIT */
#include "features/hadamard.h"

#include <math.h>
#include <stddef.h>

uint32_t weft_hadamard_size(uint32_t n) {
    uint32_t size = 1;
    while (size < n) {
        size *= 2;
    }
    return size;
}

void weft_hadamard(double *x, uint32_t n) {
    for (uint32_t half = 1; half < n; half *= 2) {
        for (uint32_t base = 0; base < n; base += 2 * half) {
            for (uint32_t i = base; i < base + half; i++) {
                double a = x[i];
                double b = x[i + half];
                x[i] = a + b;
                x[i + half] = a - b;
            }
        }
    }
}

double weft_hadamard_scale(uint32_t n, uint32_t t) {
    double scale = 1.0;
    /* An even power of √n is a power of two: exact. */
    for (uint32_t i = 1; i + 2 <= t; i += 2) {
        scale /= (double)n;
    }
    return t % 2 != 0 ? scale : scale / sqrt((double)n);
}

void weft_hadamard_chain(double *row, const float *diagonals, uint32_t count, uint32_t n) {
    for (uint32_t k = count; k-- > 0;) {
        const float *diagonal = diagonals + (size_t)k * n;
        for (uint32_t j = 0; j < n; j++) {
            row[j] *= (double)diagonal[j];
        }
        if (k > 0) {
            weft_hadamard(row, n);
        }
    }
}
