/* SPDX-License-Identifier: MIT */
/*
 * Feed-forwards with a squared ReLU and no gate: Nemotron-4 and what is pruned from it (Parmar et al., "Nemotron-4 15B technical report", 2024),
 * whose norms of layers multiply by 1 + weight, and Arcee's AFM, 2025, which is Llama but for that.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

static const struct weft_tensor_name names[] = {WEFT_LLAMA_ATTENTION_NAMES,
                                                WEFT_UNGATED_FEED_FORWARD_NAMES,
                                                WEFT_LLAMA_NORM_NAMES,
                                                {.ours = NULL}};

static const weft_field fields[] = {{WEFT_REAL("norm_eps", weft_network_config, norm_eps, 0, 1)}};
static const weft_field_table table = {fields, 1};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const struct weft_rotary_fields *rotary, const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_decoder_read_ungated_act(config, json));
    return weft_decoder_check_with(config, head, rotary, json);
}

static weft_status check_nemotron(weft_network_config *config, const struct weft_head *head,
                                  const weft_json_fields *json) {
    return check(config, head, &weft_half_rotary, json);
}

static weft_status check_arcee(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    return check(config, head, &weft_usual_rotary, json);
}

static const weft_network_config nemotron_defaults = {.norm = WEFT_NORM_LAYER,
                                                      .norm_eps = 1e-5F,
                                                      .pooling = WEFT_POOLING_LAST,
                                                      .causal = true,
                                                      .biases.norm = true,
                                                      .layer.norm_adds_one = true};
static const weft_network_config arcee_defaults = {
    .norm = WEFT_NORM_RMS, .norm_eps = 1e-5F, .pooling = WEFT_POOLING_LAST, .causal = true};

#define LAYOUT(name, own_fields, own_defaults, own_check)                             \
    .stem = (name), .encoder = name "Model", .prefix = "model.",                      \
    .fields = {&weft_size_fields, &weft_kv_fields, &weft_bias_fields, &(own_fields)}, \
    .defaults = &(own_defaults), .check = (own_check), .names = names,                \
    .heads = weft_decoder_heads, .unused = weft_decoder_unused

static const struct weft_layout nemotron = {
    LAYOUT("Nemotron", table, nemotron_defaults, check_nemotron)};
static const struct weft_layout arcee = {
    LAYOUT("Arcee", weft_rms_fields, arcee_defaults, check_arcee)};

const struct weft_model_family weft_family_nemotron = {.model_type = "nemotron",
                                                       WEFT_DECODER_LAYOUT(&nemotron)};
const struct weft_model_family weft_family_arcee = {.model_type = "arcee",
                                                    WEFT_DECODER_LAYOUT(&arcee)};
