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

#define LAYOUT(own_prefix)                                                                       \
    .prefix = (own_prefix), .fields = {&weft_size_fields, &weft_bert_fields, &weft_type_fields}, \
    .defaults = &weft_bert_defaults, .check = check, .names = weft_bert_names,                   \
    .heads = weft_roberta_heads, .unused = weft_bert_unused

static const struct weft_layout layout = {
    .stem = "Roberta", .encoder = "RobertaModel", LAYOUT("roberta.")};

const struct weft_model_family weft_family_roberta = {.model_type = "roberta",
                                                      WEFT_ENCODER_LAYOUT(&layout)};

/* Conneau et al., "Unsupervised cross-lingual representation learning at scale", 2020. */
static const struct weft_layout xlm_layout = {
    .stem = "XLMRoberta", .encoder = "XLMRobertaModel", LAYOUT("roberta.")};

const struct weft_model_family weft_family_xlm_roberta = {.model_type = "xlm-roberta",
                                                          WEFT_ENCODER_LAYOUT(&xlm_layout)};

/* Martin et al., "CamemBERT: a tasty French language model", 2020. */
static const struct weft_layout camembert_layout = {
    .stem = "Camembert", .encoder = "CamembertModel", LAYOUT("roberta.")};

const struct weft_model_family weft_family_camembert = {.model_type = "camembert",
                                                        WEFT_ENCODER_LAYOUT(&camembert_layout)};

/* Baevski et al., "data2vec: A general framework for self-supervised learning", 2022. */
static const struct weft_layout data2vec_layout = {
    .stem = "Data2VecText", .encoder = "Data2VecTextModel", LAYOUT("data2vec_text.")};

const struct weft_model_family weft_family_data2vec_text = {.model_type = "data2vec-text",
                                                            WEFT_ENCODER_LAYOUT(&data2vec_layout)};

/* Goyal et al., "Larger-scale transformers for multilingual masked language modeling", 2021: with norms before the parts. */
static const struct weft_tensor_name xl_names[] = {
    {WEFT_NAMED("layers.#.mixer_norm", "encoder.layer.#.attention.self_attn_layer_norm")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "encoder.layer.#.LayerNorm")},
    {WEFT_NAMED("norm", "encoder.LayerNorm")},
    WEFT_BERT_NAMES,
    {.ours = NULL}};

static const weft_network_config xl_defaults = {.norm = WEFT_NORM_LAYER,
                                                .norm_eps = 1e-5F,
                                                .activation = WEFT_ACTIVATION_GELU_ERF,
                                                .position_embedding = WEFT_POSITION_LEARNED,
                                                .tie_word_embeddings = true,
                                                .biases = WEFT_ALL_BIASES,
                                                .embedding.types = 1};

static const struct weft_layout xl_layout = {
    .stem = "XLMRobertaXL",
    .encoder = "XLMRobertaXLModel",
    .prefix = "roberta.",
    .fields = {&weft_size_fields, &weft_bert_fields, &weft_type_fields},
    .defaults = &xl_defaults,
    .check = check,
    .names = xl_names,
    .heads = weft_roberta_heads,
    .unused = weft_bert_unused};

const struct weft_model_family weft_family_xlm_roberta_xl = {.model_type = "xlm-roberta-xl",
                                                             WEFT_ENCODER_LAYOUT(&xl_layout)};
