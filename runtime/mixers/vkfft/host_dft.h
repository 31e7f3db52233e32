/* SPDX-License-Identifier: MIT */
/*
 * Trigonometry and discrete Fourier transforms on the host, in float64, for the tables that VkFFT's
 * kernels read. Everything is built from IEEE 754 + − × ÷ in a fixed order, so each table has the
 * same bits on every host whatever its libm does (this directory is compiled with
 * -ffp-contract=off, as all of Weft).
 */
#ifndef WEFT_MIXERS_VKFFT_HOST_DFT_H
#define WEFT_MIXERS_VKFFT_HOST_DFT_H

#include "core/host.h"

/** cos(x) and sin(x) within 1 ulp of 1 (absolute error ≤ 2.3e-16), for |x| < 4e6. Thread safe. */
double weft_fft_cos(double x);
double weft_fft_sin(double x);

/** root[0] + i root[1] = exp(2πi numerator / denominator), the angle reduced exactly. */
void weft_fft_root_of_unity(double root[2], uint64_t numerator, uint64_t denominator);

/**
 * output[k] = Σ_j input[j] exp(-2πi j k / n), n complex numbers as (re, im) pairs, by mixed-radix
 * decimation in time: O(n Σ prime factors). output and input must not overlap. Thread safe.
 * Errors (not logged): WEFT_INVALID_ARGUMENT unless 0 < n ≤ 2^31; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_fft_host_dft(double *output, const double *input, uint64_t n,
                              const weft_host *host);

#endif
