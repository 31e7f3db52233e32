/* SPDX-License-Identifier: MIT */
/* RoBERTa: Liu et al., "RoBERTa: A robustly optimized BERT pretraining approach", 2019. Positions begin behind pad_token_id. */
#include "core/try.h"
#include "model/network/architecture.h"

#define FIRST .input = WEFT_HEAD_FIRST_TOKEN, .activation = WEFT_ACTIVATION_TANH

const struct weft_head weft_roberta_heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForMaskedLM", WEFT_TASK_MASKED_LM, .dense = "lm_head.dense",
     .activation = WEFT_ACTIVATION_GELU_ERF, .norm = "lm_head.layer_norm", .out = "lm_head.decoder",
     .bias = "lm_head.bias"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, FIRST, .dense = "classifier.dense",
     .out = "classifier.out_proj"},
    {"ForMultipleChoice", WEFT_TASK_CLASSIFY, FIRST, .dense = "pooler.dense", .out = "classifier",
     .outputs = 1},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, .out = "qa_outputs", .outputs = 2},
    {.name = NULL}};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    (void)head;
    int64_t pad = 1;
    WEFT_TRY(
        weft_json_optional_integer(&pad, json, "pad_token_id", 0, (int64_t)config->vocab_size - 1));
    return weft_layout_offset_positions(config, (uint32_t)pad + 1, json);
}

#define LAYOUT                                                                                 \
    .prefix = "roberta.", .fields = {&weft_size_fields, &weft_bert_fields, &weft_type_fields}, \
    .defaults = &weft_bert_defaults, .check = check, .names = weft_bert_names,                 \
    .heads = weft_roberta_heads, .unused = weft_bert_unused

static const struct weft_layout layout = {.stem = "Roberta", .encoder = "RobertaModel", LAYOUT};

const struct weft_model_family weft_family_roberta = {.model_type = "roberta",
                                                      WEFT_ENCODER_LAYOUT(&layout)};

/* Conneau et al., "Unsupervised cross-lingual representation learning at scale", 2020. */
static const struct weft_layout xlm_layout = {
    .stem = "XLMRoberta", .encoder = "XLMRobertaModel", LAYOUT};

const struct weft_model_family weft_family_xlm_roberta = {.model_type = "xlm-roberta",
                                                          WEFT_ENCODER_LAYOUT(&xlm_layout)};
