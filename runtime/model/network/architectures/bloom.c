/* SPDX-License-Identifier: MIT */
/*
 * BLOOM: BigScience, "BLOOM: A 176B-parameter open-access multilingual language model", 2022; and Falcon: Almazrouei et al., "The
 * Falcon series of open language models", 2023. Their tensors have the same names.
 */
#include <stdio.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

#define MOST_POSITIONS 16777216.0 /* 2^24 */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "word_embeddings")},
    {WEFT_NAMED("embeddings.norm", "word_embeddings_layernorm")},
    WEFT_PACKED_NAMES("h.#.self_attention.query_key_value"),
    {WEFT_NAMED("layers.#.mixer.output", "h.#.self_attention.dense")},
    {WEFT_NAMED("layers.#.mixer_norm", "h.#.input_layernorm")},
    {WEFT_NAMED("layers.#.mixer_norm", "h.#.ln_attn")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "h.#.post_attention_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "h.#.ln_mlp")},
    {WEFT_NAMED("layers.#.feed_forward.in", "h.#.mlp.dense_h_to_4h")},
    {WEFT_NAMED("layers.#.feed_forward.out", "h.#.mlp.dense_4h_to_h")},
    {WEFT_NAMED("norm", "ln_f")},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {"ForQuestionAnswering", WEFT_TASK_CLASSIFY_TOKENS, .out = "qa_outputs", .outputs = 2},
    {.name = NULL}};

static const char *const unused[] = {".self_attention.maybe_rotary.inv_freq", "rotary_emb.inv_freq",
                                     NULL};

/* ---- fields that older files call otherwise ---- */

static weft_status read_size(uint32_t *size, int64_t most, const char *name, const char *older,
                             const weft_json_fields *json) {
    const char *found = weft_json_has(json, name) || !weft_json_has(json, older) ? name : older;
    int64_t value = 0;
    WEFT_TRY(weft_json_integer(&value, json, found, 1, most));
    *size = (uint32_t)value;
    return WEFT_OK;
}

static weft_status read_width(void *value, const weft_json_fields *json, const char *name) {
    return read_size(value, 65536, name, "n_embed", json);
}

static weft_status read_layers(void *value, const weft_json_fields *json, const char *name) {
    return read_size(value, WEFT_MAX_LAYERS, name, "n_layer", json);
}

static weft_status read_heads(void *value, const weft_json_fields *json, const char *name) {
    return read_size(value, 65536, name, "n_head", json);
}

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, MOST_POSITIONS),
     .required = true},
    {WEFT_CUSTOM("hidden_size", weft_network_config, hidden_size, read_width)},
    {WEFT_CUSTOM("num_hidden_layers", weft_network_config, layers, read_layers)},
    {WEFT_CUSTOM("num_attention_heads", weft_network_config, attention.heads, read_heads)},
    {WEFT_REAL("layer_norm_epsilon", weft_network_config, norm_eps, 0, 1)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static void set_head_bias(weft_network_config *config, const struct weft_head *head) {
    config->biases.head = head->task == WEFT_TASK_CLASSIFY_TOKENS;
}

/* ---- BLOOM ---- */

static const weft_field bloom_fields[] = {
    {WEFT_INTEGER("seq_length", weft_network_config, max_positions, 1, MOST_POSITIONS)},
    WEFT_REFUSED("apply_residual_connection_post_layernorm", weft_field_false)};
static const weft_field_table bloom_table = {bloom_fields,
                                             sizeof bloom_fields / sizeof bloom_fields[0]};

static weft_status check_bloom(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    (void)json;
    set_head_bias(config, head);
    config->attention.groups = config->attention.heads;
    config->intermediate_size = 4 * config->hidden_size;
    return WEFT_OK;
}

static const weft_network_config bloom_defaults = {.norm = WEFT_NORM_LAYER,
                                                   .norm_eps = 1e-5F,
                                                   .activation = WEFT_ACTIVATION_GELU_TANH,
                                                   .pooling = WEFT_POOLING_LAST,
                                                   .causal = true,
                                                   .embedding_norm = true,
                                                   .tie_word_embeddings = true,
                                                   .max_positions = 2048,
                                                   .biases = WEFT_ALL_BIASES,
                                                   .attention.slopes = true};

static const struct weft_layout bloom = {.stem = "Bloom",
                                         .encoder = "BloomModel",
                                         .prefix = "transformer.",
                                         .fields = {&table, &bloom_table},
                                         .defaults = &bloom_defaults,
                                         .check = check_bloom,
                                         .names = names,
                                         .heads = heads,
                                         .unused = unused};

const struct weft_model_family weft_family_bloom = {.model_type = "bloom",
                                                    WEFT_DECODER_LAYOUT(&bloom)};

/* ---- Falcon ---- */

/* transformers rounds the slopes of ALiBi to bfloat16 there. */
static const weft_field falcon_fields[] = {
    {WEFT_INTEGER("max_position_embeddings", weft_network_config, max_positions, 1,
                  MOST_POSITIONS)},
    {WEFT_INTEGER("ffn_hidden_size", weft_network_config, intermediate_size, 1, 1048576)},
    {WEFT_CUSTOM("activation", weft_network_config, activation, weft_field_activation)},
    {WEFT_BOOL("bias", weft_network_config, biases.attention)},
    WEFT_REFUSED("alibi", weft_field_false)};
static const weft_field_table falcon_table = {falcon_fields,
                                              sizeof falcon_fields / sizeof falcon_fields[0]};

/* Which heads share keys and values, and how a packed matrix has them. */
static weft_status read_groups(weft_network_config *config, bool newer,
                               const weft_json_fields *json) {
    weft_attention_form *form = &config->attention;
    bool one = true;
    int64_t given = form->heads;
    WEFT_TRY(weft_json_optional_bool(&one, json, "multi_query"));
    WEFT_TRY(weft_json_optional_integer(&given, json, "num_kv_heads", 1, form->heads));
    form->kv_heads = newer ? (uint32_t)given : one ? 1 : form->heads;
    form->groups = form->kv_heads;
    return form->heads % form->kv_heads == 0
               ? WEFT_OK
               : weft_fields_refuse(json, "num_kv_heads", "a divisor of num_attention_heads");
}

static weft_status read_order(weft_network_config *config, bool newer,
                              const weft_json_fields *json) {
    bool parallel = true;
    int64_t norms = newer ? 2 : 1;
    WEFT_TRY(weft_json_optional_bool(&parallel, json, "parallel_attn"));
    WEFT_TRY(weft_json_optional_integer(&norms, json, "num_ln_in_parallel_attn", 1, newer ? 2 : 1));
    if (newer && !parallel) {
        return weft_fields_refuse(json, "parallel_attn", "true, as new_decoder_architecture is");
    }
    config->layer.order = !parallel    ? WEFT_LAYER_SERIAL
                          : norms == 2 ? WEFT_LAYER_PARALLEL
                                       : WEFT_LAYER_PARALLEL_SHARED;
    return WEFT_OK;
}

static weft_status check_falcon(weft_network_config *config, const struct weft_head *head,
                                const weft_json_fields *json) {
    bool newer = false;
    set_head_bias(config, head);
    config->biases.output = config->biases.attention;
    config->biases.feed_forward = config->biases.attention;
    if (config->intermediate_size == 0) {
        config->intermediate_size = 4 * config->hidden_size;
    }
    WEFT_TRY(weft_json_optional_bool(&newer, json, "new_decoder_architecture"));
    WEFT_TRY(read_groups(config, newer, json));
    WEFT_TRY(read_order(config, newer, json));
    return weft_layout_read_rotary(&config->attention.rotary, config, &weft_usual_rotary, json);
}

static const weft_network_config falcon_defaults = {.norm = WEFT_NORM_LAYER,
                                                    .norm_eps = 1e-5F,
                                                    .activation = WEFT_ACTIVATION_GELU_ERF,
                                                    .pooling = WEFT_POOLING_LAST,
                                                    .causal = true,
                                                    .tie_word_embeddings = true,
                                                    .max_positions = 2048,
                                                    .biases.norm = true};

static const struct weft_layout falcon = {.stem = "Falcon",
                                          .encoder = "FalconModel",
                                          .prefix = "transformer.",
                                          .fields = {&table, &falcon_table},
                                          .defaults = &falcon_defaults,
                                          .check = check_falcon,
                                          .names = names,
                                          .heads = heads,
                                          .unused = unused};

const struct weft_model_family weft_family_falcon = {.model_type = "falcon",
                                                     WEFT_DECODER_LAYOUT(&falcon)};
