/* SPDX-License-Identifier: MIT */
/* Further outputs of layers on request: hidden states and attention maps. */
#ifndef WEFT_MODEL_LAYER_OUTPUTS_H
#define WEFT_MODEL_LAYER_OUTPUTS_H

#include "model/network/family.h"

/** x f32 [B, n, d] is the hidden state of that number: the output "hidden_states.NUMBER". */
void weft_build_hidden_state(struct weft_builder *builder, uint32_t number, weft_tensor x);

/**
 * The output "attentions.LAYER" f32 [B, heads, n, n]: softmax(q kᵀ/√(d/heads) + bias) over the tokens j with |i - j| ≤
 * half_width, j ≤ i of a causal network, and j before the lengths. It is composed of plain ops. A row without such a token,
 * behind a length, is finite and says nothing.
 */
void weft_build_attention_map(struct weft_builder *builder, const struct weft_qkv *qkv,
                              uint32_t heads, uint32_t half_width);

#endif
