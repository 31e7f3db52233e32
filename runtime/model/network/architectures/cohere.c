/* SPDX-License-Identifier: MIT */
/* Command R of Cohere, 2024, and its second version, whose local layers alone have rotary positions. Norms have no bias. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

static const struct weft_tensor_name names[] = {WEFT_LLAMA_ATTENTION_NAMES,
                                                WEFT_LLAMA_FEED_FORWARD_NAMES,
                                                WEFT_LLAMA_NORM_NAMES,
                                                {.ours = NULL}};

/* A norm with a weight for each head. */
static const weft_field fields[] = {
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)},
    {WEFT_REAL("logit_scale", weft_network_config, head.scale, 1e-9, 1e9)},
    WEFT_REFUSED("use_qk_norm", weft_field_false)};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const struct weft_rotary_fields cohere_rotary = {
    WEFT_ROTARY_FIELDS_OF(NULL), .base = "rope_theta", .usual_base = 500000.0};

static weft_status check_cohere(weft_network_config *config, const struct weft_head *head,
                                const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    return weft_decoder_check_with(config, head, &cohere_rotary, json);
}

static weft_status check_cohere2(weft_network_config *config, const struct weft_head *head,
                                 const weft_json_fields *json) {
    int64_t every = 4;
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_json_optional_integer(&every, json, "sliding_window_pattern", 1, INT32_MAX));
    weft_decoder_choose_local(config, 0, (uint32_t)every);
    WEFT_TRY(weft_decoder_read_window(config, 4096, json));
    for (uint32_t i = 0; i < config->layers; i++) {
        weft_layer_set_put(&config->attention.unturned, i,
                           !weft_layer_set_has(&config->attention.local, i));
    }
    return weft_decoder_check(config, head, json);
}

static const weft_network_config defaults = {.norm = WEFT_NORM_LAYER,
                                             .norm_eps = 1e-5F,
                                             .activation = WEFT_ACTIVATION_SILU,
                                             .feed_forward = WEFT_FEED_FORWARD_GLU,
                                             .causal = true,
                                             .tie_word_embeddings = true,
                                             .attention.rotary.interleaved = true,
                                             .layer.order = WEFT_LAYER_PARALLEL_SHARED,
                                             .head.scale = 0.0625F};

#define LAYOUT(name, own_check)                                                               \
    .stem = (name), .encoder = name "Model", .prefix = "model.",                              \
    .fields = {&weft_size_fields, &weft_act_fields, &weft_kv_fields, &weft_layer_norm_fields, \
               &table},                                                                       \
    .defaults = &defaults, .check = (own_check), .names = names, .heads = weft_causal_heads,  \
    .unused = weft_decoder_unused

static const struct weft_layout cohere = {LAYOUT("Cohere", check_cohere)};
static const struct weft_layout cohere2 = {LAYOUT("Cohere2", check_cohere2)};

const struct weft_model_family weft_family_cohere = {.model_type = "cohere",
                                                     WEFT_DECODER_LAYOUT(&cohere)};
const struct weft_model_family weft_family_cohere2 = {.model_type = "cohere2",
                                                      WEFT_DECODER_LAYOUT(&cohere2)};
