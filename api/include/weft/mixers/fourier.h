/* SPDX-License-Identifier: MIT */
/* FNet's Fourier sublayer. */
#ifndef WEFT_MIXERS_FOURIER_H
#define WEFT_MIXERS_FOURIER_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FNet's Fourier sublayer: Re(F_seq(F_hidden(x))), unnormalised, over the axes n and d. Lee-Thorp et al., "FNet: Mixing
 * tokens with Fourier transforms", 2022, equation (3). There is no mask: padding changes the result, so n is the exact
 * length.
 *
 * Implementations: "fft" (VkFFT, real input), "matrix" (C_n X C_d - S_n X S_d with precomputed cosine and sine matrices) and
 * "fft_matrix" (the channels by VkFFT, the tokens by matrices). Reproducible mode chooses by shape alone; fast mode measures
 * them once and remembers the fastest.
 */
WEFT_API weft_status weft_graph_fourier(weft_tensor *out, weft_graph *graph, weft_tensor x);

/*
 * Transforms of rows, with NumPy's normalization: the inverse ones divide by n. Complex numbers are pairs along a last axis of
 * 2. By a product with a matrix ("matrix") for n up to 256, and otherwise by VkFFT ("fft"), which spreads a NaN or an infinity
 * over all of its row, as the matrix does. Errors: WEFT_SHAPE_MISMATCH.
 */

/** Along the last axis: x f32 [..., n], out f32 [..., n/2 + 1, 2], Σ_j x_j e^(-2πi jk/n). */
WEFT_API weft_status weft_graph_rfft(weft_tensor *out, weft_graph *graph, weft_tensor x);

/**
 * Back: x f32 [..., n/2 + 1, 2], out f32 [..., n]. Imaginary parts of k = 0 and k = n/2 count as 0. n 0: the even one.
 * Errors also: WEFT_INVALID_ARGUMENT for an n that does not go with x.
 */
WEFT_API weft_status weft_graph_irfft(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                      uint32_t n);

/** Transform of complex numbers: x and out f32 [..., n, 2]. */
WEFT_API weft_status weft_graph_fft(weft_tensor *out, weft_graph *graph, weft_tensor x);

/** Inverse of weft_graph_fft: x and out f32 [..., n, 2]. */
WEFT_API weft_status weft_graph_ifft(weft_tensor *out, weft_graph *graph, weft_tensor x);

/** Products of complex numbers: a f32 [..., 2], b of the same shape or of a's last axes. Errors: WEFT_SHAPE_MISMATCH. */
WEFT_API weft_status weft_graph_complex_multiply(weft_tensor *out, weft_graph *graph, weft_tensor a,
                                                 weft_tensor b);

#ifdef __cplusplus
}
#endif

#endif
