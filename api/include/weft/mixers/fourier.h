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
 * Implementations: "fft" (VkFFT, real input) and "matrix" (C_n X C_d - S_n X S_d with precomputed cosine and sine
 * matrices). Reproducible mode chooses by shape alone; fast mode measures both once and remembers the faster.
 */
WEFT_API weft_status weft_graph_fourier(weft_tensor *out, weft_graph *graph, weft_tensor x);

#ifdef __cplusplus
}
#endif

#endif
