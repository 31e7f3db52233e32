/* SPDX-License-Identifier: MIT */
/* Llama's form with other biases, or with other pairs of channels that turn: Seed-OSS, ERNIE 4.5 and Helium, all of 2025. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"

static const struct weft_tensor_name names[] = {WEFT_LLAMA_ATTENTION_NAMES,
                                                WEFT_LLAMA_FEED_FORWARD_NAMES,
                                                WEFT_LLAMA_NORM_NAMES,
                                                {.ours = NULL}};

/* ---- Seed-OSS ---- */

static const weft_field seed_oss_fields[] = {
    {WEFT_BOOL("attention_out_bias", weft_network_config, biases.output)}};
static const weft_field_table seed_oss_table = {seed_oss_fields, 1};

/* ---- ERNIE 4.5 and Helium, where channels 2j and 2j + 1 turn ---- */

static const weft_field ernie_fields[] = {
    {WEFT_BOOL("use_bias", weft_network_config, biases.attention)}};
static const weft_field_table ernie_table = {ernie_fields, 1};

static const struct weft_rotary_fields ernie_rotary = {
    WEFT_ROTARY_FIELDS_OF(NULL), .base = "rope_theta", .usual_base = 500000.0};
static const struct weft_rotary_fields helium_rotary = {
    WEFT_ROTARY_FIELDS_OF(NULL), .base = "rope_theta", .usual_base = 100000.0};

static weft_status check_ernie(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    config->biases.output = config->biases.attention;
    config->biases.feed_forward = config->biases.attention;
    return weft_decoder_check_with(config, head, &ernie_rotary, json);
}

static weft_status check_helium(weft_network_config *config, const struct weft_head *head,
                                const weft_json_fields *json) {
    return weft_decoder_check_with(config, head, &helium_rotary, json);
}

/* ---- families ---- */

static const weft_network_config seed_oss_defaults = {WEFT_LLAMA_DEFAULTS, .biases.attention = true,
                                                      .attention.kv_heads = 8,
                                                      .attention.head_size = 128};
static const weft_network_config ernie_defaults = {
    WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-5F, .tie_word_embeddings = true,
    .attention = {.kv_heads = 2, .head_size = 128, .rotary.interleaved = true}};
static const weft_network_config helium_defaults = {
    WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-8F,
    .attention = {.kv_heads = 20, .head_size = 128, .rotary.interleaved = true}};
WEFT_LLAMA_FAMILY(seed_oss, "SeedOss", weft_decoder_check, seed_oss_defaults, names,
                  &weft_bias_fields, &seed_oss_table)
WEFT_LLAMA_FAMILY(ernie4_5, "Ernie4_5", check_ernie, ernie_defaults, names, &ernie_table)
WEFT_LLAMA_FAMILY(helium, "Helium", check_helium, helium_defaults, names, &weft_bias_fields)
