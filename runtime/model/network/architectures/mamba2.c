/* SPDX-License-Identifier: MIT */
/* Mamba-2 in the layout of transformers: layers of its mixer alone, without a feed-forward. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/mamba_mixer.h"

/* ---- config.json ---- */

static const weft_field network_fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, 1 << 24), .required = true},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("num_hidden_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS),
     .required = true},
    {WEFT_REAL("layer_norm_epsilon", weft_network_config, norm_eps, 0, 1)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
};
static const weft_field_table network_table = {network_fields,
                                               sizeof network_fields / sizeof network_fields[0]};

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

/* ---- tensors ---- */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings")},
    {WEFT_NAMED("embeddings.tokens", "embedding")}, /* in the first files */
    {WEFT_NAMED("layers.#.mixer", "layers.#.mixer")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.norm")},
    {WEFT_NAMED("norm", "norm_f")},
    {.ours = NULL}};

/* A state has one size however long the text is, and so the config says nothing of a longest one. */
static const weft_network_config defaults = {.norm = WEFT_NORM_RMS,
                                             .norm_eps = 1e-5F,
                                             .activation = WEFT_ACTIVATION_SILU,
                                             .pooling = WEFT_POOLING_LAST,
                                             .max_positions = 1 << 24,
                                             .causal = true};

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    return weft_build_mamba(builder, x, state);
}

static const struct weft_layout layout = {.stem = "Mamba2",
                                          .encoder = "Mamba2Model",
                                          .prefix = "backbone.",
                                          .fields = {&network_table, &weft_act_fields},
                                          .defaults = &defaults,
                                          .read = read,
                                          .names = names,
                                          .heads = weft_causal_heads};

const struct weft_model_family weft_family_mamba2 = {.model_type = "mamba2",
                                                     .config_size = sizeof(struct weft_mamba),
                                                     .mixer = "mixer",
                                                     .mixer_norm = "mixer_norm",
                                                     .takes_lengths = weft_family_always,
                                                     .recurrent = weft_family_always,
                                                     .mix = mix,
                                                     .layout = &layout};
