/* SPDX-License-Identifier: MIT */
/*
 * Circular convolution along the sequence by FFT, for mixers that are one: each channel of each sequence, padded with
 * zeros, is transformed, multiplied by the half spectrum of its channel's kernel and transformed back.
 *
 * Lengths whose transforms fit shared memory can have all that in one dispatch: a workgroup has one channel of a
 * sequence, or as many as fit, from loading to storing. A channel's even and odd elements are the real and imaginary
 * parts of one complex sequence, so that 16 KiB hold 4096 of its elements and channels stay apart: with two of them
 * packed into one sequence, a NaN or a large number in one would spoil the other.
 */
#ifndef WEFT_MIXERS_CONVOLUTION_H
#define WEFT_MIXERS_CONVOLUTION_H

#include "lower/lowering.h"
#include "mixers/vkfft/fft_program.h"

/* ---- lengths ---- */

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

/** Length of a convolution in shared memory, a power of two of at least 2n; 0: n is too large. */
uint32_t weft_shared_convolution_length(uint32_t n);

/** The logarithm of a power of two. */
uint32_t weft_log2(uint32_t power);

/* ---- convolutions ---- */

/** How a convolution is computed, and so what it wants to have of its kernels. */
enum weft_convolution_form {
    WEFT_CONVOLUTION_ROWS, /* by VkFFT, row by row: f32 [d, bins, 2] */
    WEFT_CONVOLUTION_SHARED, /* in shared memory: f32 [d, length] that the shaders shared_spectrum make */
    WEFT_CONVOLUTION_LANES /* as by VkFFT, with channels innermost: f32 [bins, 2, d] */
};

struct weft_convolution {
    uint32_t x;        /* storage of f32 [B, n, d] */
    uint32_t result;   /* the same shape */
    uint32_t spectrum; /* f32 [kernels, bins, 2]: the kernels' transforms divided by `length` */
    uint32_t kernels;  /* divides d: channel c has kernel c % kernels; 0: d, one for each */
    weft_shape shape;  /* of x */
    uint32_t length;   /* of the transforms, at least n */
};

/** Appends the dispatches. Rows are worked on in slabs, which bounds the scratch memory. */
void weft_lower_convolution(struct weft_lowering *lowering,
                            const struct weft_convolution *convolution);

/** A node's result from the storage of its input 0 and the kernels' transforms in the order of the form. */
weft_status weft_lower_node_convolution(struct weft_lowering *lowering,
                                        const struct weft_node *node, uint32_t x, uint32_t spectrum,
                                        uint32_t length, enum weft_convolution_form form);

/**
 * Convolutions with the bits of VkFFT's and channels along the lanes, for processors (convolution_lanes.c): of 8192 elements,
 * by VkFFT 1.3.4.
 */
bool weft_lanes_convolution_fits(uint32_t length);
void weft_lower_lanes_convolution(struct weft_lowering *lowering,
                                  const struct weft_convolution *convolution);

/** Spectra [d, bins, 2] as WEFT_CONVOLUTION_LANES wants them. */
void weft_lower_spread(struct weft_lowering *lowering, uint32_t rows, uint32_t result,
                       uint32_t channels, uint32_t bins);

/* ---- its parts ---- */

/** Transforms of `rows` rows, from real ones to half spectra (WEFT_FFT_R2C) or back (WEFT_FFT_C2R, unnormalised). */
void weft_lower_row_fft(struct weft_lowering *lowering, enum weft_fft_kind kind, uint32_t length,
                        uint32_t rows, uint32_t input, uint32_t output);

/**
 * How many of `rows` rows are transformed at a time, each of which takes so many bytes and transforms: slabs of 64 MiB at
 * most, equally long so that they share their programs. The last may repeat rows of the one before.
 */
#define WEFT_SLAB_TRANSFORMS WEFT_MAX_GROUPS /* VkFFT gives each of the long ones a workgroup */
uint32_t weft_slab_rows(uint64_t rows, uint64_t bytes, uint64_t transforms);

/** Grid of a shader that uses transpose.glsl on rows × positions elements. */
struct weft_grid weft_transpose_grid(uint32_t rows, uint32_t positions);

/** How a shader that uses shared_fft.glsl on `channels` rows of each of `batch` sequences is launched. */
struct weft_shared_fft {
    uint32_t log_length, log_rows; /* its constants */
    double flops;                  /* of the transforms, one way */
};
struct weft_shared_fft weft_shared_fft_of(uint32_t length, uint32_t channels, uint32_t batch);

/** exp(-2πi k / points), f32 pairs, k from 0 to points - 1. */
uint32_t weft_lower_twiddles(struct weft_lowering *lowering, uint32_t points);

#endif
