/* SPDX-License-Identifier: MIT */
/*
 * ModernBERT: Warner et al., "Smarter, better, faster, longer: A modern bidirectional encoder", 2024. Most layers attend to a band;
 * each kind of layer has its own rotary positions.
 */
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"

static const char *const poolings[] = {"mean", "cls", NULL}; /* weft_pooling's first two */

static const weft_field fields[] = {
    {WEFT_CUSTOM("hidden_activation", weft_network_config, activation, weft_field_activation)},
    {WEFT_REAL("norm_eps", weft_network_config, norm_eps, 0, 1)},
    {WEFT_BOOL("norm_bias", weft_network_config, biases.norm)},
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)},
    {WEFT_BOOL("mlp_bias", weft_network_config, biases.feed_forward)},
    {WEFT_BOOL("classifier_bias", weft_network_config, biases.head_dense)},
    {WEFT_BOOL("decoder_bias", weft_network_config, biases.head)},
    {WEFT_CHOICE("classifier_pooling", weft_network_config, pooling, poolings)},
    WEFT_REFUSED("rope_scaling", weft_field_null),
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings.tok_embeddings")},
    {WEFT_NAMED("embeddings.norm", "embeddings.norm")},
    {WEFT_NAMED("layers.#.mixer.query", "layers.#.attn.Wqkv"), WEFT_PART(0, 3)},
    {WEFT_NAMED("layers.#.mixer.key", "layers.#.attn.Wqkv"), WEFT_PART(1, 3)},
    {WEFT_NAMED("layers.#.mixer.value", "layers.#.attn.Wqkv"), WEFT_PART(2, 3)},
    {WEFT_NAMED("layers.#.mixer.output", "layers.#.attn.Wo")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.attn_norm")},
    {WEFT_NAMED("layers.#.feed_forward.l1", "layers.#.mlp.Wi"), WEFT_PART(0, 2)},
    {WEFT_NAMED("layers.#.feed_forward.l2", "layers.#.mlp.Wi"), WEFT_PART(1, 2)},
    {WEFT_NAMED("layers.#.feed_forward.l3", "layers.#.mlp.Wo")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.mlp_norm")},
    {WEFT_NAMED("norm", "final_norm")},
    {.ours = NULL}};

#define DENSE .dense = "head.dense", .own_activation = true, .norm = "head.norm"

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForMaskedLM", WEFT_TASK_MASKED_LM, DENSE, .out = "decoder"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, DENSE, .out = "classifier"},
    {"ForMultipleChoice", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, DENSE, .out = "classifier",
     .outputs = 1},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, DENSE, .out = "classifier"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, DENSE, .out = "classifier", .outputs = 2},
    {.name = NULL}};

/* ---- which layers are local ---- */

static weft_status read_layers(weft_network_config *config, const weft_json_fields *json) {
    if (weft_json_has(json, "layer_types")) {
        return weft_layout_read_layer_types(config, json);
    }
    int64_t every = 3;
    WEFT_TRY(weft_json_optional_integer(&every, json, "global_attn_every_n_layers", 1, 65536));
    for (uint32_t i = 0; i < config->layers; i++) {
        weft_layer_set_put(&config->attention.local, i, i % every != 0);
    }
    return WEFT_OK;
}

/* ---- rotary positions ---- */

/* rope_parameters has them by the kind of layer; files of older versions have a field for each. */
static const struct weft_rotary_fields full_rotary = {WEFT_ROTARY_FIELDS_OF("full_attention"),
                                                      .base = "global_rope_theta",
                                                      .usual_base = 160000.0, .unscaled = true};
static const struct weft_rotary_fields local_rotary = {WEFT_ROTARY_FIELDS_OF("sliding_attention"),
                                                       .base = "local_rope_theta",
                                                       .usual_base = 10000.0, .unscaled = true};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    int64_t window = 128;
    WEFT_TRY(weft_json_optional_integer(&window, json, "local_attention", 0, 1 << 24));
    config->attention.half_width = (uint32_t)window / 2;
    config->biases.output = config->biases.attention;
    config->biases.head = config->biases.head || head->task != WEFT_TASK_MASKED_LM;
    config->head.activation = WEFT_ACTIVATION_GELU_ERF;
    WEFT_TRY(weft_field_activation(&config->head.activation, json, "classifier_activation"));
    WEFT_TRY(read_layers(config, json));
    WEFT_TRY(weft_layout_read_rotary(&config->attention.rotary, config, &full_rotary, json));
    return weft_layout_read_rotary(&config->attention.local_rotary, config, &local_rotary, json);
}

static const weft_network_config defaults = {.norm = WEFT_NORM_LAYER,
                                             .norm_eps = 1e-5F,
                                             .activation = WEFT_ACTIVATION_GELU_ERF,
                                             .feed_forward = WEFT_FEED_FORWARD_GLU,
                                             .pooling = WEFT_POOLING_FIRST,
                                             .embedding_norm = true,
                                             .layer.first_norm_absent = true,
                                             .tie_word_embeddings = true,
                                             .biases = {.head = true}};

static const struct weft_layout layout = {.stem = "ModernBert",
                                          .encoder = "ModernBertModel",
                                          .prefix = "model.",
                                          .fields = {&weft_size_fields, &table},
                                          .defaults = &defaults,
                                          .check = check,
                                          .names = names,
                                          .heads = heads};

const struct weft_model_family weft_family_modernbert = {.model_type = "modernbert",
                                                         WEFT_ENCODER_LAYOUT(&layout)};
