/* SPDX-License-Identifier: MIT */
/* BERT: Devlin et al., "BERT: Pre-training of deep bidirectional transformers for language understanding", 2019. */
#include "core/try.h"
#include "model/network/architecture.h"

const struct weft_tensor_name weft_bert_names[] = {
    WEFT_BERT_NAMES,
    {WEFT_NAMED("embeddings.projection", "embeddings_project")},
    {WEFT_NAMED("embeddings.tasks", "embeddings.task_type_embeddings")},
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

const weft_network_config weft_bert_defaults = {WEFT_BERT_DEFAULTS, .embedding.types = 2};

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

/* ---- ERNIE: Sun et al., "ERNIE 2.0: A continual pre-training framework for language understanding", 2020 ---- */

static const weft_field ernie_fields[] = {
    {WEFT_INTEGER("task_type_vocab_size", weft_network_config, embedding.tasks, 1, 65536)}};
static const weft_field_table ernie_table = {ernie_fields,
                                             sizeof ernie_fields / sizeof ernie_fields[0]};

/* Some files say how many tasks there are, and have none. */
static weft_status check_ernie(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    (void)head;
    bool has_tasks = false;
    WEFT_TRY(weft_json_optional_bool(&has_tasks, json, "use_task_id"));
    config->embedding.tasks = has_tasks ? config->embedding.tasks : 0;
    return WEFT_OK;
}

static const weft_network_config ernie_defaults = {WEFT_BERT_DEFAULTS,
                                                   .embedding = {.types = 2, .tasks = 3}};

static const struct weft_layout ernie_layout = {
    .stem = "Ernie",
    .encoder = "ErnieModel",
    .prefix = "ernie.",
    .fields = {&weft_size_fields, &weft_bert_fields, &weft_type_fields, &ernie_table},
    .defaults = &ernie_defaults,
    .check = check_ernie,
    .names = weft_bert_names,
    .heads = weft_bert_heads,
    .unused = weft_bert_unused};

const struct weft_model_family weft_family_ernie = {.model_type = "ernie",
                                                    WEFT_ENCODER_LAYOUT(&ernie_layout)};
