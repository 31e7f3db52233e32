/* SPDX-License-Identifier: MIT */
/* BERT: Devlin et al., "BERT: Pre-training of deep bidirectional transformers for language understanding", 2019. */
#include "model/architecture.h"

const struct weft_tensor_name weft_bert_names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings.word_embeddings")},
    {WEFT_NAMED("embeddings.positions", "embeddings.position_embeddings")},
    {WEFT_NAMED("embeddings.types", "embeddings.token_type_embeddings")},
    {WEFT_NAMED("embeddings.norm", "embeddings.LayerNorm")},
    {WEFT_NAMED("embeddings.projection", "embeddings_project")},
    {WEFT_NAMED("layers.#.mixer.query", "encoder.layer.#.attention.self.query")},
    {WEFT_NAMED("layers.#.mixer.key", "encoder.layer.#.attention.self.key")},
    {WEFT_NAMED("layers.#.mixer.value", "encoder.layer.#.attention.self.value")},
    {WEFT_NAMED("layers.#.mixer.output", "encoder.layer.#.attention.output.dense")},
    {WEFT_NAMED("layers.#.mixer_norm", "encoder.layer.#.attention.output.LayerNorm")},
    {WEFT_NAMED("layers.#.feed_forward.in", "encoder.layer.#.intermediate.dense")},
    {WEFT_NAMED("layers.#.feed_forward.out", "encoder.layer.#.output.dense")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "encoder.layer.#.output.LayerNorm")},
    {.ours = NULL}};

const char *const weft_bert_unused[] = {"embeddings.position_ids", "embeddings.token_type_ids",
                                        NULL};

#define POOLED \
    .input = WEFT_HEAD_FIRST_TOKEN, .dense = "pooler.dense", .activation = WEFT_ACTIVATION_TANH
#define LANGUAGE                                                             \
    .task = WEFT_TASK_MASKED_LM, .dense = "cls.predictions.transform.dense", \
    .own_activation = true, .norm = "cls.predictions.transform.LayerNorm",   \
    .out = "cls.predictions.decoder", .bias = "cls.predictions.bias"

const struct weft_head weft_bert_heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForMaskedLM", LANGUAGE},
    {"ForPreTraining", LANGUAGE}, /* has the next head, too */
    {"ForNextSentencePrediction", WEFT_TASK_NEXT_SENTENCE, POOLED, .out = "cls.seq_relationship",
     .outputs = 2},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, POOLED, .out = "classifier"},
    {"ForMultipleChoice", WEFT_TASK_CLASSIFY, POOLED, .out = "classifier", .outputs = 1},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, .out = "qa_outputs", .outputs = 2},
    {.name = NULL}};

const weft_network_config weft_bert_defaults = {WEFT_BERT_DEFAULTS, .type_vocab_size = 2};

static const struct weft_layout layout = {
    .stem = "Bert",
    .encoder = "BertModel",
    .prefix = "bert.",
    .fields = {&weft_size_fields, &weft_bert_fields, &weft_type_fields},
    .defaults = &weft_bert_defaults,
    .names = weft_bert_names,
    .heads = weft_bert_heads,
    .unused = weft_bert_unused};

const struct weft_model_family weft_family_bert = {.model_type = "bert",
                                                   WEFT_ENCODER_LAYOUT(&layout)};
