/* SPDX-License-Identifier: MIT */
/*
 * LFM2: Liquid AI, "LFM2 technical report", 2025. Layers of short filters between two gates, and between them some of attention; with
 * experts behind the first layers, or without.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/gated_mixer.h"
#include "model/network/network.h"

struct lfm2 {
    uint32_t taps;
    bool bias;
    weft_layer_set full; /* layers of attention */
};

/* ---- config.json ---- */

static const weft_field network_fields[] = {
    {WEFT_REAL("norm_eps", weft_network_config, norm_eps, 0, 1)},
    {WEFT_INTEGER("block_ff_dim", weft_network_config, intermediate_size, 1, 1048576)},
    {WEFT_BOOL("tie_embedding", weft_network_config, tie_word_embeddings)},
};
static const weft_field_table network_table = {network_fields,
                                               sizeof network_fields / sizeof network_fields[0]};

/* But for their number, which both kinds of models have. */
static const weft_field expert_fields[] = {
    {WEFT_BOOL("use_expert_bias", weft_network_config, layer.experts.choice_bias)},
    {WEFT_REAL("routed_scaling_factor", weft_network_config, layer.experts.scale, 1e-9, 1e9)},
};
static const weft_field_table expert_table = {expert_fields,
                                              sizeof expert_fields / sizeof expert_fields[0]};

static const weft_field own_fields[] = {
    {WEFT_INTEGER("conv_L_cache", struct lfm2, taps, 1, 1024)},
    {WEFT_BOOL("conv_bias", struct lfm2, bias)},
};
static const weft_field_table own_table = {own_fields, sizeof own_fields / sizeof own_fields[0]};

/* Two thirds of the size that the file names, times a factor, up to a whole multiple. */
static weft_status adjust_size(weft_network_config *config, const weft_json_fields *json) {
    bool adjusts = true;
    double factor = 1.0;
    int64_t multiple = 256;
    WEFT_TRY(weft_json_optional_bool(&adjusts, json, "block_auto_adjust_ff_dim"));
    WEFT_TRY(weft_json_optional_real(&factor, json, "block_ffn_dim_multiplier", 1e-3, 1e3));
    WEFT_TRY(weft_json_optional_integer(&multiple, json, "block_multiple_of", 1, 1048576));
    if (!adjusts) {
        return WEFT_OK;
    }
    int64_t size = 2 * (int64_t)config->intermediate_size / 3;
    const json_t *given = json_object_get(json->object, "block_ffn_dim_multiplier");
    if (!json_is_null(given)) {
        size = (int64_t)(factor * (double)size);
        size = (size + multiple - 1) / multiple * multiple;
    }
    if (size < 1 || size > 1048576) {
        return weft_fields_refuse(json, "intermediate_size",
                                  "a size from which 1 to 1048576 channels follow");
    }
    config->intermediate_size = (uint32_t)size;
    return WEFT_OK;
}

/* layer_types, or the numbers of the layers of attention: all of them where neither is there. */
static weft_status read_full(struct lfm2 *lfm2, const weft_network_config *config,
                             const weft_json_fields *json) {
    static const struct weft_layer_kinds kinds = {.out = "conv", .in = "full_attention"};
    if (weft_json_has(json, "layer_types")) {
        return weft_layout_read_layer_kinds(&lfm2->full, config->layers, &kinds, json);
    }
    if (weft_json_has(json, "full_attn_idxs")) {
        return weft_layout_read_layer_numbers(&lfm2->full, config->layers, json, "full_attn_idxs");
    }
    for (uint32_t i = 0; i < config->layers; i++) {
        weft_layer_set_put(&lfm2->full, i, true);
    }
    return WEFT_OK;
}

static weft_status read_experts(weft_network_config *config, const weft_json_fields *json) {
    int64_t dense = 2;
    WEFT_TRY(weft_decoder_read_experts(config, 4, "num_experts", json));
    WEFT_TRY(weft_json_optional_integer(&dense, json, "num_dense_layers", 0, WEFT_MAX_LAYERS));
    for (uint32_t i = 0; i < config->layers && i < dense; i++) {
        weft_layer_set_put(&config->layer.experts.dense, i, true);
    }
    return WEFT_OK;
}

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    struct lfm2 *lfm2 = state;
    *lfm2 = (struct lfm2){.taps = 3};
    WEFT_TRY(weft_fields_read(lfm2, &own_table, json));
    WEFT_TRY(read_full(lfm2, config, json));
    return config->layer.experts.count == 0 ? adjust_size(config, json)
                                            : read_experts(config, json);
}

static const struct weft_rotary_fields rotary = {WEFT_ROTARY_FIELDS_OF(NULL), .base = "rope_theta",
                                                 .usual_base = 1000000.0};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    return weft_decoder_check_with(config, head, &rotary, json);
}

/* ---- tensors ---- */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("layers.#.mixer.output", "layers.#.self_attn.out_proj")},
    {WEFT_NAMED("layers.#.mixer.query_norm", "layers.#.self_attn.q_layernorm")},
    {WEFT_NAMED("layers.#.mixer.key_norm", "layers.#.self_attn.k_layernorm")},
    WEFT_LLAMA_ATTENTION_NAMES,
    {WEFT_NAMED("layers.#.mixer.filter", "layers.#.conv")},
    {WEFT_NAMED("layers.#.feed_forward.l1", "layers.#.feed_forward.w1")},
    {WEFT_NAMED("layers.#.feed_forward.l2", "layers.#.feed_forward.w3")},
    {WEFT_NAMED("layers.#.feed_forward.l3", "layers.#.feed_forward.w2")},
    WEFT_EXPERT_NAMES("layers.#.feed_forward", "w1", "w3", "w2"),
    WEFT_MODULE_EXPERT_NAMES("layers.#.feed_forward"),
    {WEFT_NAMED("layers.#.feed_forward.choice_bias", "layers.#.feed_forward.expert_bias")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.operator_norm")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.ffn_norm")},
    {WEFT_NAMED("norm", "embedding_norm")},
    {.ours = NULL}};

/* out_proj(c ⊙ filter(b ⊙ x)) of what in_proj makes: b, c, x */
static weft_tensor mix_filter(struct weft_builder *builder, weft_tensor x,
                              const struct lfm2 *lfm2) {
    const uint32_t d = builder->width;
    weft_tensor all = weft_build_map(builder, x, "in_proj", d, 3 * d, lfm2->bias);
    weft_tensor gate = weft_build_channels(builder, all, d, d);
    x = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, weft_build_channels(builder, all, 0, d),
                          weft_build_channels(builder, all, 2 * d, d));
    x = weft_build_short_filter(builder, x, "conv", d, lfm2->taps, lfm2->bias);
    x = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x, gate);
    return weft_build_map(builder, x, "out_proj", d, d, lfm2->bias);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const struct lfm2 *lfm2 = state;
    if (weft_layer_set_has(&lfm2->full, builder->layer)) {
        return weft_layout_attention(builder, x, NULL);
    }
    const size_t entered = weft_build_enter(builder, "filter");
    x = mix_filter(builder, x, lfm2);
    weft_build_leave(builder, entered);
    return x;
}

static const weft_network_config defaults = {
    WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-5F, .attention.kv_heads = 8,
    .attention.head_norm = WEFT_HEAD_NORM_EACH, .tie_word_embeddings = true};

static const weft_network_config moe_defaults = {WEFT_LLAMA_DEFAULTS_BUT_EPS,
                                                 .norm_eps = 1e-5F,
                                                 .attention.kv_heads = 8,
                                                 .attention.head_norm = WEFT_HEAD_NORM_EACH,
                                                 .tie_word_embeddings = true,
                                                 .layer.experts = {.count = 32,
                                                                   .size = 1792,
                                                                   .normalized = true,
                                                                   .more = 1e-6F,
                                                                   .sigmoid = true,
                                                                   .choice_bias = true}};

#define LAYOUT(own_stem, own_defaults, ...)                                      \
    .stem = (own_stem), .encoder = own_stem "Model", .prefix = "model.",         \
    .fields = {&weft_size_fields, &weft_kv_fields, &network_table, __VA_ARGS__}, \
    .defaults = &(own_defaults), .read = read, .check = check, .names = names,   \
    .heads = weft_causal_heads, .unused = weft_decoder_unused
static const struct weft_layout layout = {LAYOUT("Lfm2", defaults, NULL)};
static const struct weft_layout moe_layout = {
    LAYOUT("Lfm2Moe", moe_defaults, &weft_expert_count_fields, &weft_expert_fields, &expert_table)};

#define FAMILY(type, own_layout)                                                          \
    {                                                                                     \
        .model_type = (type), .config_size = sizeof(struct lfm2), WEFT_ATTENTION_PARTS,   \
        .takes_lengths = weft_family_always, .recurrent = weft_family_always, .mix = mix, \
        .layout = (own_layout)                                                            \
    }
const struct weft_model_family weft_family_lfm2 = FAMILY("lfm2", &layout);
const struct weft_model_family weft_family_lfm2_moe = FAMILY("lfm2_moe", &moe_layout);
