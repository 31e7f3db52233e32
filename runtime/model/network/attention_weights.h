/* SPDX-License-Identifier: MIT */
/* Softmax attention by its scores: as an output of a model, and where scores are more than products. */
#ifndef WEFT_MODEL_ATTENTION_WEIGHTS_H
#define WEFT_MODEL_ATTENTION_WEIGHTS_H

#include "model/network/family.h"

/**
 * The weights [B, heads, n, n] of softmax attention over a band, which half_width ≥ n - 1 makes that over all tokens; causal when the
 * network is. For whole sequences.
 */
weft_tensor weft_build_attention_weights(struct weft_builder *builder, const struct weft_qkv *qkv,
                                         uint32_t heads, uint32_t half_width);
/** Attention with a cap on its scores, by these weights. */
weft_tensor weft_build_capped_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        uint32_t heads, uint32_t half_width);

#endif
