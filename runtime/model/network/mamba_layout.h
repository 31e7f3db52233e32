/* SPDX-License-Identifier: MIT */
/* What the folders of Mamba, Falcon-Mamba and Mamba-2 have alike: layers of a mixer alone, without a feed-forward. */
#ifndef WEFT_MODEL_MAMBA_LAYOUT_H
#define WEFT_MODEL_MAMBA_LAYOUT_H

#include "model/network/decoder_layout.h"
#include "model/network/family.h"

/** Sizes under the names that they have there. */
extern const weft_field_table weft_mamba_fields;
extern const struct weft_tensor_name weft_mamba_names[];

/** Members of a weft_network_config. A state has one size however long the text is, and so config.json says nothing of a longest one. */
#define WEFT_MAMBA_DEFAULTS                                                       \
    .norm = WEFT_NORM_RMS, .norm_eps = 1e-5F, .activation = WEFT_ACTIVATION_SILU, \
    .pooling = WEFT_POOLING_LAST, .max_positions = 1 << 24, .causal = true

/** Members of a struct weft_layout. */
#define WEFT_MAMBA_LAYOUT(name)                                                  \
    .stem = (name), .encoder = name "Model", .prefix = "backbone.",              \
    .fields = {&weft_mamba_fields, &weft_act_fields}, .names = weft_mamba_names, \
    .heads = weft_causal_heads

/** Members of a struct weft_model_family. */
#define WEFT_MAMBA_FAMILY(type)                                         \
    .model_type = (type), .mixer = "mixer", .mixer_norm = "mixer_norm", \
    .takes_lengths = weft_family_always, .recurrent = weft_family_always

#endif
