/* SPDX-License-Identifier: MIT */
/* Mamba-2 in the layout of transformers: layers of its mixer alone, without a feed-forward. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/mamba_layout.h"
#include "model/network/mamba_mixer.h"

/* ---- config.json ---- */

static const weft_field own_fields[] = {
    {WEFT_INTEGER("num_heads", struct weft_mamba, heads, 1, 65536), .required = true},
    {WEFT_INTEGER("head_dim", struct weft_mamba, head_size, 1, 65536), .required = true},
    {WEFT_INTEGER("state_size", struct weft_mamba, state_size, 1, WEFT_MAX_GATED_STATE_ROWS),
     .required = true},
    {WEFT_INTEGER("n_groups", struct weft_mamba, groups, 1, 65536), .required = true},
    {WEFT_INTEGER("conv_kernel", struct weft_mamba, taps, 1, 1024)},
    {WEFT_BOOL("use_bias", struct weft_mamba, bias)},
    {WEFT_BOOL("use_conv_bias", struct weft_mamba, filter_bias)},
};
static const weft_field_table own_table = {own_fields, sizeof own_fields / sizeof own_fields[0]};

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    static const struct weft_mamba_names size_names = {"num_heads", "n_groups"};
    struct weft_mamba *mamba = state;
    int64_t expand = 2;
    *mamba = (struct weft_mamba){.taps = 4, .filter_bias = true};
    WEFT_TRY(weft_fields_read(mamba, &own_table, json));
    WEFT_TRY(weft_json_optional_integer(&expand, json, "expand", 1, 65536));
    if ((int64_t)mamba->heads * mamba->head_size != expand * config->hidden_size) {
        return weft_fields_refuse(json, "num_heads",
                                  "with head_dim as many channels as expand times hidden_size");
    }
    mamba->out_bias = mamba->bias;
    return weft_mamba_check(mamba, &size_names, json);
}

/* ---- the layout ---- */

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    return weft_build_mamba(builder, x, state);
}

static const weft_network_config defaults = {WEFT_MAMBA_DEFAULTS};

static const struct weft_layout layout = {WEFT_MAMBA_LAYOUT("Mamba2"), .defaults = &defaults,
                                          .read = read};

const struct weft_model_family weft_family_mamba2 = {WEFT_MAMBA_FAMILY("mamba2"),
                                                     .config_size = sizeof(struct weft_mamba),
                                                     .mix = mix, .layout = &layout};
