/* SPDX-License-Identifier: MIT */
/*
 * Gemma: Gemma team, "Gemma: Open models based on Gemini research and technology", 2024; Gemma 2, 2024; Gemma 3, 2025, whose text
 * model EmbeddingGemma is, too. Norms multiply by 1 + weight, and the embedding is scaled by the root of its width.
 */
#include <math.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

/* Gemma's own norms around each part come with the second version. */
#define AROUND_NAMES                                                                        \
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.input_layernorm")},                        \
        {WEFT_NAMED("layers.#.mixer_norm_of_result", "layers.#.post_attention_layernorm")}, \
        {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.pre_feedforward_layernorm")},   \
        {WEFT_NAMED("layers.#.feed_forward_norm_of_result",                                 \
                    "layers.#.post_feedforward_layernorm")},                                \
    {                                                                                       \
        WEFT_NAMED("norm", "norm")                                                          \
    }

static const struct weft_tensor_name names[] = {WEFT_LLAMA_ATTENTION_NAMES,
                                                WEFT_LLAMA_FEED_FORWARD_NAMES,
                                                WEFT_LLAMA_NORM_NAMES,
                                                {.ours = NULL}};
static const struct weft_tensor_name around_names[] = {
    WEFT_LLAMA_ATTENTION_NAMES, WEFT_LLAMA_FEED_FORWARD_NAMES, AROUND_NAMES, {.ours = NULL}};

static const struct weft_head gemma3_heads[] = {
    {"TextModel", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"TextForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {.name = NULL}};

/* ---- fields ---- */

/* A file of the first version with hidden_act gelu means the approximation, whatever hidden_activation says. */
static weft_status read_gemma_act(void *value, const weft_json_fields *json, const char *name) {
    weft_activation *activation = value;
    WEFT_TRY(weft_field_activation(activation, json, name));
    if (*activation == WEFT_ACTIVATION_GELU_ERF) {
        *activation = WEFT_ACTIVATION_GELU_TANH;
    }
    return WEFT_OK;
}

static const weft_field gemma_fields[] = {
    {WEFT_CUSTOM("hidden_act", weft_network_config, activation, read_gemma_act)},
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)},
    WEFT_REFUSED("use_bidirectional_attention", weft_field_false),
};
static const weft_field_table gemma_table = {gemma_fields,
                                             sizeof gemma_fields / sizeof gemma_fields[0]};

static const weft_field gemma3_fields[] = {
    {WEFT_CUSTOM("hidden_activation", weft_network_config, activation, weft_field_activation)},
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)},
};
static const weft_field_table gemma3_table = {gemma3_fields,
                                              sizeof gemma3_fields / sizeof gemma3_fields[0]};

/* ---- what the tables cannot say ---- */

static void scale_embedding(weft_network_config *config) {
    config->embedding.scale = (float)sqrt((double)config->hidden_size);
    config->biases.output = config->biases.attention;
}

static weft_status check_gemma(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    scale_embedding(config);
    return weft_decoder_check(config, head, json);
}

/* A cap: the usual one where the field is missing, none where it is null. */
static weft_status read_cap(float *cap, double usual, const char *name,
                            const weft_json_fields *json) {
    const bool missing = json_object_get(json->object, name) == NULL;
    return weft_decoder_read_real(cap, missing ? usual : 0.0, 1e-6, json, name);
}

/* What the second and the third version have alike; caps are those where a field is missing. */
static weft_status check_scores(weft_network_config *config, double attention_cap,
                                double logits_cap, const weft_json_fields *json) {
    double per_query = 256.0;
    scale_embedding(config);
    WEFT_TRY(weft_json_optional_real(&per_query, json, "query_pre_attn_scalar", 1e-6, 1e9));
    config->attention.scale = (float)(1.0 / sqrt(per_query));
    WEFT_TRY(read_cap(&config->attention.cap, attention_cap, "attn_logit_softcapping", json));
    return read_cap(&config->head.cap, logits_cap, "final_logit_softcapping", json);
}

static weft_status check_gemma2(weft_network_config *config, const struct weft_head *head,
                                const weft_json_fields *json) {
    WEFT_TRY(check_scores(config, 50.0, 30.0, json));
    WEFT_TRY(weft_field_false(NULL, json, "use_bidirectional_attention"));
    weft_decoder_choose_local(config, 0, 2);
    WEFT_TRY(weft_decoder_read_window(config, 4096, json));
    return weft_decoder_check(config, head, json);
}

static const struct weft_rotary_fields full_rotary = {
    WEFT_ROTARY_FIELDS_OF("full_attention"), .base = "rope_theta", .usual_base = 1000000.0};
static const struct weft_rotary_fields local_rotary = {WEFT_ROTARY_FIELDS_OF("sliding_attention"),
                                                       .base = "rope_local_base_freq",
                                                       .usual_base = 10000.0, .unscaled = true};

/* Both directions: EmbeddingGemma. Its window counts the tokens on either side, and is halved. */
static weft_status read_direction(weft_network_config *config, const struct weft_head *head,
                                  const weft_json_fields *json) {
    bool both = false;
    WEFT_TRY(weft_json_optional_bool(&both, json, "use_bidirectional_attention"));
    if (!both) {
        return WEFT_OK;
    }
    if (head->task == WEFT_TASK_CAUSAL_LM) {
        return weft_fields_refuse(json, "use_bidirectional_attention", "false for a decoder");
    }
    config->causal = false;
    config->attention.half_width = (config->attention.half_width + 1) / 2;
    return WEFT_OK;
}

static weft_status check_gemma3(weft_network_config *config, const struct weft_head *head,
                                const weft_json_fields *json) {
    int64_t every = 6;
    WEFT_TRY(check_scores(config, 0.0, 0.0, json));
    config->attention.cap = 0.0F; /* transformers reads it, and uses it nowhere */
    WEFT_TRY(weft_json_optional_integer(&every, json, "sliding_window_pattern", 1, INT32_MAX));
    weft_decoder_choose_local(config, 0, (uint32_t)every);
    WEFT_TRY(weft_decoder_read_window(config, 4096, json));
    WEFT_TRY(read_direction(config, head, json));
    WEFT_TRY(weft_decoder_check_with(config, head, &full_rotary, json));
    return weft_layout_read_rotary(&config->attention.local_rotary, config, &local_rotary, json);
}

/* ---- families ---- */

#define DEFAULTS                                                                         \
    .norm = WEFT_NORM_RMS, .norm_eps = 1e-6F, .activation = WEFT_ACTIVATION_GELU_TANH,   \
    .feed_forward = WEFT_FEED_FORWARD_GLU, .pooling = WEFT_POOLING_LAST, .causal = true, \
    .tie_word_embeddings = true, .layer.norm_adds_one = true, .attention.head_size = 256

static const weft_network_config gemma_defaults = {DEFAULTS, .attention.kv_heads = 16};
static const weft_network_config gemma2_defaults = {DEFAULTS, .attention.kv_heads = 4,
                                                    .norm_position = WEFT_NORM_AROUND};
static const weft_network_config gemma3_defaults = {DEFAULTS, .attention.kv_heads = 4,
                                                    .norm_position = WEFT_NORM_AROUND,
                                                    .attention.head_norm = WEFT_HEAD_NORM_EACH};

#define FIELDS(own) \
    { &weft_size_fields, &(own), &weft_kv_fields, &weft_rms_fields }

static const struct weft_layout gemma = {.stem = "Gemma",
                                         .encoder = "GemmaModel",
                                         .prefix = "model.",
                                         .fields = FIELDS(gemma_table),
                                         .defaults = &gemma_defaults,
                                         .check = check_gemma,
                                         .names = names,
                                         .heads = weft_decoder_heads,
                                         .unused = weft_decoder_unused};
static const struct weft_layout gemma2 = {.stem = "Gemma2",
                                          .encoder = "Gemma2Model",
                                          .prefix = "model.",
                                          .fields = FIELDS(gemma3_table),
                                          .defaults = &gemma2_defaults,
                                          .check = check_gemma2,
                                          .names = around_names,
                                          .heads = weft_decoder_heads,
                                          .unused = weft_decoder_unused};
static const struct weft_layout gemma3 = {.stem = "Gemma3",
                                          .encoder = "Gemma3TextModel",
                                          .prefix = "model.",
                                          .fields = FIELDS(gemma3_table),
                                          .defaults = &gemma3_defaults,
                                          .check = check_gemma3,
                                          .names = around_names,
                                          .heads = gemma3_heads,
                                          .unused = weft_decoder_unused};

const struct weft_model_family weft_family_gemma = {.model_type = "gemma",
                                                    WEFT_DECODER_LAYOUT(&gemma)};
const struct weft_model_family weft_family_gemma2 = {.model_type = "gemma2",
                                                     WEFT_DECODER_LAYOUT(&gemma2)};
const struct weft_model_family weft_family_gemma3_text = {.model_type = "gemma3_text",
                                                          WEFT_DECODER_LAYOUT(&gemma3)};
