/* SPDX-License-Identifier: MIT */
/*
 * Llama: Touvron et al., "Llama 2: Open foundation and fine-tuned chat models", 2023, and what has its form with other biases,
 * norms, bands and scales: Mistral, Qwen2, Qwen3, Granite and SmolLM3.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

static const struct weft_tensor_name names[] = {WEFT_LLAMA_ATTENTION_NAMES,
                                                WEFT_LLAMA_FEED_FORWARD_NAMES,
                                                WEFT_LLAMA_NORM_NAMES,
                                                {.ours = NULL}};

/* attention_bias is of the map behind the mixer, too. */
static weft_status check_llama(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    return weft_decoder_check(config, head, json);
}

/* transformers takes a missing sliding_window for 4096. */
static weft_status check_mistral(weft_network_config *config, const struct weft_head *head,
                                 const weft_json_fields *json) {
    WEFT_TRY(weft_decoder_check(config, head, json));
    weft_decoder_choose_local(config, 0, 0);
    return weft_decoder_read_window(config, 4096, json);
}

static weft_status check_qwen2(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    bool has_window = false;
    int64_t first = 28;
    WEFT_TRY(weft_decoder_check(config, head, json));
    WEFT_TRY(weft_json_optional_bool(&has_window, json, "use_sliding_window"));
    WEFT_TRY(weft_json_optional_integer(&first, json, "max_window_layers", 0, INT32_MAX));
    if (!has_window) {
        return WEFT_OK;
    }
    weft_decoder_choose_local(config, (uint32_t)first, 0);
    return weft_decoder_read_window(config, 4096, json);
}

static weft_status check_qwen3(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    return check_qwen2(config, head, json);
}

static weft_status check_granite(weft_network_config *config, const struct weft_head *head,
                                 const weft_json_fields *json) {
    WEFT_TRY(weft_decoder_read_multipliers(config, json));
    return check_llama(config, head, json);
}

/* ---- SmolLM3 ---- */

static const struct weft_rotary_fields smollm3_rotary = {
    WEFT_ROTARY_FIELDS_OF(NULL), .base = "rope_theta", .usual_base = 2000000.0};

/* no_rope_layers has 1 for layers with rotary positions, and 0 for those without. */
static weft_status read_unturned(weft_network_config *config, const weft_json_fields *json) {
    const json_t *list = json_object_get(json->object, "no_rope_layers");
    int64_t every = 4;
    WEFT_TRY(weft_json_optional_integer(&every, json, "no_rope_layer_interval", 1, INT32_MAX));
    if (weft_json_has(json, "no_rope_layers") &&
        (!json_is_array(list) || json_array_size(list) != config->layers)) {
        return weft_fields_refuse(json, "no_rope_layers", "0 or 1 for each layer");
    }
    for (uint32_t i = 0; i < config->layers; i++) {
        const json_t *entry = json_array_get(list, i);
        if (entry && !json_is_integer(entry)) {
            return weft_json_fail(json, WEFT_BAD_FILE, "no_rope_layers", "0 or 1", entry);
        }
        const bool turned = entry ? json_integer_value(entry) != 0 : (i + 1) % every != 0;
        weft_layer_set_put(&config->attention.unturned, i, !turned);
    }
    return WEFT_OK;
}

static weft_status check_smollm3(weft_network_config *config, const struct weft_head *head,
                                 const weft_json_fields *json) {
    bool has_window = false;
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_decoder_check_with(config, head, &smollm3_rotary, json));
    WEFT_TRY(read_unturned(config, json));
    WEFT_TRY(weft_json_optional_bool(&has_window, json, "use_sliding_window"));
    if (has_window) {
        config->attention.local = config->attention.unturned;
    }
    return weft_decoder_read_window(config, 0, json);
}

/* ---- families ---- */

static const weft_network_config llama_defaults = {WEFT_LLAMA_DEFAULTS};
static const weft_network_config mistral_defaults = {WEFT_LLAMA_DEFAULTS, .attention.kv_heads = 8};
static const weft_network_config qwen2_defaults = {WEFT_LLAMA_DEFAULTS, .biases.attention = true};
static const weft_network_config qwen3_defaults = {WEFT_LLAMA_DEFAULTS, .attention.head_size = 128,
                                                   .attention.head_norm = WEFT_HEAD_NORM_EACH};
static const weft_network_config smollm3_defaults = {WEFT_LLAMA_DEFAULTS, .attention.kv_heads = 4,
                                                     .tie_word_embeddings = true};

WEFT_LLAMA_FAMILY(llama, "Llama", check_llama, llama_defaults, names, &weft_bias_fields)
WEFT_LLAMA_FAMILY(mistral, "Mistral", check_mistral, mistral_defaults, names, NULL)
WEFT_LLAMA_FAMILY(qwen2, "Qwen2", check_qwen2, qwen2_defaults, names, NULL)
WEFT_LLAMA_FAMILY(qwen3, "Qwen3", check_qwen3, qwen3_defaults, names, &weft_bias_fields)
WEFT_LLAMA_FAMILY(granite, "Granite", check_granite, llama_defaults, names, &weft_bias_fields)
WEFT_LLAMA_FAMILY(smollm3, "SmolLM3", check_smollm3, smollm3_defaults, names, &weft_bias_fields)
