/* SPDX-License-Identifier: MIT */
/*
 * Mamba in the layout of transformers: Gu and Dao, "Mamba: Linear-time sequence modeling with selective state spaces", 2023, section 3.4.
 * Layers of its mixer alone, without a feed-forward. Falcon-Mamba (Zuo et al., 2024) has norms of B, C and the steps besides.
 */
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/gated_mixer.h"
#include "model/network/mamba_layout.h"
#include "model/network/network.h"

#define MOST_CHANNELS (1 << 22)

struct mamba {
    uint32_t channels; /* of the scan */
    uint32_t states;   /* of a channel */
    uint32_t rank;     /* of the map that makes the steps */
    uint32_t taps;
    bool bias, filter_bias;
    bool normed; /* B, C and the steps */
    float epsilon;
};

/* ---- config.json ---- */

static const weft_field own_fields[] = {
    {WEFT_INTEGER("state_size", struct mamba, states, 1, WEFT_MAX_SELECTIVE_SCAN_STATES)},
    {WEFT_INTEGER("conv_kernel", struct mamba, taps, 1, 1024)},
    {WEFT_BOOL("use_bias", struct mamba, bias)},
    {WEFT_BOOL("use_conv_bias", struct mamba, filter_bias)},
};
static const weft_field_table own_table = {own_fields, sizeof own_fields / sizeof own_fields[0]};

/* A number, or "auto", which a missing one is, too: a sixteenth of the channels. */
static weft_status read_rank(struct mamba *mamba, uint32_t hidden, const weft_json_fields *json) {
    static const char name[] = "time_step_rank";
    const json_t *given = json_object_get(json->object, name);
    int64_t rank = (hidden + 15) / 16;
    if (!json_is_string(given) || strcmp(json_string_value(given), "auto") != 0) {
        WEFT_TRY(weft_json_optional_integer(&rank, json, name, 1, 65536));
    }
    mamba->rank = (uint32_t)rank;
    return WEFT_OK;
}

/* intermediate_size, which stands above expand as in transformers: published files have an expand that nothing is made by. */
static weft_status read_channels(struct mamba *mamba, uint32_t hidden,
                                 const weft_json_fields *json) {
    int64_t expand = 2;
    WEFT_TRY(weft_json_optional_integer(&expand, json, "expand", 1, 65536));
    int64_t channels = expand * hidden;
    WEFT_TRY(weft_json_optional_integer(&channels, json, "intermediate_size", 1, MOST_CHANNELS));
    mamba->channels = (uint32_t)channels;
    return channels <= MOST_CHANNELS
               ? WEFT_OK
               : weft_fields_refuse(json, "expand", "fewer: the mixer has too many channels");
}

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    struct mamba *mamba = state;
    *mamba = (struct mamba){.states = 16, .taps = 4, .filter_bias = true};
    WEFT_TRY(weft_fields_read(mamba, &own_table, json));
    WEFT_TRY(read_channels(mamba, config->hidden_size, json));
    return read_rank(mamba, config->hidden_size, json);
}

static weft_status read_falcon(void *state, weft_network_config *config,
                               const weft_json_fields *json) {
    struct mamba *mamba = state;
    WEFT_TRY(read(state, config, json));
    mamba->normed = true;
    return weft_decoder_read_real(&mamba->epsilon, 1e-6, 0.0, json, "mixer_rms_eps");
}

/* ---- the mixer ---- */

/* -exp(A_log), with channels side by side as the op has them: weights, which are computed once. */
static weft_tensor rates_of(struct weft_builder *builder, const struct mamba *mamba) {
    weft_tensor a =
        weft_build_weight(builder, "A_log", weft_shape_of(mamba->channels, mamba->states));
    a = weft_build_permute(builder, a, weft_shape_of(1, 0));
    a = weft_build_activate(builder, a, WEFT_ACTIVATION_EXP);
    return weft_build_affine(builder, a, -1.0F, 0.0F);
}

/* `count` channels of x from `first` on, perhaps as far from 0 as others: a norm without a weight. */
static weft_tensor take(struct weft_builder *builder, weft_tensor x, const struct mamba *mamba,
                        uint32_t first, uint32_t count) {
    x = weft_build_channels(builder, x, first, count);
    return mamba->normed
               ? weft_build_part_norm(builder, x,
                                      &(struct weft_part_norm){
                                          .channels = count, .parts = 1, .epsilon = mamba->epsilon})
               : x;
}

/* The scan of x, whose steps, B and C are made of x itself. */
static weft_tensor scan(struct weft_builder *builder, weft_tensor x, const struct mamba *mamba) {
    const uint32_t rank = mamba->rank;
    const uint32_t states = mamba->states;
    weft_tensor all =
        weft_build_map(builder, x, "x_proj", mamba->channels, rank + 2 * states, false);
    weft_tensor delta = take(builder, all, mamba, 0, rank);
    delta = weft_build_map(builder, delta, "dt_proj", rank, mamba->channels, true);
    delta = weft_build_unary(builder, WEFT_UNARY_SOFTPLUS, delta);
    const weft_selective_scan_params params = {
        .skip = weft_build_weight(builder, "D", weft_shape_of(mamba->channels))};
    return weft_build_selective_scan(builder, x, delta, rates_of(builder, mamba),
                                     take(builder, all, mamba, rank, states),
                                     take(builder, all, mamba, rank + states, states), &params);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const struct mamba *mamba = state;
    const uint32_t channels = mamba->channels;
    weft_tensor all =
        weft_build_map(builder, x, "in_proj", builder->width, 2 * channels, mamba->bias);
    x = weft_build_channels(builder, all, 0, channels);
    x = weft_build_short_filter(builder, x, "conv1d", channels, mamba->taps, mamba->filter_bias);
    x = weft_build_activate(builder, x, builder->network->config.activation);
    x = scan(builder, x, mamba);
    weft_tensor z = weft_build_channels(builder, all, channels, channels);
    z = weft_build_activate(builder, z, WEFT_ACTIVATION_SILU);
    x = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x, z);
    return weft_build_map(builder, x, "out_proj", channels, builder->width, mamba->bias);
}

/* ---- layouts ---- */

static const weft_network_config defaults = {WEFT_MAMBA_DEFAULTS, .tie_word_embeddings = true};

static const struct weft_layout layout = {WEFT_MAMBA_LAYOUT("Mamba"), .defaults = &defaults,
                                          .read = read};

const struct weft_model_family weft_family_mamba = {
    WEFT_MAMBA_FAMILY("mamba"), .config_size = sizeof(struct mamba), .mix = mix, .layout = &layout};

static const struct weft_layout falcon_layout = {WEFT_MAMBA_LAYOUT("FalconMamba"),
                                                 .defaults = &defaults, .read = read_falcon};

const struct weft_model_family weft_family_falcon_mamba = {WEFT_MAMBA_FAMILY("falcon_mamba"),
                                                           .config_size = sizeof(struct mamba),
                                                           .mix = mix, .layout = &falcon_layout};
