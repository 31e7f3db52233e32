/* SPDX-License-Identifier: MIT */
/* OPT: Zhang et al., "OPT: Open pre-trained transformer language models", 2022. Two rows of the positions are before the first. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

#define MOST_POSITIONS 16777216.0 /* 2^24 */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "decoder.embed_tokens")},
    {WEFT_NAMED("embeddings.positions", "decoder.embed_positions")},
    WEFT_BART_LAYER_NAMES("layers.#.", "decoder.layers.#."),
    {WEFT_NAMED("norm", "decoder.final_layer_norm")},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, .out = "qa_outputs", .outputs = 2},
    {.name = NULL}};

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, MOST_POSITIONS),
     .required = true},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("num_hidden_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS),
     .required = true},
    WEFT_FIELD_HEADS(weft_network_config, attention.heads),
    {WEFT_INTEGER("ffn_dim", weft_network_config, intermediate_size, 1, 1048576), .required = true},
    {WEFT_INTEGER("max_position_embeddings", weft_network_config, max_positions, 1, MOST_POSITIONS),
     .required = true},
    {WEFT_CUSTOM("activation_function", weft_network_config, activation, weft_field_activation)},
    {WEFT_BOOL("enable_bias", weft_network_config, biases.attention)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
    WEFT_REFUSED("layer_norm_elementwise_affine", weft_field_true),
    WEFT_REFUSED("_remove_final_layer_norm", weft_field_false),
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    bool before = true;
    int64_t width = config->hidden_size;
    config->biases.output = config->biases.attention;
    config->biases.feed_forward = config->biases.attention;
    config->biases.head = head->outputs != 0;
    WEFT_TRY(weft_json_optional_bool(&before, json, "do_layer_norm_before"));
    config->norm_position = before ? WEFT_NORM_BEFORE : WEFT_NORM_AFTER;
    WEFT_TRY(weft_json_optional_integer(&width, json, "word_embed_proj_dim", 1, 65536));
    return width == config->hidden_size
               ? WEFT_OK
               : weft_json_fail(json, WEFT_UNSUPPORTED, "word_embed_proj_dim", "hidden_size",
                                json_object_get(json->object, "word_embed_proj_dim"));
}

static const weft_network_config defaults = {.norm = WEFT_NORM_LAYER,
                                             .norm_eps = 1e-5F,
                                             .activation = WEFT_ACTIVATION_RELU,
                                             .position_embedding = WEFT_POSITION_LEARNED,
                                             .embedding.position_offset = 2,
                                             .pooling = WEFT_POOLING_LAST,
                                             .causal = true,
                                             .tie_word_embeddings = true,
                                             .biases = WEFT_ALL_BIASES};

static const struct weft_layout layout = {.stem = "OPT",
                                          .encoder = "OPTModel",
                                          .prefix = "model.",
                                          .fields = {&table},
                                          .defaults = &defaults,
                                          .check = check,
                                          .names = names,
                                          .heads = heads};

const struct weft_model_family weft_family_opt = {.model_type = "opt",
                                                  WEFT_DECODER_LAYOUT(&layout)};
