/* SPDX-License-Identifier: MIT */
/*
 * ALBERT: Lan et al., "ALBERT: A lite BERT for self-supervised learning of language representations", 2020. Layers share weights, and
 * the tables are narrower than the layers.
 */
#include "core/try.h"
#include "model/network/architecture.h"

#define LAYER "encoder.albert_layer_groups.#.albert_layers.0."

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings.word_embeddings")},
    {WEFT_NAMED("embeddings.positions", "embeddings.position_embeddings")},
    {WEFT_NAMED("embeddings.types", "embeddings.token_type_embeddings")},
    {WEFT_NAMED("embeddings.norm", "embeddings.LayerNorm")},
    {WEFT_NAMED("embeddings.projection", "encoder.embedding_hidden_mapping_in")},
    {WEFT_NAMED("layers.#.mixer.query", LAYER "attention.query")},
    {WEFT_NAMED("layers.#.mixer.key", LAYER "attention.key")},
    {WEFT_NAMED("layers.#.mixer.value", LAYER "attention.value")},
    {WEFT_NAMED("layers.#.mixer.output", LAYER "attention.dense")},
    {WEFT_NAMED("layers.#.mixer_norm", LAYER "attention.LayerNorm")},
    {WEFT_NAMED("layers.#.feed_forward.in", LAYER "ffn")},
    {WEFT_NAMED("layers.#.feed_forward.out", LAYER "ffn_output")},
    {WEFT_NAMED("layers.#.feed_forward_norm", LAYER "full_layer_layer_norm")},
    {.ours = NULL}};

#define POOLED .input = WEFT_HEAD_FIRST_TOKEN, .dense = "pooler", .activation = WEFT_ACTIVATION_TANH
#define LANGUAGE                                                                       \
    .task = WEFT_TASK_MASKED_LM, .dense = "predictions.dense", .own_activation = true, \
    .norm = "predictions.LayerNorm", .out = "predictions.decoder", .bias = "predictions.bias"

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForMaskedLM", LANGUAGE},
    {"ForPreTraining", LANGUAGE}, /* has a head for sentences, too */
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, POOLED, .out = "classifier"},
    {"ForMultipleChoice", WEFT_TASK_CLASSIFY, POOLED, .out = "classifier", .outputs = 1},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, .out = "qa_outputs", .outputs = 2},
    {.name = NULL}};

static const char *const unused[] = {"embeddings.position_ids", "embeddings.token_type_ids",
                                     "sop_classifier.classifier.weight",
                                     "sop_classifier.classifier.bias", NULL};

static const weft_field fields[] = {
    {WEFT_INTEGER("embedding_size", weft_network_config, embedding.size, 1, 65536),
     .required = true},
    {WEFT_INTEGER("num_hidden_groups", weft_network_config, layer.stored, 1, WEFT_MAX_LAYERS)},
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    (void)head;
    int64_t inner = 1;
    WEFT_TRY(weft_json_optional_integer(&inner, json, "inner_group_num", 1, INT32_MAX));
    if (inner != 1) {
        return weft_json_fail(json, WEFT_UNSUPPORTED, "inner_group_num", "1",
                              json_object_get(json->object, "inner_group_num"));
    }
    return config->layer.stored <= config->layers
               ? WEFT_OK
               : weft_fields_refuse(json, "num_hidden_groups", "num_hidden_layers at most");
}

static const weft_network_config defaults = {
    .norm = WEFT_NORM_LAYER,
    .norm_position = WEFT_NORM_AFTER,
    .norm_eps = 1e-12F,
    .activation = WEFT_ACTIVATION_GELU_TANH,
    .position_embedding = WEFT_POSITION_LEARNED,
    .embedding_norm = true,
    .tie_word_embeddings = true,
    .biases = WEFT_ALL_BIASES,
    .embedding = {.types = 2, .projection = WEFT_PROJECTION_BEHIND_NORM},
    .layer.stored = 1};

static const struct weft_layout layout = {
    .stem = "Albert",
    .encoder = "AlbertModel",
    .prefix = "albert.",
    .fields = {&weft_size_fields, &weft_bert_fields, &weft_type_fields, &table},
    .defaults = &defaults,
    .check = check,
    .names = names,
    .heads = heads,
    .unused = unused};

const struct weft_model_family weft_family_albert = {.model_type = "albert",
                                                     WEFT_ENCODER_LAYOUT(&layout)};
