/* SPDX-License-Identifier: MIT */
/*
 * Llama's form with feed-forwards of experts: Mixtral (Jiang et al., "Mixtral of experts", 2024), OLMoE (Muennighoff et al., "OLMoE: open
 * mixture-of-experts language models", 2024), Qwen's and Granite's.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

/* Models all of whose layers have experts, of a feed-forward's size. */
static weft_status read_all(weft_network_config *config, uint32_t usual, const char *count,
                            const weft_json_fields *json) {
    config->layer.experts.size = config->intermediate_size;
    return config->layer.experts.count > 0 ? weft_decoder_read_experts(config, usual, count, json)
                                           : weft_fields_refuse(json, count, "at least 1");
}

static weft_status check_mixtral(weft_network_config *config, const struct weft_head *head,
                                 const weft_json_fields *json) {
    WEFT_TRY(weft_decoder_check(config, head, json));
    WEFT_TRY(read_all(config, 2, "num_local_experts", json));
    weft_decoder_choose_local(config, 0, 0);
    return weft_decoder_read_window(config, 0, json);
}

static weft_status check_granitemoe(weft_network_config *config, const struct weft_head *head,
                                    const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_decoder_read_multipliers(config, json));
    WEFT_TRY(weft_decoder_check(config, head, json));
    return read_all(config, 2, "num_local_experts", json);
}

static weft_status check_olmoe(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_decoder_check(config, head, json));
    return read_all(config, 8, "num_experts", json);
}

static weft_status check_qwen3(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    bool has_window = false;
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_decoder_check(config, head, json));
    WEFT_TRY(weft_decoder_read_experts(config, 8, "num_experts", json));
    WEFT_TRY(weft_json_optional_bool(&has_window, json, "use_sliding_window"));
    if (!has_window) {
        return WEFT_OK;
    }
    weft_decoder_choose_local(config, 0, 0);
    return weft_decoder_read_window(config, 4096, json);
}

/* Every second layer of the first ones has a window, unless layer_types says which. */
static weft_status check_qwen2(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    bool has_window = false;
    int64_t last = 28;
    config->layer.experts.shared_gate = true;
    WEFT_TRY(weft_decoder_check(config, head, json));
    WEFT_TRY(weft_decoder_read_experts(config, 4, "num_experts", json));
    WEFT_TRY(weft_json_optional_bool(&has_window, json, "use_sliding_window"));
    WEFT_TRY(weft_json_optional_integer(&last, json, "max_window_layers", 0, INT32_MAX));
    for (uint32_t i = 0; i < config->layers && has_window; i++) {
        weft_layer_set_put(&config->attention.local, i, i % 2 == 0 && i < last);
    }
    return has_window ? weft_decoder_read_window(config, 4096, json) : WEFT_OK;
}

/* ---- fields ---- */

static const weft_field qwen2_fields[] = {
    {WEFT_BOOL("qkv_bias", weft_network_config, biases.attention)}};
static const weft_field_table qwen2_table = {qwen2_fields, 1};

/* Experts have the size of a feed-forward. */
static const weft_field olmoe_fields[] = {
    {WEFT_BOOL("norm_topk_prob", weft_network_config, layer.experts.normalized)},
    WEFT_REFUSED("clip_qkv", weft_field_null)};
static const weft_field_table olmoe_table = {olmoe_fields, 2};

/* ---- families ---- */

static const struct weft_tensor_name mixtral_names[] = {
    WEFT_LLAMA_ATTENTION_NAMES,
    WEFT_EXPERT_NAMES("layers.#.block_sparse_moe", "w1", "w3", "w2"),
    WEFT_MODULE_EXPERT_NAMES("layers.#.mlp"),
    {WEFT_NAMED("layers.#.feed_forward.router", "layers.#.mlp.gate")},
    WEFT_LLAMA_NORM_NAMES,
    {.ours = NULL}};
static const struct weft_tensor_name granitemoe_names[] = {
    WEFT_LLAMA_ATTENTION_NAMES, WEFT_GRANITE_EXPERT_NAMES, WEFT_LLAMA_NORM_NAMES, {.ours = NULL}};
static const struct weft_tensor_name qwen_names[] = {WEFT_LLAMA_ATTENTION_NAMES,
                                                     WEFT_LLAMA_FEED_FORWARD_NAMES,
                                                     WEFT_QWEN_EXPERT_NAMES,
                                                     WEFT_LLAMA_NORM_NAMES,
                                                     {.ours = NULL}};

static const weft_network_config mixtral_defaults = {
    WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-5F, .attention.kv_heads = 8,
    .layer.experts.count = 8, .layer.experts.normalized = true};
static const weft_network_config granitemoe_defaults = {
    WEFT_LLAMA_DEFAULTS, .layer.experts.count = 8, .layer.experts.normalized = true};
static const weft_network_config olmoe_defaults = {WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-5F,
                                                   .layer.experts.count = 64,
                                                   .attention.head_norm = WEFT_HEAD_NORM_ALL};
static const weft_network_config qwen3_defaults = {
    WEFT_LLAMA_DEFAULTS, .attention.kv_heads = 4, .attention.head_norm = WEFT_HEAD_NORM_EACH,
    .layer.experts.count = 128, .layer.experts.size = 768};
static const weft_network_config qwen2_defaults = {
    WEFT_LLAMA_DEFAULTS,       .biases.attention = true,   .attention.kv_heads = 16,
    .layer.experts.count = 60, .layer.experts.size = 1408, .layer.experts.shared = 5632};

WEFT_LLAMA_FAMILY(mixtral, "Mixtral", check_mixtral, mixtral_defaults, mixtral_names,
                  &weft_expert_count_fields)
WEFT_LLAMA_FAMILY(granitemoe, "GraniteMoe", check_granitemoe, granitemoe_defaults, granitemoe_names,
                  &weft_expert_count_fields, &weft_attention_bias_fields)
WEFT_LLAMA_FAMILY(olmoe, "Olmoe", check_olmoe, olmoe_defaults, qwen_names,
                  &weft_expert_count_fields, &weft_attention_bias_fields, &olmoe_table)
WEFT_LLAMA_FAMILY(qwen3_moe, "Qwen3Moe", check_qwen3, qwen3_defaults, qwen_names,
                  &weft_expert_count_fields, &weft_expert_fields, &weft_attention_bias_fields)
WEFT_LLAMA_FAMILY(qwen2_moe, "Qwen2Moe", check_qwen2, qwen2_defaults, qwen_names,
                  &weft_expert_count_fields, &weft_expert_fields, &weft_shared_expert_fields,
                  &qwen2_table)
