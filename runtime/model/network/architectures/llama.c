/* SPDX-License-Identifier: MIT */
/*
 * Llama: Touvron et al., "Llama 2: Open foundation and fine-tuned chat models", 2023, and what has its form with other biases,
 * norms and bands: Mistral, Qwen2 and Qwen3.
 */
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"

static const weft_field fields[] = {
    {WEFT_CUSTOM("hidden_act", weft_network_config, activation, weft_field_activation)},
    {WEFT_REAL("rms_norm_eps", weft_network_config, norm_eps, 0, 1)},
    {WEFT_INTEGER("num_key_value_heads", weft_network_config, kv_heads, 1, 65536)},
    {WEFT_INTEGER("head_dim", weft_network_config, head_size, 1, 65536)},
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const weft_field bias_fields[] = {
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)},
    {WEFT_BOOL("mlp_bias", weft_network_config, biases.feed_forward)},
};
static const weft_field_table bias_table = {bias_fields,
                                            sizeof bias_fields / sizeof bias_fields[0]};

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embed_tokens")},
    {WEFT_NAMED("layers.#.mixer.query", "layers.#.self_attn.q_proj")},
    {WEFT_NAMED("layers.#.mixer.key", "layers.#.self_attn.k_proj")},
    {WEFT_NAMED("layers.#.mixer.value", "layers.#.self_attn.v_proj")},
    {WEFT_NAMED("layers.#.mixer.output", "layers.#.self_attn.o_proj")},
    {WEFT_NAMED("layers.#.mixer.query_norm", "layers.#.self_attn.q_norm")},
    {WEFT_NAMED("layers.#.mixer.key_norm", "layers.#.self_attn.k_norm")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.input_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward.l1", "layers.#.mlp.gate_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l2", "layers.#.mlp.up_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l3", "layers.#.mlp.down_proj")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.post_attention_layernorm")},
    {WEFT_NAMED("norm", "norm")},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "score"},
    {.name = NULL}};

static const char *const unused[] = {"rotary_emb.inv_freq", NULL};

/* ---- what the tables cannot say ---- */

#define FACTOR \
    { WEFT_REAL("factor", weft_rotary, scale_factor, 1, 1e6), .required = true }
static const weft_field linear_fields[] = {FACTOR};
static const weft_field llama3_fields[] = {
    FACTOR,
    {WEFT_INTEGER("original_max_position_embeddings", weft_rotary, scale_length, 1, INT32_MAX),
     .required = true},
    {WEFT_REAL("low_freq_factor", weft_rotary, scale_low, 1e-6, 1e6), .required = true},
    {WEFT_REAL("high_freq_factor", weft_rotary, scale_high, 1e-6, 1e6), .required = true},
};

/* How positions are scaled for a longer context, by type. */
static const struct {
    const char *type;
    weft_field_table table;
} scales[] = {{"default", {linear_fields, 0}},
              {"linear", {linear_fields, 1}},
              {"llama3", {llama3_fields, sizeof llama3_fields / sizeof llama3_fields[0]}}};

/* "type" is the older name of "rope_type". */
static weft_status read_scale(weft_rotary *rotary, const weft_json_fields *rope) {
    const char *name = weft_json_has(rope, "rope_type") ? "rope_type" : "type";
    const char *type = "default";
    WEFT_TRY(weft_json_optional_string(&type, rope, name));
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        if (strcmp(type, scales[i].type) == 0) {
            WEFT_TRY(weft_fields_read(rotary, &scales[i].table, rope));
            return rotary->scale_length == 0 || rotary->scale_high > rotary->scale_low
                       ? WEFT_OK
                       : weft_fields_refuse(rope, "high_freq_factor", "more than low_freq_factor");
        }
    }
    return weft_json_fail(rope, WEFT_UNSUPPORTED, name, "\"default\", \"linear\" or \"llama3\"",
                          json_object_get(rope->object, name));
}

/* Newer files have rope_parameters, older ones rope_theta beside the other fields and perhaps rope_scaling. */
static weft_status read_rotary(weft_network_config *config, const weft_json_fields *json) {
    double base = 10000.0;
    double share = 1.0;
    static const char *const objects[] = {"rope_scaling", "rope_parameters"};
    WEFT_TRY(weft_json_optional_real(&base, json, "rope_theta", 1, 1e30));
    WEFT_TRY(weft_json_optional_real(&share, json, "partial_rotary_factor", 0, 1));
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        weft_json_fields rope = *json;
        rope.object = json_object_get(json->object, objects[i]);
        if (json_is_object(rope.object)) {
            WEFT_TRY(weft_json_optional_real(&base, &rope, "rope_theta", 1, 1e30));
            WEFT_TRY(weft_json_optional_real(&share, &rope, "partial_rotary_factor", 0, 1));
            WEFT_TRY(read_scale(&config->rotary, &rope));
        } else if (weft_json_has(json, objects[i])) {
            return weft_fields_refuse(json, objects[i], "an object");
        }
    }
    if (share < 1.0) {
        return weft_fields_refuse(json, "partial_rotary_factor", "1");
    }
    config->rotary.base = (float)base;
    config->local_base = config->rotary.base;
    return WEFT_OK;
}

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    config->biases.head = head->task == WEFT_TASK_CLASSIFY_TOKENS;
    if (config->kv_heads != 0 && config->heads % config->kv_heads != 0) {
        return weft_fields_refuse(json, "num_key_value_heads", "a divisor of num_attention_heads");
    }
    if (weft_network_head_size(config) % 2 != 0) {
        return weft_fields_refuse(json, "head_dim", "an even number, as channels turn in pairs");
    }
    return read_rotary(config, json);
}

/* attention_bias is of the map behind the mixer, too. */
static weft_status check_llama(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    return check(config, head, json);
}

/*
 * A token reads `window` tokens, itself included, in layers from `first` on or those of layer_types. transformers takes a
 * missing sliding_window for 4096, and null for none.
 */
static weft_status read_window(weft_network_config *config, uint32_t first,
                               const weft_json_fields *json) {
    int64_t window = json_object_get(json->object, "sliding_window") ? 0 : 4096;
    WEFT_TRY(weft_json_optional_integer(&window, json, "sliding_window", 1, INT32_MAX));
    if (window == 0) {
        return WEFT_OK;
    }
    config->half_width = (uint32_t)window - 1;
    if (weft_json_has(json, "layer_types")) {
        return weft_layout_read_layer_types(config, json);
    }
    for (uint32_t i = first; i < config->layers; i++) {
        config->local_layers[i / 32] |= 1U << i % 32;
    }
    return WEFT_OK;
}

static weft_status check_mistral(weft_network_config *config, const struct weft_head *head,
                                 const weft_json_fields *json) {
    WEFT_TRY(check(config, head, json));
    return read_window(config, 0, json);
}

static weft_status check_qwen2(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    bool has_window = false;
    int64_t first = 28;
    WEFT_TRY(check(config, head, json));
    WEFT_TRY(weft_json_optional_bool(&has_window, json, "use_sliding_window"));
    WEFT_TRY(weft_json_optional_integer(&first, json, "max_window_layers", 0, INT32_MAX));
    return has_window ? read_window(config, (uint32_t)first, json) : WEFT_OK;
}

static weft_status check_qwen3(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    return check_qwen2(config, head, json);
}

/* ---- families ---- */

#define DEFAULTS                                                                  \
    .norm = WEFT_NORM_RMS, .norm_eps = 1e-6F, .activation = WEFT_ACTIVATION_SILU, \
    .feed_forward = WEFT_FEED_FORWARD_GLU, .pooling = WEFT_POOLING_LAST, .causal = true

static const weft_network_config llama_defaults = {DEFAULTS};
static const weft_network_config mistral_defaults = {DEFAULTS, .kv_heads = 8};
static const weft_network_config qwen2_defaults = {DEFAULTS, .biases.attention = true};
static const weft_network_config qwen3_defaults = {DEFAULTS, .head_size = 128,
                                                   .query_key_norm = true};

#define LAYOUT(name, own_check)                                                        \
    .stem = (name), .encoder = name "Model", .prefix = "model.", .check = (own_check), \
    .names = names, .heads = heads, .unused = unused

static const struct weft_layout llama = {LAYOUT("Llama", check_llama),
                                         .fields = {&weft_size_fields, &table, &bias_table},
                                         .defaults = &llama_defaults};
static const struct weft_layout mistral = {LAYOUT("Mistral", check_mistral),
                                           .fields = {&weft_size_fields, &table},
                                           .defaults = &mistral_defaults};
static const struct weft_layout qwen2 = {LAYOUT("Qwen2", check_qwen2),
                                         .fields = {&weft_size_fields, &table},
                                         .defaults = &qwen2_defaults};
static const struct weft_layout qwen3 = {LAYOUT("Qwen3", check_qwen3),
                                         .fields = {&weft_size_fields, &table, &bias_table},
                                         .defaults = &qwen3_defaults};

const struct weft_model_family weft_family_llama = {.model_type = "llama",
                                                    WEFT_DECODER_LAYOUT(&llama)};
const struct weft_model_family weft_family_mistral = {.model_type = "mistral",
                                                      WEFT_DECODER_LAYOUT(&mistral)};
const struct weft_model_family weft_family_qwen2 = {.model_type = "qwen2",
                                                    WEFT_DECODER_LAYOUT(&qwen2)};
const struct weft_model_family weft_family_qwen3 = {.model_type = "qwen3",
                                                    WEFT_DECODER_LAYOUT(&qwen3)};
