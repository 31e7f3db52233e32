/* SPDX-License-Identifier: MIT */
/*
 * Circular convolution along the sequence by FFT, for mixers that are one: each channel of each sequence, padded with
 * zeros, is transformed, multiplied by the half spectrum of its channel's kernel and transformed back.
 */
#ifndef WEFT_MIXERS_CONVOLUTION_H
#define WEFT_MIXERS_CONVOLUTION_H

#include "graph/lowering.h"

/** Elements of a kernel's half spectrum for transforms of that length: frequencies 0 … length/2. */
static inline uint32_t weft_convolution_bins(uint32_t length) {
    return length / 2 + 1;
}

/** The least number not below `needed` whose only odd factors are 1, 3, 5 or 7, which VkFFT has radices for. */
uint32_t weft_fast_length(uint64_t needed);

/**
 * A length of transforms for Toeplitz matrices of n rows: a fast one from 2n - 1 on, so at most a quarter longer than
 * needed, and few enough that other n find their programs made.
 */
static inline uint32_t weft_convolution_length(uint32_t n) {
    return weft_fast_length(2 * (uint64_t)n - 1);
}

#define WEFT_CONVOLUTION_MAX_LENGTH \
    (UINT32_C(1) << 28) /* far above what fits a buffer and what VkFFT plans */

struct weft_convolution {
    uint32_t x;        /* storage of f32 [B, n, d] */
    uint32_t result;   /* the same shape */
    uint32_t spectrum; /* f32 [kernels, bins, 2]: the kernels' transforms divided by `length` */
    uint32_t kernels;  /* divides d: channel c has kernel c % kernels; 0: d, one for each */
    weft_shape shape;  /* of x */
    uint32_t length;   /* of the transforms, at least n */
};

/** Appends the dispatches. Rows are worked on in slabs of at most 64 MiB, which bounds the scratch memory. */
void weft_lower_convolution(struct weft_lowering *lowering,
                            const struct weft_convolution *convolution);

/** Real to half spectrum of `rows` rows, and back (unnormalised). */
void weft_lower_row_transform(struct weft_lowering *lowering, uint32_t length, uint32_t rows,
                              uint32_t input, uint32_t output);
void weft_lower_row_inverse(struct weft_lowering *lowering, uint32_t length, uint32_t rows,
                            uint32_t input, uint32_t output);

/** Appends the push words and the groups of a shader that uses transpose.glsl on rows × positions elements. */
void weft_dispatch_transpose(struct weft_dispatch *dispatch, uint32_t rows, uint32_t positions);

#endif
