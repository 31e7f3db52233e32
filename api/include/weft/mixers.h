/* SPDX-License-Identifier: MIT */
/* Token mixers as graph ops. Each takes and gives activations f32 [B, n, d]. Errors as the ops of graph.h. */
#ifndef WEFT_MIXERS_H
#define WEFT_MIXERS_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FNet's Fourier sublayer: Re(F_seq(F_hidden(x))), unnormalised, over the axes n and d.
 * Lee-Thorp et al., "FNet: Mixing tokens with Fourier transforms", 2022, equation (3). No mask exists: padding changes
 * the result, so n is the exact length.
 *
 * Implementations: "fft" (VkFFT, real input) and "matrix" (C_n X C_d - S_n X S_d with precomputed cosine and sine
 * matrices). Reproducible mode chooses by shape alone, fast mode by measuring both once and remembering the answer.
 */
WEFT_API weft_status weft_graph_fourier(weft_tensor *out, weft_graph *graph, weft_tensor x);

typedef struct weft_attention_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    float scale;    /**< on the scores; 0 means 1/sqrt(d/heads) */
    uint8_t unused; /**< ignored; gives the macro below a field to start with */
} weft_attention_params;

#ifndef __cplusplus
#define weft_attention_params(...) (&(weft_attention_params){.unused = 0, __VA_ARGS__})
#endif

/**
 * Softmax self-attention without a mask, head h using channels h·d/heads …: softmax(scale · q kᵀ) v per head.
 * Vaswani et al., "Attention is all you need", 2017, equation (1). The sequence lengths of q and of k, v may differ.
 * Holds the [B, heads, n, n] scores: FNet's Hybrid sibling and the baseline use it. params may be null.
 */
WEFT_API weft_status weft_graph_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                          weft_tensor k, weft_tensor v,
                                          const weft_attention_params *params);

#ifdef __cplusplus
}
#endif

#endif
