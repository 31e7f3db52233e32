/* SPDX-License-Identifier: MIT */
#include "model/network/mamba_mixer.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/try.h"
#include "model/network/network.h"

#define MOST_CHANNELS (1U << 24) /* of a mixer's first map */

/* ---- config.json ---- */

/* A number; transformers 5 writes {"__float__": "Infinity"} for one without bound. */
static bool read_limit(float *limit, const json_t *entry) {
    const json_t *word = json_object_get(entry, "__float__");
    if (json_is_string(word) && strcmp(json_string_value(word), "Infinity") == 0) {
        *limit = INFINITY;
        return true;
    }
    const double number = json_number_value(entry); /* 0 where it is none */
    *limit = number > (double)FLT_MAX ? INFINITY : (float)number;
    return json_is_number(entry) && number >= 0.0;
}

/* Two numbers, of which the second may be without bound; null: from 0 on. */
static weft_status read_limits(struct weft_mamba *mamba, const weft_json_fields *json) {
    static const char name[] = "time_step_limit";
    const json_t *list = json_object_get(json->object, name);
    mamba->least = 0.0F;
    mamba->most = INFINITY;
    if (!weft_json_has(json, name)) {
        return WEFT_OK;
    }
    const bool is_read = json_is_array(list) && json_array_size(list) == 2 &&
                         read_limit(&mamba->least, json_array_get(list, 0)) &&
                         read_limit(&mamba->most, json_array_get(list, 1));
    return is_read && isfinite(mamba->least) && mamba->least <= mamba->most
               ? WEFT_OK
               : weft_fields_refuse(json, name, "two numbers from 0 on, the larger one behind");
}

/* Channels behind the first map. */
static uint64_t channels_of(const struct weft_mamba *mamba) {
    const uint64_t inner = (uint64_t)mamba->heads * mamba->head_size;
    return 2 * inner + 2 * (uint64_t)mamba->groups * mamba->state_size + mamba->heads;
}

weft_status weft_mamba_check(struct weft_mamba *mamba, const struct weft_mamba_names *names,
                             const weft_json_fields *json) {
    WEFT_TRY(read_limits(mamba, json));
    if (mamba->heads % mamba->groups != 0) {
        return weft_fields_refuse(json, names->groups, "a divisor of the number of heads");
    }
    return channels_of(mamba) <= MOST_CHANNELS
               ? WEFT_OK
               : weft_fields_refuse(json, names->heads, "fewer heads: they have too many channels");
}

static const weft_field hybrid_fields[] = {
    {WEFT_INTEGER("mamba_n_heads", struct weft_mamba, heads, 1, 65536)},
    {WEFT_INTEGER("mamba_n_groups", struct weft_mamba, groups, 1, 65536)},
    {WEFT_INTEGER("mamba_d_state", struct weft_mamba, state_size, 1, WEFT_MAX_GATED_STATE_ROWS)},
    {WEFT_INTEGER("mamba_d_conv", struct weft_mamba, taps, 1, 1024)},
    {WEFT_BOOL("mamba_proj_bias", struct weft_mamba, bias)},
    {WEFT_BOOL("mamba_conv_bias", struct weft_mamba, filter_bias)},
};
static const weft_field_table hybrid_table = {hybrid_fields,
                                              sizeof hybrid_fields / sizeof hybrid_fields[0]};

/* mamba_d_head, which may be missing or "auto": all heads together have the channels. */
static weft_status read_head_size(struct weft_mamba *mamba, int64_t channels,
                                  const weft_json_fields *json) {
    const json_t *given = json_object_get(json->object, "mamba_d_head");
    const bool is_auto = json_is_string(given) && strcmp(json_string_value(given), "auto") == 0;
    int64_t size = channels / mamba->heads;
    if (!is_auto) {
        WEFT_TRY(weft_json_optional_integer(&size, json, "mamba_d_head", 1, 1 << 24));
    }
    mamba->head_size = (uint32_t)size;
    return size * mamba->heads == channels
               ? WEFT_OK
               : weft_fields_refuse(json, "mamba_n_heads",
                                    "with mamba_d_head as many channels as the states have");
}

weft_status weft_mamba_read(struct weft_mamba *mamba, uint32_t channels,
                            const weft_network_config *config, const weft_json_fields *json) {
    static const struct weft_mamba_names names = {"mamba_n_heads", "mamba_n_groups"};
    int64_t expand = 2;
    *mamba = (struct weft_mamba){
        .heads = 128, .groups = 1, .state_size = 256, .taps = 4, .filter_bias = true};
    WEFT_TRY(weft_fields_read(mamba, &hybrid_table, json));
    WEFT_TRY(weft_json_optional_integer(&expand, json, "mamba_expand", 1, 65536));
    WEFT_TRY(read_head_size(mamba, channels != 0 ? channels : expand * config->hidden_size, json));
    mamba->out_bias = mamba->bias;
    return weft_mamba_check(mamba, &names, json);
}

/* ---- building ---- */

/* The parts of what the first map makes, and where they begin. */
enum part { Z, X, B, C, DT, PARTS };

static void find_parts(uint32_t first[PARTS + 1], const struct weft_mamba *mamba) {
    const uint32_t inner = mamba->heads * mamba->head_size;
    const uint32_t keys = mamba->groups * mamba->state_size;
    const uint32_t size[PARTS] = {
        [Z] = inner, [X] = inner, [B] = keys, [C] = keys, [DT] = mamba->heads};
    first[0] = 0;
    for (uint32_t i = 0; i < PARTS; i++) {
        first[i + 1] = first[i] + size[i];
    }
}

struct factors {
    const struct weft_mamba *mamba;
    uint32_t first[PARTS + 1];
};

static weft_status fill_factors(float *data, const void *user, const weft_host *host) {
    const struct factors *factors = user;
    (void)host;
    for (uint32_t part = 0; part < PARTS; part++) {
        for (uint32_t i = factors->first[part]; i < factors->first[part + 1]; i++) {
            data[i] = factors->mamba->factors[part];
        }
    }
    return WEFT_OK;
}

static weft_tensor first_map(struct weft_builder *builder, weft_tensor x,
                             const struct weft_mamba *mamba, const uint32_t first[PARTS + 1]) {
    struct factors factors = {.mamba = mamba};
    memcpy(factors.first, first, sizeof factors.first);
    x = weft_build_scale(builder, x, mamba->in_factor);
    x = weft_build_map(builder, x, "in_proj", builder->width, first[PARTS], mamba->bias);
    return mamba->factors[Z] == 0.0F
               ? x
               : weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x,
                                   weft_build_constant(builder, "factors",
                                                       weft_shape_of(first[PARTS]), fill_factors,
                                                       &factors));
}

/* y + D x, D of each head. */
static weft_tensor add_skipped(struct weft_builder *builder, weft_tensor y, weft_tensor x,
                               const struct weft_mamba *mamba) {
    const uint32_t heads = mamba->heads;
    const uint32_t size = mamba->head_size;
    weft_tensor factor = weft_build_weight(builder, "D", weft_shape_of(heads));
    factor = weft_build_reshape(builder, factor, weft_shape_of(heads, 1));
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, builder->length, heads, size));
    x = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x, factor);
    x = weft_build_reshape(builder, x,
                           weft_shape_of(builder->batch, builder->length, heads * size));
    return weft_build_binary(builder, WEFT_BINARY_ADD, y, x);
}

static weft_tensor norm(struct weft_builder *builder, weft_tensor y,
                        const struct weft_mamba *mamba) {
    const uint32_t channels = mamba->heads * mamba->head_size;
    return weft_build_part_norm(
        builder, y,
        &(struct weft_part_norm){
            .weight = weft_build_weight(builder, "norm.weight", weft_shape_of(channels)),
            .channels = channels,
            .parts = mamba->gate == WEFT_MAMBA_GATE_THEN_ONE_NORM ? 1 : mamba->groups,
            .epsilon = builder->network->config.norm_eps});
}

static weft_tensor gate(struct weft_builder *builder, weft_tensor y, weft_tensor z,
                        const struct weft_mamba *mamba) {
    z = weft_build_activate(builder, z, WEFT_ACTIVATION_SILU);
    y = mamba->gate == WEFT_MAMBA_NORM_THEN_GATE ? norm(builder, y, mamba) : y;
    y = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, y, z);
    return mamba->gate == WEFT_MAMBA_GATE || mamba->gate == WEFT_MAMBA_NORM_THEN_GATE
               ? y
               : norm(builder, y, mamba);
}

/* The part of what the short filter has gone through. */
static weft_tensor take(struct weft_builder *builder, weft_tensor filtered,
                        const uint32_t first[PARTS + 1], enum part part) {
    return weft_build_channels(builder, filtered, first[part] - first[X],
                               first[part + 1] - first[part]);
}

weft_tensor weft_build_mamba(struct weft_builder *builder, weft_tensor x,
                             const struct weft_mamba *mamba) {
    uint32_t first[PARTS + 1];
    weft_tensor step = {0};
    find_parts(first, mamba);
    const uint32_t filtered = first[DT] - first[X];
    weft_tensor all = first_map(builder, x, mamba, first);
    weft_tensor xbc = weft_build_channels(builder, all, first[X], filtered);
    xbc =
        weft_build_short_filter(builder, xbc, "conv1d", filtered, mamba->taps, mamba->filter_bias);
    xbc = weft_build_activate(builder, xbc, builder->network->config.activation);
    weft_tensor dt = weft_build_channels(builder, all, first[DT], mamba->heads);
    weft_tensor decay =
        weft_build_step_decay(builder, &step, dt, mamba->heads, mamba->least, mamba->most);
    weft_tensor values = take(builder, xbc, first, X);
    const weft_gated_state_params params = {.heads = mamba->heads,
                                            .q_heads = mamba->groups,
                                            .k_heads = mamba->groups,
                                            .decay = decay,
                                            .beta = step};
    weft_tensor y = weft_build_gated_state(builder, take(builder, xbc, first, C),
                                           take(builder, xbc, first, B), values, &params);
    y = add_skipped(builder, y, values, mamba);
    y = gate(builder, y, weft_build_channels(builder, all, first[Z], first[X]), mamba);
    return weft_build_map(builder, y, "out_proj", mamba->heads * mamba->head_size, builder->width,
                          mamba->out_bias);
}
