/* SPDX-License-Identifier: MIT */
/*
 * Layers of Mamba-2's mixer, and between them some of attention: Bamba (IBM and others, 2024) and the Granite 4.0 models with such
 * layers (IBM, 2025), with experts beside the feed-forward of all tokens or without.
 */
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/mamba_mixer.h"
#include "model/network/network.h"

struct hybrid {
    struct weft_mamba mamba;
    weft_layer_set full; /* layers of attention */
};

/* ---- config.json ---- */

static weft_status read_bamba(void *state, weft_network_config *config,
                              const weft_json_fields *json) {
    struct hybrid *hybrid = state;
    config->biases.output = config->biases.attention;
    WEFT_TRY(
        weft_layout_read_layer_numbers(&hybrid->full, config->layers, json, "attn_layer_indices"));
    return weft_mamba_read(&hybrid->mamba, 0, config, json);
}

/* The feed-forward of all tokens has its own size, and stands beside the experts. */
static weft_status read_experts(weft_network_config *config, const weft_json_fields *json) {
    weft_expert_form *experts = &config->layer.experts;
    int64_t count = 8, size = 1024;
    WEFT_TRY(weft_json_optional_integer(&count, json, "num_local_experts", 0, WEFT_MAX_EXPERTS));
    WEFT_TRY(weft_json_optional_integer(&size, json, "shared_intermediate_size", 1, 1048576));
    experts->count = (uint32_t)count;
    experts->size = config->intermediate_size;
    experts->shared = (uint32_t)size;
    experts->normalized = true;
    config->intermediate_size = (uint32_t)size;
    return weft_decoder_read_experts(config, 2, "num_local_experts", json);
}

static weft_status read_granite(void *state, weft_network_config *config,
                                const weft_json_fields *json) {
    static const struct weft_layer_kinds kinds = {.out = "linear_attention",
                                                  .in = "full_attention",
                                                  .older_out = "mamba",
                                                  .older_in = "attention"};
    struct hybrid *hybrid = state;
    config->biases.output = config->biases.attention;
    WEFT_TRY(read_experts(config, json));
    if (weft_json_has(json, "layer_types")) {
        WEFT_TRY(weft_layout_read_layer_kinds(&hybrid->full, config->layers, &kinds, json));
    }
    WEFT_TRY(weft_decoder_read_multipliers(config, json));
    return weft_mamba_read(&hybrid->mamba, 0, config, json);
}

static weft_status check_bamba(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    return weft_decoder_check_with(config, head, &weft_half_rotary, json);
}

/* Positions only where config.json asks for them. */
static weft_status check_granite(weft_network_config *config, const struct weft_head *head,
                                 const weft_json_fields *json) {
    const char *positions = NULL;
    WEFT_TRY(weft_json_optional_string(&positions, json, "position_embedding_type"));
    if (positions && strcmp(positions, "rope") == 0) {
        return weft_decoder_check(config, head, json);
    }
    return !positions || strcmp(positions, "nope") == 0
               ? weft_decoder_check_heads(config, head, json)
               : weft_json_fail(json, WEFT_UNSUPPORTED, "position_embedding_type",
                                "\"rope\", \"nope\" or null",
                                json_object_get(json->object, "position_embedding_type"));
}

/* ---- tensors ---- */

#define SHARED "layers.#.shared_mlp.input_linear"

static const struct weft_tensor_name granite_names[] = {
    WEFT_LLAMA_ATTENTION_NAMES,
    {WEFT_NAMED("layers.#.mixer.mamba", "layers.#.mamba")},
    {WEFT_NAMED("layers.#.feed_forward.l1", SHARED), WEFT_PART(0, 2)},
    {WEFT_NAMED("layers.#.feed_forward.l2", SHARED), WEFT_PART(1, 2)},
    {WEFT_NAMED("layers.#.feed_forward.l3", "layers.#.shared_mlp.output_linear")},
    {WEFT_NAMED("layers.#.feed_forward.shared.l1", SHARED), WEFT_PART(0, 2)},
    {WEFT_NAMED("layers.#.feed_forward.shared.l2", SHARED), WEFT_PART(1, 2)},
    {WEFT_NAMED("layers.#.feed_forward.shared.l3", "layers.#.shared_mlp.output_linear")},
    {WEFT_NAMED("layers.#.feed_forward.l1", "layers.#.shared_mlp.gate_proj")}, /* GGUF files' */
    {WEFT_NAMED("layers.#.feed_forward.l2", "layers.#.shared_mlp.up_proj")},
    {WEFT_NAMED("layers.#.feed_forward.shared.l1", "layers.#.shared_mlp.gate_proj")},
    {WEFT_NAMED("layers.#.feed_forward.shared.l2", "layers.#.shared_mlp.up_proj")},
    WEFT_GRANITE_EXPERT_NAMES,
    WEFT_LLAMA_NORM_NAMES,
    {.ours = NULL}};

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const struct hybrid *hybrid = state;
    if (weft_layer_set_has(&hybrid->full, builder->layer)) {
        return weft_layout_attention(builder, x, NULL);
    }
    const size_t entered = weft_build_enter(builder, "mamba");
    x = weft_build_mamba(builder, x, &hybrid->mamba);
    weft_build_leave(builder, entered);
    return x;
}

/* ---- families ---- */

static const weft_network_config bamba_defaults = {WEFT_LLAMA_DEFAULTS_BUT_EPS, .norm_eps = 1e-5F,
                                                   .attention.kv_heads = 8};
static const weft_network_config granite_defaults = {WEFT_LLAMA_DEFAULTS};

#define FAMILY(family, type, own_stem, own_names)                                              \
    static const struct weft_layout family##_layout = {                                        \
        .stem = (own_stem),                                                                    \
        .encoder = own_stem "Model",                                                           \
        .prefix = "model.",                                                                    \
        .fields = {&weft_size_fields, &weft_act_fields, &weft_kv_fields, &weft_rms_fields,     \
                   &weft_bias_fields},                                                         \
        .defaults = &family##_defaults,                                                        \
        .read = read_##family,                                                                 \
        .check = check_##family,                                                               \
        .names = (own_names),                                                                  \
        .heads = weft_causal_heads,                                                            \
        .unused = weft_decoder_unused};                                                        \
    const struct weft_model_family weft_family_##type = {.model_type = #type,                  \
                                                         .config_size = sizeof(struct hybrid), \
                                                         WEFT_ATTENTION_PARTS,                 \
                                                         .takes_lengths = weft_family_always,  \
                                                         .recurrent = weft_family_always,      \
                                                         .mix = mix,                           \
                                                         .layout = &family##_layout};

FAMILY(bamba, bamba, "Bamba", weft_mamba_layer_names)
FAMILY(granite, granitemoehybrid, "GraniteMoeHybrid", granite_names)
