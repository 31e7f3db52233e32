/* SPDX-License-Identifier: MIT */
/*
 * GLM-4: Team GLM, "ChatGLM: A family of large language models from GLM-130B to GLM-4", 2024; and its version of April 2025, which has norms
 * around each part. Half of the channels of each head turn.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

static const struct weft_tensor_name glm_names[] = {WEFT_LLAMA_ATTENTION_NAMES,
                                                    WEFT_PACKED_FEED_FORWARD_NAMES,
                                                    WEFT_LLAMA_NORM_NAMES,
                                                    {.ours = NULL}};
static const struct weft_tensor_name glm4_names[] = {
    WEFT_LLAMA_ATTENTION_NAMES,
    WEFT_PACKED_FEED_FORWARD_NAMES,
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.input_layernorm")},
    {WEFT_NAMED("layers.#.mixer_norm_of_result", "layers.#.post_self_attn_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.post_attention_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward_norm_of_result", "layers.#.post_mlp_layernorm")},
    {WEFT_NAMED("norm", "norm")},
    {.ours = NULL}};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    return weft_decoder_check_with(config, head, &weft_half_rotary, json);
}

#define DEFAULTS                                          \
    WEFT_LLAMA_DEFAULTS_BUT_EPS,                          \
        .norm_eps = 1.5625e-7F, .biases.attention = true, \
        .attention = {.kv_heads = 2, .head_size = 128, .rotary.interleaved = true}
static const weft_network_config glm_defaults = {DEFAULTS};
static const weft_network_config glm4_defaults = {DEFAULTS, .norm_position = WEFT_NORM_AROUND};

WEFT_LLAMA_FAMILY(glm, "Glm", check, glm_defaults, glm_names, &weft_attention_bias_fields)
WEFT_LLAMA_FAMILY(glm4, "Glm4", check, glm4_defaults, glm4_names, &weft_attention_bias_fields)
