/* SPDX-License-Identifier: MIT */
/* Chains of sign-like diagonals and Walsh-Hadamard matrices. */
#ifndef WEFT_FEATURES_HADAMARD_H
#define WEFT_FEATURES_HADAMARD_H

#include <stdint.h>

/** The smallest power of two ≥ n, for 1 ≤ n ≤ 2^31. */
uint32_t weft_hadamard_size(uint32_t n);

/** x ← H x, n a power of two, H of ±1 entries in natural order: H[i][j] = (-1)^popcount(i & j). */
void weft_hadamard(double *x, uint32_t n);

/** √n · (1/√n)ᵗ, the scale that t ≥ 1 factors H of ±1 entries need to give rows of length √n. */
double weft_hadamard_scale(uint32_t n, uint32_t t);

/**
 * row ← row · D_count H … H D_2 H D_1 in place, with D_k = diagonals[k - 1], n elements each, and H of ±1: what a device
 * that applies the first diagonal first does to a vector, transposed.
 */
void weft_hadamard_chain(double *row, const float *diagonals, uint32_t count, uint32_t n);

#endif
