/* SPDX-License-Identifier: MIT */
/*
 * OLMo 2: OLMo team, "2 OLMo 2 Furious", 2025, and OLMo 3. A norm is behind each part, not before it, and one is on all queries,
 * and one on all keys. EXAONE 4.0 (LG AI Research, 2025) has norms of each query and key.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

static const struct weft_tensor_name names[] = {
    WEFT_LLAMA_ATTENTION_NAMES,
    WEFT_LLAMA_FEED_FORWARD_NAMES,
    {WEFT_NAMED("layers.#.mixer_norm_of_result", "layers.#.post_attention_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward_norm_of_result", "layers.#.post_feedforward_layernorm")},
    {WEFT_NAMED("norm", "norm")},
    {.ours = NULL}};

static weft_status check_olmo2(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    return weft_decoder_check(config, head, json);
}

static const struct weft_rotary_fields full_rotary = {WEFT_ROTARY_FIELDS_OF("full_attention"),
                                                      .base = "rope_theta", .usual_base = 500000.0};
static const struct weft_rotary_fields local_rotary = {WEFT_ROTARY_FIELDS_OF("sliding_attention"),
                                                       .base = "rope_theta", .usual_base = 500000.0,
                                                       .unscaled = true};

static weft_status check_olmo3(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    weft_decoder_choose_local(config, 0, 4);
    WEFT_TRY(weft_decoder_read_window(config, 4096, json));
    WEFT_TRY(weft_decoder_check_with(config, head, &full_rotary, json));
    return weft_layout_read_rotary(&config->attention.local_rotary, config, &local_rotary, json);
}

/* ---- EXAONE 4 ---- */

/* With a window its layers alone have rotary positions. */
static weft_status check_exaone4(weft_network_config *config, const struct weft_head *head,
                                 const weft_json_fields *json) {
    int64_t every = 4;
    if (!weft_json_has(json, "layer_types")) { /* or the pattern may be a text */
        WEFT_TRY(weft_json_optional_integer(&every, json, "sliding_window_pattern", 1, INT32_MAX));
        weft_decoder_choose_local(config, 0, (uint32_t)every);
    }
    WEFT_TRY(weft_decoder_read_window(config, 4096, json));
    for (uint32_t i = 0; i < config->layers; i++) {
        weft_layer_set_put(&config->attention.unturned, i,
                           config->attention.half_width > 0 &&
                               !weft_layer_set_has(&config->attention.local, i));
    }
    return weft_decoder_check(config, head, json);
}

/* ---- families ---- */

static const weft_network_config defaults = {WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-5F,
                                             .norm_position = WEFT_NORM_BEHIND,
                                             .attention.head_norm = WEFT_HEAD_NORM_ALL};

#define LAYOUT(name, own_check)                                                               \
    .stem = (name), .encoder = name "Model", .prefix = "model.",                              \
    .fields = {&weft_size_fields, &weft_act_fields, &weft_kv_fields, &weft_rms_fields,        \
               &weft_bias_fields},                                                            \
    .defaults = &defaults, .check = (own_check), .names = names, .heads = weft_decoder_heads, \
    .unused = weft_decoder_unused

static const struct weft_layout olmo2 = {LAYOUT("Olmo2", check_olmo2)};
static const struct weft_layout olmo3 = {LAYOUT("Olmo3", check_olmo3)};

const struct weft_model_family weft_family_olmo2 = {.model_type = "olmo2",
                                                    WEFT_DECODER_LAYOUT(&olmo2)};
const struct weft_model_family weft_family_olmo3 = {.model_type = "olmo3",
                                                    WEFT_DECODER_LAYOUT(&olmo3)};

static const weft_network_config exaone4_defaults = {
    WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-5F, .norm_position = WEFT_NORM_BEHIND,
    .attention = {.kv_heads = 32, .head_norm = WEFT_HEAD_NORM_EACH}};
WEFT_LLAMA_FAMILY(exaone4, "Exaone4", check_exaone4, exaone4_defaults, names, NULL)
