/* SPDX-License-Identifier: MIT */
#include "model/network/decoder_layout.h"

#include <string.h>

#include "core/try.h"
#include "model/network/family.h"

#define TABLE(fields) \
    { fields, sizeof fields / sizeof fields[0] }

static const weft_field act_fields[] = {
    {WEFT_CUSTOM("hidden_act", weft_network_config, activation, weft_field_activation)}};
const weft_field_table weft_act_fields = TABLE(act_fields);

static const weft_field kv_fields[] = {
    {WEFT_INTEGER("num_key_value_heads", weft_network_config, attention.kv_heads, 1, 65536)},
    {WEFT_INTEGER("head_dim", weft_network_config, attention.head_size, 1, 65536)}};
const weft_field_table weft_kv_fields = TABLE(kv_fields);

static const weft_field rms_fields[] = {
    {WEFT_REAL("rms_norm_eps", weft_network_config, norm_eps, 0, 1)}};
const weft_field_table weft_rms_fields = TABLE(rms_fields);

static const weft_field layer_norm_fields[] = {
    {WEFT_REAL("layer_norm_eps", weft_network_config, norm_eps, 0, 1)}};
const weft_field_table weft_layer_norm_fields = TABLE(layer_norm_fields);

static const weft_field attention_bias_fields[] = {
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)}};
const weft_field_table weft_attention_bias_fields = TABLE(attention_bias_fields);

static const weft_field bias_fields[] = {
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)},
    {WEFT_BOOL("mlp_bias", weft_network_config, biases.feed_forward)}};
const weft_field_table weft_bias_fields = TABLE(bias_fields);

static const weft_field expert_count_fields[] = {
    {WEFT_INTEGER("num_experts", weft_network_config, layer.experts.count, 0, WEFT_MAX_EXPERTS)},
    {WEFT_INTEGER("num_local_experts", weft_network_config, layer.experts.count, 0,
                  WEFT_MAX_EXPERTS)}};
const weft_field_table weft_expert_count_fields = TABLE(expert_count_fields);

static const weft_field expert_fields[] = {
    {WEFT_INTEGER("moe_intermediate_size", weft_network_config, layer.experts.size, 1, 1048576)},
    {WEFT_BOOL("norm_topk_prob", weft_network_config, layer.experts.normalized)}};
const weft_field_table weft_expert_fields = TABLE(expert_fields);

static const weft_field shared_expert_fields[] = {{WEFT_INTEGER(
    "shared_expert_intermediate_size", weft_network_config, layer.experts.shared, 1, 1048576)}};
const weft_field_table weft_shared_expert_fields = TABLE(shared_expert_fields);

const struct weft_head weft_decoder_heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"ForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {"ForTokenClassification", WEFT_TASK_CLASSIFY_TOKENS, .out = "score"},
    {.name = NULL}};

const struct weft_head weft_causal_heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {.name = NULL}};

const struct weft_tensor_name weft_mamba_layer_names[] = {
    WEFT_LLAMA_ATTENTION_NAMES,
    {WEFT_NAMED("layers.#.mixer.mamba", "layers.#.mamba")},
    {WEFT_NAMED("layers.#.feed_forward.l1", "layers.#.feed_forward.gate_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l2", "layers.#.feed_forward.up_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l3", "layers.#.feed_forward.down_proj")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.input_layernorm")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.pre_ff_layernorm")},
    {WEFT_NAMED("norm", "final_layernorm")},
    {.ours = NULL}};

const char *const weft_decoder_unused[] = {"rotary_emb.inv_freq", NULL};

const struct weft_rotary_fields weft_usual_rotary = {WEFT_ROTARY_FIELDS};
const struct weft_rotary_fields weft_partial_rotary = {WEFT_ROTARY_FIELDS, .partial = true};
const struct weft_rotary_fields weft_half_rotary = {WEFT_ROTARY_FIELDS_BUT_SHARE,
                                                    .usual_share = 0.5, .partial = true};

weft_status weft_decoder_check_heads(weft_network_config *config, const struct weft_head *head,
                                     const weft_json_fields *json) {
    config->biases.head = head->task == WEFT_TASK_CLASSIFY_TOKENS;
    return config->attention.heads % weft_network_kv_heads(config) == 0
               ? WEFT_OK
               : weft_fields_refuse(json, "num_key_value_heads",
                                    "a divisor of num_attention_heads");
}

weft_status weft_decoder_check_with(weft_network_config *config, const struct weft_head *head,
                                    const struct weft_rotary_fields *rotary,
                                    const weft_json_fields *json) {
    WEFT_TRY(weft_decoder_check_heads(config, head, json));
    return weft_layout_read_rotary(&config->attention.rotary, config, rotary, json);
}

weft_status weft_decoder_check(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    return weft_decoder_check_with(config, head, &weft_usual_rotary, json);
}

weft_status weft_decoder_read_window(weft_network_config *config, uint32_t usual,
                                     const weft_json_fields *json) {
    int64_t window = json_object_get(json->object, "sliding_window") ? 0 : usual;
    WEFT_TRY(weft_json_optional_integer(&window, json, "sliding_window", 1, INT32_MAX));
    if (window == 0) {
        config->attention.local = (weft_layer_set){{0}};
        return WEFT_OK;
    }
    config->attention.half_width = (uint32_t)window - 1;
    return weft_json_has(json, "layer_types") ? weft_layout_read_layer_types(config, json)
                                              : WEFT_OK;
}

void weft_decoder_choose_local(weft_network_config *config, uint32_t first, uint32_t every) {
    for (uint32_t i = first; i < config->layers; i++) {
        weft_layer_set_put(&config->attention.local, i, every == 0 || (i + 1) % every != 0);
    }
}

weft_status weft_decoder_read_ungated_act(weft_network_config *config,
                                          const weft_json_fields *json) {
    const char *given = "relu2";
    WEFT_TRY(weft_json_optional_string(&given, json, "hidden_act"));
    config->layer.squares = strcmp(given, "relu2") == 0;
    if (config->layer.squares) {
        config->activation = WEFT_ACTIVATION_RELU;
        return WEFT_OK;
    }
    return weft_field_activation(&config->activation, json, "hidden_act");
}

weft_status weft_decoder_read_real(float *value, double usual, double least,
                                   const weft_json_fields *json, const char *name) {
    WEFT_TRY(weft_json_optional_real(&usual, json, name, least, 1e30));
    *value = (float)usual;
    return WEFT_OK;
}

/* Of the names of their number a file has one, or both with the same. */
static bool contradict(const weft_json_fields *json) {
    const json_t *one = json_object_get(json->object, "num_experts");
    const json_t *other = json_object_get(json->object, "num_local_experts");
    return json_is_integer(one) && json_is_integer(other) &&
           json_integer_value(one) != json_integer_value(other);
}

/* The matrices of all experts are one. */
static bool are_too_many(const weft_network_config *config) {
    const weft_expert_form *form = &config->layer.experts;
    const uint64_t rows = 2 * (uint64_t)form->size;
    return form->count * (rows > config->hidden_size ? rows : config->hidden_size) > INT32_MAX;
}

weft_status weft_decoder_read_experts(weft_network_config *config, uint32_t usual,
                                      const char *count, const weft_json_fields *json) {
    weft_expert_form *form = &config->layer.experts;
    int64_t chosen = usual, step = 1;
    if (contradict(json)) {
        return weft_fields_refuse(json, "num_local_experts", "the same number as num_experts");
    }
    WEFT_TRY(weft_json_optional_integer(&chosen, json, "num_experts_per_tok", 1, INT32_MAX));
    WEFT_TRY(weft_json_optional_integer(&step, json, "decoder_sparse_step", 1, INT32_MAX));
    WEFT_TRY(weft_layout_read_layer_numbers(&form->dense, config->layers, json, "mlp_only_layers"));
    uint32_t sparse = 0;
    for (uint32_t i = 0; i < config->layers; i++) {
        const bool dense = weft_layer_set_has(&form->dense, i) || (i + 1) % step != 0;
        weft_layer_set_put(&form->dense, i, dense);
        sparse += !dense;
    }
    form->count = sparse > 0 ? form->count : 0;
    if (form->count != 0 && chosen > form->count) {
        return weft_fields_refuse(json, "num_experts_per_tok", "no more than there are experts");
    }
    form->chosen = (uint32_t)chosen;
    return are_too_many(config) ? weft_fields_refuse(json, count, "fewer experts, or smaller ones")
                                : WEFT_OK;
}

weft_status weft_decoder_read_multipliers(weft_network_config *config,
                                          const weft_json_fields *json) {
    float divisor = 1.0F;
    WEFT_TRY(
        weft_decoder_read_real(&config->embedding.scale, 1, 1e-9, json, "embedding_multiplier"));
    WEFT_TRY(
        weft_decoder_read_real(&config->attention.scale, 1, 1e-9, json, "attention_multiplier"));
    WEFT_TRY(weft_decoder_read_real(&config->layer.residual_scale, 1, 1e-9, json,
                                    "residual_multiplier"));
    WEFT_TRY(weft_decoder_read_real(&divisor, 1, 1e-9, json, "logits_scaling"));
    config->head.scale = 1.0F / divisor;
    return WEFT_OK;
}
