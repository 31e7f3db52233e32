/* SPDX-License-Identifier: MIT */
/*
 * Parts of the families with Toeplitz matrices: the gated Toeplitz unit and the relative position encoder (RPE), in
 * the names of TNN's public code (api/MODELS.md).
 */
#ifndef WEFT_MODEL_TOEPLITZ_FAMILY_H
#define WEFT_MODEL_TOEPLITZ_FAMILY_H

#include "model/network/family.h"
#include "model/network/position_grid.h"

#define WEFT_RPE_MOST_LAYERS 64

/** Fields of the gated Toeplitz unit; the first member of the families' structs. */
struct weft_gtu_config {
    uint32_t expand_ratio;
    weft_activation activation;
    bool norm;
    struct weft_position_grid grid; /* of two axes, or none: tokens are a sequence */
};

/** Fields of the RPE. */
struct weft_rpe_config {
    uint32_t size, layers;
    weft_activation activation;
    uint32_t norm; /* index of weft_rpe_norm_names: a weft_norm, or the one after them for none */
    bool residual;
};

extern const char *const weft_rpe_norm_names[];

/** For weft_model_family.set_defaults. */
void weft_gtu_defaults(struct weft_gtu_config *gtu);
void weft_rpe_defaults(struct weft_rpe_config *rpe);

/** e, the channels of the unit; weft_gtu_check sees to it that it fits. */
uint32_t weft_gtu_channels(const struct weft_builder *builder, const struct weft_gtu_config *gtu);

/** A Toeplitz operator: params.mixer and params.kernel say which, and those parameters that belong to it are set. */
struct weft_gtu_operator {
    weft_gtu_params params;
    weft_toeplitz_params toeplitz;
    weft_ski_toeplitz_params ski;
    weft_toeplitz_fd_params fd;
};
/** Makes a family's operator for the builder's length. The scope is the operator's: names are those behind "toep.". */
typedef void (*weft_gtu_operator_of)(struct weft_gtu_operator *made, struct weft_builder *builder,
                                     const void *config);

/**
 * The unit of a family with that operator, `config` its struct. On a grid the tokens are mixed axis by axis, T_2 T_1 x: by
 * "toep1" within each row, then by "toep2" within each column.
 */
weft_tensor weft_build_gtu(struct weft_builder *builder, weft_tensor x,
                           weft_gtu_operator_of operator_of, const void *config);

/** Checks the fields that position_grid requires; for weft_model_family.check. */
weft_status weft_gtu_check(const struct weft_gtu_config *gtu, const weft_network_config *network,
                           const weft_json_fields *json);
/** For weft_model_family.exact_length and recurrent: cells of the grid, and whether there is none. */
uint32_t weft_gtu_exact_length(const void *config);
bool weft_gtu_is_recurrent(const void *config);

/** The unit itself, or its step. */
weft_tensor weft_build_gtu_of(struct weft_builder *builder, weft_tensor x,
                              const weft_gtu_params *params);

/**
 * The length of sequences that a kernel is made for which depends on it. When the builder is decoding, all tokens have that
 * of the longest sequences, which the model's positions say.
 */
uint32_t weft_kernel_length(const struct weft_builder *builder);

/** An RPE with room for its layers; params.layers points into it, so it must stay where it is. */
struct weft_rpe {
    weft_rpe_params params;
    weft_norm_params norms[WEFT_RPE_MOST_LAYERS + 1];
    weft_rpe_layer layers[WEFT_RPE_MOST_LAYERS + 1];
};

/** The weights rpe.* of an RPE that gives so many channels. */
void weft_build_rpe(struct weft_rpe *rpe, struct weft_builder *builder,
                    const struct weft_rpe_config *config, uint32_t channels);

/* Rows of a field table for the members `gtu` and `rpe` of `type`. */
#define WEFT_FIELDS_GTU(type)                                                      \
    {WEFT_INTEGER("expand_ratio", type, gtu.expand_ratio, 1, 64)},                 \
        {WEFT_CUSTOM("gtu_act", type, gtu.activation, weft_field_activation)},     \
        {WEFT_CUSTOM("position_grid", type, gtu.grid, weft_read_position_grid)}, { \
        WEFT_BOOL("gtu_norm", type, gtu.norm)                                      \
    }

#define WEFT_FIELDS_RPE(type)                                                    \
    {WEFT_INTEGER("rpe_size", type, rpe.size, 1, 65536), .required = true},      \
        {WEFT_INTEGER("rpe_layers", type, rpe.layers, 0, WEFT_RPE_MOST_LAYERS)}, \
        {WEFT_CUSTOM("rpe_act", type, rpe.activation, weft_field_activation)},   \
        {WEFT_CHOICE("rpe_norm", type, rpe.norm, weft_rpe_norm_names)}, {        \
        WEFT_BOOL("rpe_residual", type, rpe.residual)                            \
    }

/** Names of a layer's parts, in a struct weft_model_family. */
#define WEFT_TOEPLITZ_PARTS                                                                    \
    .feed_forward = WEFT_FEED_FORWARD_GLU, .mixer = "token_mixer", .mixer_norm = "token_norm", \
    .feed_forward_name = "feature_mixer", .feed_forward_norm = "feature_norm"

#endif
