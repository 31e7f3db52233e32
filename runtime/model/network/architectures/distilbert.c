/* SPDX-License-Identifier: MIT */
/* DistilBERT: Sanh et al., "DistilBERT, a distilled version of BERT", 2019. */
#include "model/network/architecture.h"

#define LARGE 16777216.0 /* 2^24 */

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, LARGE), .required = true},
    {WEFT_INTEGER("dim", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("n_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS), .required = true},
    {WEFT_INTEGER("n_heads", weft_network_config, attention.heads, 1, 65536), .required = true},
    {WEFT_INTEGER("hidden_dim", weft_network_config, intermediate_size, 1, 1048576),
     .required = true},
    {WEFT_INTEGER("max_position_embeddings", weft_network_config, max_positions, 1, LARGE),
     .required = true},
    {WEFT_CUSTOM("activation", weft_network_config, activation, weft_field_activation)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings.word_embeddings")},
    {WEFT_NAMED("embeddings.positions", "embeddings.position_embeddings")},
    {WEFT_NAMED("embeddings.norm", "embeddings.LayerNorm")},
    {WEFT_NAMED("layers.#.mixer.query", "transformer.layer.#.attention.q_lin")},
    {WEFT_NAMED("layers.#.mixer.key", "transformer.layer.#.attention.k_lin")},
    {WEFT_NAMED("layers.#.mixer.value", "transformer.layer.#.attention.v_lin")},
    {WEFT_NAMED("layers.#.mixer.output", "transformer.layer.#.attention.out_lin")},
    {WEFT_NAMED("layers.#.mixer_norm", "transformer.layer.#.sa_layer_norm")},
    {WEFT_NAMED("layers.#.feed_forward.in", "transformer.layer.#.ffn.lin1")},
    {WEFT_NAMED("layers.#.feed_forward.out", "transformer.layer.#.ffn.lin2")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "transformer.layer.#.output_layer_norm")},
    {.ours = NULL}};

#define FIRST                                                                                      \
    .input = WEFT_HEAD_FIRST_TOKEN, .dense = "pre_classifier", .activation = WEFT_ACTIVATION_RELU, \
    .out = "classifier"

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForMaskedLM", WEFT_TASK_MASKED_LM, .dense = "vocab_transform", .own_activation = true,
     .norm = "vocab_layer_norm", .out = "vocab_projector"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, FIRST},
    {"ForMultipleChoice", WEFT_TASK_CLASSIFY, FIRST, .outputs = 1},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, .out = "qa_outputs", .outputs = 2},
    {.name = NULL}};

static const weft_network_config defaults = {WEFT_BERT_DEFAULTS};

static const struct weft_layout layout = {.stem = "DistilBert",
                                          .encoder = "DistilBertModel",
                                          .prefix = "distilbert.",
                                          .fields = {&table},
                                          .defaults = &defaults,
                                          .names = names,
                                          .heads = heads,
                                          .unused = weft_bert_unused};

const struct weft_model_family weft_family_distilbert = {.model_type = "distilbert",
                                                         WEFT_ENCODER_LAYOUT(&layout)};
