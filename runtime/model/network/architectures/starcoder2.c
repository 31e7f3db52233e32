/* SPDX-License-Identifier: MIT */
/*
 * StarCoder2: Lozhkov et al., "StarCoder 2 and The Stack v2", 2024; and StableLM: Bellagente et al., "Stable LM 2 1.6B technical report",
 * 2024. Both have Llama's attention behind norms of layers.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

/* ---- StarCoder2 ---- */

static const struct weft_tensor_name starcoder2_names[] = {
    WEFT_LLAMA_ATTENTION_NAMES,
    {WEFT_NAMED("layers.#.feed_forward.in", "layers.#.mlp.c_fc")},
    {WEFT_NAMED("layers.#.feed_forward.out", "layers.#.mlp.c_proj")},
    WEFT_LLAMA_NORM_NAMES,
    {.ours = NULL}};

static const weft_field starcoder2_fields[] = {
    {WEFT_REAL("norm_epsilon", weft_network_config, norm_eps, 0, 1)},
    {WEFT_BOOL("use_bias", weft_network_config, biases.attention)}};
static const weft_field_table starcoder2_table = {
    starcoder2_fields, sizeof starcoder2_fields / sizeof starcoder2_fields[0]};

static weft_status check_starcoder2(weft_network_config *config, const struct weft_head *head,
                                    const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    config->biases.feed_forward = config->biases.attention;
    weft_decoder_choose_local(config, 0, 0);
    WEFT_TRY(weft_decoder_read_window(config, 0, json));
    return weft_decoder_check(config, head, json);
}

static const weft_network_config starcoder2_defaults = {.norm = WEFT_NORM_LAYER,
                                                        .norm_eps = 1e-5F,
                                                        .activation = WEFT_ACTIVATION_GELU_TANH,
                                                        .pooling = WEFT_POOLING_LAST,
                                                        .causal = true,
                                                        .tie_word_embeddings = true,
                                                        .biases = WEFT_ALL_BIASES,
                                                        .attention.kv_heads = 2};

static const struct weft_layout starcoder2 = {
    .stem = "Starcoder2",
    .encoder = "Starcoder2Model",
    .prefix = "model.",
    .fields = {&weft_size_fields, &weft_act_fields, &weft_kv_fields, &starcoder2_table},
    .defaults = &starcoder2_defaults,
    .check = check_starcoder2,
    .names = starcoder2_names,
    .heads = weft_decoder_heads,
    .unused = weft_decoder_unused};

const struct weft_model_family weft_family_starcoder2 = {.model_type = "starcoder2",
                                                         WEFT_DECODER_LAYOUT(&starcoder2)};

/* ---- StableLM ---- */

static const struct weft_tensor_name stablelm_names[] = {WEFT_LLAMA_ATTENTION_NAMES,
                                                         WEFT_LLAMA_FEED_FORWARD_NAMES,
                                                         WEFT_LLAMA_NORM_NAMES,
                                                         {.ours = NULL}};

static const weft_field stablelm_fields[] = {
    {WEFT_BOOL("use_qkv_bias", weft_network_config, biases.attention)},
    WEFT_REFUSED("qk_layernorm",
                 weft_field_false)}; /* a norm with weights of its own for each head */
static const weft_field_table stablelm_table = {stablelm_fields,
                                                sizeof stablelm_fields / sizeof stablelm_fields[0]};

static const struct weft_rotary_fields stablelm_rotary = {WEFT_ROTARY_FIELDS_BUT_SHARE,
                                                          .usual_share = 0.25, .partial = true};

static weft_status check_stablelm(weft_network_config *config, const struct weft_head *head,
                                  const weft_json_fields *json) {
    bool parallel = false;
    WEFT_TRY(weft_json_optional_bool(&parallel, json, "use_parallel_residual"));
    config->layer.order = parallel ? WEFT_LAYER_PARALLEL_SHARED : WEFT_LAYER_SERIAL;
    return weft_decoder_check_with(config, head, &stablelm_rotary, json);
}

static const weft_network_config stablelm_defaults = {.norm = WEFT_NORM_LAYER,
                                                      .norm_eps = 1e-5F,
                                                      .activation = WEFT_ACTIVATION_SILU,
                                                      .feed_forward = WEFT_FEED_FORWARD_GLU,
                                                      .pooling = WEFT_POOLING_LAST,
                                                      .causal = true,
                                                      .biases.norm = true,
                                                      .attention.kv_heads = 32};

static const struct weft_layout stablelm = {.stem = "StableLm",
                                            .encoder = "StableLmModel",
                                            .prefix = "model.",
                                            .fields = {&weft_size_fields, &weft_act_fields,
                                                       &weft_kv_fields, &weft_layer_norm_fields,
                                                       &stablelm_table},
                                            .defaults = &stablelm_defaults,
                                            .check = check_stablelm,
                                            .names = stablelm_names,
                                            .heads = weft_decoder_heads,
                                            .unused = weft_decoder_unused};

const struct weft_model_family weft_family_stablelm = {.model_type = "stablelm",
                                                       WEFT_DECODER_LAYOUT(&stablelm)};
