/* SPDX-License-Identifier: MIT */
/* Attention with scores: softmax over the whole sequence, or over a band. */
#ifndef WEFT_MIXERS_ATTENTION_H
#define WEFT_MIXERS_ATTENTION_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_attention_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    float scale;    /**< on the scores; 0 means 1/sqrt(d/heads) */
    weft_tensor
        lengths; /**< i32 [B], how many keys of each sequence count: see weft_graph_mask; none: all */
    /**
     * f32 [n, m], [heads, n, m] or [B, heads, n, m], added to the scaled scores; -infinity hides a key from a query.
     */
    weft_tensor bias;
    bool causal;       /**< token i reads the keys 0 … i; then m = n */
    uint32_t kv_heads; /**< heads of k and v; divides heads; 0: heads */
    /**
     * f32 [heads], a score of each head whose key has the value 0: gpt-oss's attention sinks, learned. Only of causal
     * attention without a bias.
     */
    weft_tensor sinks;
} weft_attention_params;

#ifndef __cplusplus
#define weft_attention_params(...) (&(weft_attention_params){__VA_ARGS__})
#endif

/**
 * Softmax attention, head h using channels h·d/heads …: softmax(scale · q kᵀ + bias) v per head. Vaswani et al.,
 * "Attention is all you need", 2017, equation (1). q f32 [B, n, d], k and v f32 [B, m, d]; with kv_heads fewer than
 * heads, grouped queries (Ainslie et al., "GQA", 2023): k and v f32 [B, m, d·kv_heads/heads], of which head h reads head
 * h·kv_heads/heads. Stores the [B, heads, n, m] scores (implementation "scores"), or, mostly on processors and without a
 * bias, a few rows of them at a time ("rows"). Causal attention without a bias stores none ("band"); it is weft_graph_banded_attention with half_width n-1, and weft_graph_banded_attention_step is its
 * step, with the same bits. FNet's Hybrid sibling and the baseline use it. If bias hides all keys from a query, its
 * result is NaN; causal with a bias, a NaN or an infinity in v reaches the tokens before it, too. params may be null.
 * Errors: WEFT_INVALID_ARGUMENT for heads that do not divide d, kv_heads that do not divide heads, or a scale that is not
 * finite; WEFT_UNSUPPORTED for sinks where not causal, or with a bias; WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                          weft_tensor k, weft_tensor v,
                                          const weft_attention_params *params);

typedef struct weft_banded_attention_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    uint32_t
        half_width; /**< k, 0 … n-1: token i reads the tokens j with |i-j| ≤ k; 0: only itself */
    bool causal;    /**< 0 ≤ i-j ≤ k instead */
    float scale;    /**< on the scores; 0 means 1/sqrt(d/heads) */
    weft_tensor
        lengths; /**< i32 [B], how many keys of each sequence count: see weft_graph_mask; none: all */
    uint32_t kv_heads; /**< heads of k and v; divides heads; 0: heads */
    weft_tensor sinks; /**< f32 [heads], or none: as weft_attention_params; no bandwidth hides it */
    /**
     * Keys and values are rounded to f16 before anything reads them, to nearest, ties to even, and from 65520 on to infinity: bits of its own,
     * the same on every device. The state of weft_graph_banded_attention_step then has them as f16, in half of the memory.
     */
    bool f16;
} weft_banded_attention_params;

#ifndef __cplusplus
#define weft_banded_attention_params(...) (&(weft_banded_attention_params){__VA_ARGS__})
#endif

/**
 * FMMformer's near field: softmax(band_k(scale · q kᵀ)) v per head, with the softmax over the band only. Nguyen et al.,
 * "FMMformer", 2021, equation (4). q, k, v and out f32 [B, n, d]; head h has the channels h·d/heads …, as
 * weft_graph_attention, and with kv_heads grouped queries as there. k = n-1 is softmax attention, or causal softmax attention. Time is linear in n·k·d. Memory is
 * that of the result: no score is stored. The bandwidth "k" of the authors' code keeps |i-j| < k: it is half_width + 1.
 * Implementations, with the same bits: "direct" and "tiled". With lengths, a token whose band starts past its
 * sequence's end reads the last key of the sequence. params may be null.
 * Errors: WEFT_INVALID_ARGUMENT for heads that do not divide d, kv_heads that do not divide heads, half_width ≥ n, or a
 * scale that is not finite.
 */
WEFT_API weft_status weft_graph_banded_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                                 weft_tensor k, weft_tensor v,
                                                 const weft_banded_attention_params *params);

#ifdef __cplusplus
}
#endif

#endif
