/* SPDX-License-Identifier: MIT */
/*
 * GPT-Neo: Black et al., "GPT-Neo: Large scale autoregressive language modeling with Mesh-TensorFlow", 2021; TinyStories are such, too. Scores are
 * not scaled, and every second layer reads a window.
 */
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "wte")},
    {WEFT_NAMED("embeddings.positions", "wpe")},
    {WEFT_NAMED("layers.#.mixer.query", "h.#.attn.attention.q_proj")},
    {WEFT_NAMED("layers.#.mixer.key", "h.#.attn.attention.k_proj")},
    {WEFT_NAMED("layers.#.mixer.value", "h.#.attn.attention.v_proj")},
    {WEFT_NAMED("layers.#.mixer.output", "h.#.attn.attention.out_proj")},
    {WEFT_NAMED("layers.#.mixer_norm", "h.#.ln_1")},
    {WEFT_NAMED("layers.#.feed_forward.in", "h.#.mlp.c_fc")},
    {WEFT_NAMED("layers.#.feed_forward.out", "h.#.mlp.c_proj")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "h.#.ln_2")},
    {WEFT_NAMED("norm", "ln_f")},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "classifier"},
    {.name = NULL}};

/* Masks that old versions kept among the tensors. */
static const char *const unused[] = {".attn.attention.bias", ".attn.attention.masked_bias", NULL};

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, 1 << 24), .required = true},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("num_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS), .required = true},
    {WEFT_INTEGER("num_heads", weft_network_config, attention.heads, 1, 65536), .required = true},
    {WEFT_INTEGER("max_position_embeddings", weft_network_config, max_positions, 1, 1 << 24),
     .required = true},
    {WEFT_INTEGER("intermediate_size", weft_network_config, intermediate_size, 1, 1 << 20)},
    {WEFT_CUSTOM("activation_function", weft_network_config, activation, weft_field_activation)},
    {WEFT_REAL("layer_norm_epsilon", weft_network_config, norm_eps, 0, 1)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)}};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

/* The kind of layer i, or null where there is none: attention_types has lists of kinds, and how often each comes, [[["global", "local"], 12]]. */
static const char *kind_of(const json_t *types, uint32_t i) {
    for (size_t at = 0; at < json_array_size(types); at++) {
        const json_t *entry = json_array_get(types, at), *kinds = json_array_get(entry, 0);
        const json_int_t times = json_integer_value(json_array_get(entry, 1));
        const size_t count = json_array_size(kinds);
        if (count > 0 && times > 0) {
            if (i / count < (uint64_t)times) {
                return json_string_value(json_array_get(kinds, i % count));
            }
            i -= (uint32_t)(count * (uint64_t)times);
        }
    }
    return NULL;
}

static weft_status read_kinds(weft_network_config *config, const weft_json_fields *json) {
    const json_t *types = json_object_get(json->object, "attention_types");
    for (uint32_t i = 0; i < config->layers; i++) {
        const char *kind = types ? kind_of(types, i) : i % 2 == 0 ? "global" : "local";
        const bool local = kind && strcmp(kind, "local") == 0;
        if (!local && !(kind && strcmp(kind, "global") == 0)) {
            return weft_fields_refuse(
                json, "attention_types",
                "\"global\" or \"local\" for each layer, as lists of them and how often "
                "each comes");
        }
        weft_layer_set_put(&config->attention.local, i, local);
    }
    return WEFT_OK;
}

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    int64_t window = 256;
    config->biases.head = head->task == WEFT_TASK_CLASSIFY_TOKENS;
    if (config->intermediate_size == 0) {
        config->intermediate_size = 4 * config->hidden_size;
    }
    WEFT_TRY(weft_json_optional_integer(&window, json, "window_size", 1, INT32_MAX));
    config->attention.half_width = (uint32_t)window - 1;
    return read_kinds(config, json);
}

static const weft_network_config defaults = {
    .norm = WEFT_NORM_LAYER,
    .norm_eps = 1e-5F,
    .activation = WEFT_ACTIVATION_GELU_TANH,
    .position_embedding = WEFT_POSITION_LEARNED,
    .pooling = WEFT_POOLING_LAST,
    .causal = true,
    .tie_word_embeddings = true,
    .biases = {.output = true, .feed_forward = true, .norm = true},
    .attention.scale = 1.0F};

static const struct weft_layout layout = {.stem = "GPTNeo",
                                          .encoder = "GPTNeoModel",
                                          .prefix = "transformer.",
                                          .fields = {&table},
                                          .defaults = &defaults,
                                          .check = check,
                                          .names = names,
                                          .heads = heads,
                                          .unused = unused};

const struct weft_model_family weft_family_gpt_neo = {.model_type = "gpt_neo",
                                                      WEFT_DECODER_LAYOUT(&layout)};
