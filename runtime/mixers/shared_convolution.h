/* SPDX-License-Identifier: MIT */
/*
 * The circular convolution of convolution.h as one dispatch, for lengths whose transforms fit shared memory: a
 * workgroup has one channel of a sequence, or as many as fit, from loading to storing. A channel's even and odd
 * elements are the real and imaginary parts of one complex sequence, so that 16 KiB hold 4096 of its elements and
 * channels stay apart: with two of them packed into one sequence, a NaN or a large number in one would spoil the other.
 */
#ifndef WEFT_MIXERS_SHARED_CONVOLUTION_H
#define WEFT_MIXERS_SHARED_CONVOLUTION_H

#include "mixers/convolution.h"

#define WEFT_SHARED_CONVOLUTION_MIN 8    /* the shortest length */
#define WEFT_SHARED_CONVOLUTION_MAX 4096 /* the longest: 2048 complex numbers, 16 KiB */

/** The length for sequences of n elements, a power of two of at least 2n; 0: they are too long. */
uint32_t weft_shared_convolution_length(uint32_t n);

/** Bytes of the kernels of d channels. */
static inline uint64_t weft_shared_kernel_bytes(uint32_t length, uint32_t channels) {
    return UINT64_C(4) * length * channels;
}

/** Of the transforms of real rows of that length, one way. */
double weft_shared_fft_flops(uint32_t length, uint64_t rows);

/** As weft_lower_convolution, with n at most half of the length; `spectrum` is what the shaders shared_spectrum make. */
void weft_lower_shared_convolution(struct weft_lowering *lowering,
                                   const struct weft_convolution *convolution);

/** exp(-2πi k / points), f32 pairs, k from 0 to points - 1. */
uint32_t weft_lower_twiddles(struct weft_lowering *lowering, uint32_t points);

/**
 * The specialization of a shader that uses shared_fft.glsl on `channels` rows of each of `batch` sequences, its groups
 * and the push words that these take. Fewer channels than 2048 points could hold share a group where n is short.
 */
void weft_dispatch_shared_fft(struct weft_dispatch *dispatch, uint32_t length, uint32_t channels,
                              uint32_t batch);

#endif
