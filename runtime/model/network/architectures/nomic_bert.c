/* SPDX-License-Identifier: MIT */
/* Nomic's BERT: Nussbaum et al., "Nomic Embed: Training a reproducible long context text embedder", 2024, as transformers 5 has it. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

#define FILE_LAYER "encoder.layers.#."

/* Files have other names than the model in memory, and packed queries, keys and values. */
static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.norm", "emb_ln")},
    {WEFT_NAMED("layers.#.mixer.query", FILE_LAYER "attn.Wqkv"), WEFT_PART(0, 3)},
    {WEFT_NAMED("layers.#.mixer.key", FILE_LAYER "attn.Wqkv"), WEFT_PART(1, 3)},
    {WEFT_NAMED("layers.#.mixer.value", FILE_LAYER "attn.Wqkv"), WEFT_PART(2, 3)},
    {WEFT_NAMED("layers.#.mixer.output", FILE_LAYER "attn.out_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l1", FILE_LAYER "mlp.fc12")},
    {WEFT_NAMED("layers.#.feed_forward.l2", FILE_LAYER "mlp.fc11")},
    {WEFT_NAMED("layers.#.feed_forward.l3", FILE_LAYER "mlp.fc2")},
    {WEFT_NAMED("layers.#.mixer_norm", FILE_LAYER "norm1")},
    {WEFT_NAMED("layers.#.feed_forward_norm", FILE_LAYER "norm2")},
    {WEFT_NAMED("embeddings.tokens", "embeddings.word_embeddings")},
    {WEFT_NAMED("embeddings.types", "embeddings.token_type_embeddings")},
    {WEFT_NAMED("embeddings.norm", "embeddings.LayerNorm")},
    WEFT_LLAMA_ATTENTION_NAMES,
    WEFT_LLAMA_FEED_FORWARD_NAMES,
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.post_attention_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.post_mlp_layernorm")},
    {.ours = NULL}};

#define POOLED \
    .input = WEFT_HEAD_FIRST_TOKEN, .dense = "pooler.dense", .activation = WEFT_ACTIVATION_TANH

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForMaskedLM", WEFT_TASK_MASKED_LM, .dense = "cls.predictions.transform.dense",
     .own_activation = true, .norm = "cls.predictions.transform.layer_norm",
     .out = "cls.predictions.decoder", .bias = "cls.predictions.bias"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, POOLED, .out = "classifier"},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {.name = NULL}};

static const weft_field fields[] = {
    {WEFT_INTEGER("head_dim", weft_network_config, attention.head_size, 1, 65536)}};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const struct weft_rotary_fields rotary = {WEFT_ROTARY_FIELDS_OF(NULL), .base = "rope_theta",
                                                 .usual_base = 1000.0};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    (void)head;
    return weft_layout_read_rotary(&config->attention.rotary, config, &rotary, json);
}

static const weft_network_config defaults = {
    .norm = WEFT_NORM_LAYER,
    .norm_position = WEFT_NORM_AFTER,
    .norm_eps = 1e-12F,
    .activation = WEFT_ACTIVATION_SILU,
    .feed_forward = WEFT_FEED_FORWARD_GLU,
    .embedding_norm = true,
    .tie_word_embeddings = true,
    .biases = {.norm = true, .head_dense = true, .head = true},
    .embedding.types = 2};

static const struct weft_layout layout = {
    .stem = "NomicBert",
    .encoder = "NomicBertModel",
    .prefix = "nomic_bert.",
    .fields = {&weft_size_fields, &weft_bert_fields, &weft_type_fields, &table},
    .defaults = &defaults,
    .check = check,
    .names = names,
    .heads = heads,
    .unused = weft_bert_unused};

const struct weft_model_family weft_family_nomic_bert = {.model_type = "nomic_bert",
                                                         WEFT_ENCODER_LAYOUT(&layout)};
