/* SPDX-License-Identifier: MIT */
/*
 * gpt-oss: OpenAI, "gpt-oss-120b & gpt-oss-20b model card", 2025. Llama's form with experts in each layer, whose gates are clamped, and
 * attention with a learned sink for each head, in every second layer within a window.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

static const struct weft_rotary_fields rotary = {WEFT_ROTARY_FIELDS_OF(NULL), .base = "rope_theta",
                                                 .usual_base = 150000.0};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    weft_expert_form *experts = &config->layer.experts;
    experts->size = config->intermediate_size;
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_decoder_check_with(config, head, &rotary, json));
    WEFT_TRY(weft_decoder_read_experts(config, 4, "num_local_experts", json));
    WEFT_TRY(weft_decoder_read_real(&experts->gain, 1.702, 1e-9, json, "swiglu_alpha"));
    WEFT_TRY(weft_decoder_read_real(&experts->limit, 7.0, 1e-9, json, "swiglu_limit"));
    weft_decoder_choose_local(config, 0, 2);
    return experts->count > 0 ? weft_decoder_read_window(config, 128, json)
                              : weft_fields_refuse(json, "num_local_experts", "at least 1");
}

#define MLP "layers.#.mlp."
static const struct weft_tensor_name names[] = {
    WEFT_LLAMA_ATTENTION_NAMES,
    {WEFT_NAMED("layers.#.mixer.sinks", "layers.#.self_attn.sinks")},
    {WEFT_NAMED("layers.#.feed_forward.router", MLP "router")},
    WEFT_EXPERT_ROW(1, MLP "experts.gate_proj.weight"), /* of GGUF files */
    WEFT_EXPERT_ROW(2, MLP "experts.up_proj.weight"),
    WEFT_EXPERT_ROW(3, MLP "experts.down_proj.weight"),
    {WEFT_NAMED("layers.#.feed_forward.experts.l1", MLP "experts.gate_up_proj"),
     .packed = WEFT_TURNED_EXPERT_GATES},
    {WEFT_NAMED("layers.#.feed_forward.experts.l2", MLP "experts.gate_up_proj"),
     .packed = WEFT_TURNED_EXPERT_VALUES},
    {WEFT_NAMED("layers.#.feed_forward.experts.l3", MLP "experts.down_proj"),
     .packed = WEFT_TURNED_EXPERTS},
    {WEFT_NAMED("layers.#.feed_forward.experts.l1", MLP "experts.gate_up_proj_blocks"),
     .packed = WEFT_MXFP4_EXPERT_GATES}, /* of OpenAI's folders */
    {WEFT_NAMED("layers.#.feed_forward.experts.l2", MLP "experts.gate_up_proj_blocks"),
     .packed = WEFT_MXFP4_EXPERT_VALUES},
    {WEFT_NAMED("layers.#.feed_forward.experts.l3", MLP "experts.down_proj_blocks"),
     .packed = WEFT_MXFP4_EXPERTS},
    WEFT_EXPERT_ROW(1_bias, MLP "experts.gate_proj.bias"), /* likewise */
    WEFT_EXPERT_ROW(2_bias, MLP "experts.up_proj.bias"),
    WEFT_EXPERT_ROW(3_bias, MLP "experts.down_proj.bias"),
    {WEFT_NAMED("layers.#.feed_forward.experts.l1_bias", MLP "experts.gate_up_proj_bias"),
     .packed = WEFT_PAIRED_EXPERT_GATES},
    {WEFT_NAMED("layers.#.feed_forward.experts.l2_bias", MLP "experts.gate_up_proj_bias"),
     .packed = WEFT_PAIRED_EXPERT_VALUES},
    {WEFT_NAMED("layers.#.feed_forward.experts.l3_bias", MLP "experts.down_proj_bias")},
    WEFT_LLAMA_NORM_NAMES,
    {.ours = NULL}};

static const weft_network_config defaults = {
    WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-5F, .biases.attention = true,
    .attention = {.kv_heads = 8, .head_size = 64, .sinks = true},
    .layer.experts = {.count = 128, .normalized = true, .biases = true}};

WEFT_LLAMA_FAMILY(gpt_oss, "GptOss", check, defaults, names, &weft_expert_count_fields,
                  &weft_attention_bias_fields)
