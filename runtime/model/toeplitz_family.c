/* SPDX-License-Identifier: MIT */
#include "model/toeplitz_family.h"

#include <stdio.h>

#include "model/architecture.h"
#include "model/network.h"

/* The first are those of the field `norm`, with their numbers. */
const char *const weft_rpe_norm_names[] = {"layer_norm", "rms_norm", "simple_rms_norm",
                                           "scale_norm", "none",     NULL};
#define NO_NORM (WEFT_NORM_SCALE + 1U)

/* ---- fields ---- */

void weft_gtu_defaults(struct weft_gtu_config *gtu) {
    gtu->expand_ratio = 3;
    gtu->activation = WEFT_ACTIVATION_SILU;
}

void weft_rpe_defaults(struct weft_rpe_config *rpe) {
    rpe->layers = 3;
    rpe->activation = WEFT_ACTIVATION_RELU;
    rpe->norm = WEFT_NORM_SIMPLE_RMS;
}

/* ---- the gated Toeplitz unit ---- */

uint32_t weft_gtu_channels(const struct weft_builder *builder, const struct weft_gtu_config *gtu) {
    return gtu->expand_ratio * builder->width; /* 2^22 at most */
}

weft_tensor weft_build_gtu(struct weft_builder *builder, weft_tensor x,
                           const struct weft_gtu_config *gtu, weft_gtu_params *params) {
    uint32_t d = builder->width;
    uint32_t e = weft_gtu_channels(builder, gtu);
    const struct {
        const char *weight, *bias;
        uint32_t in, out;
    } maps[] = {{"u_proj.weight", "u_proj.bias", d, e},
                {"v_proj.weight", "v_proj.bias", d, e},
                {"o.weight", "o.bias", e, d}};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        params->weight[i] =
            weft_build_weight(builder, maps[i].weight, weft_shape_of(maps[i].out, maps[i].in));
        params->bias[i] = weft_build_weight(builder, maps[i].bias, weft_shape_of(maps[i].out));
    }
    weft_norm_params norm = {0};
    if (gtu->norm) {
        weft_norm kind = (weft_norm)builder->network->config.norm;
        norm = weft_build_norm_params(builder, kind, "norm", e);
        params->norm = &norm;
    }
    params->activation = gtu->activation;
    const weft_tensor out = weft_build_gtu_of(builder, x, params);
    params->norm = NULL;
    return out;
}

/* ---- the relative position encoder ---- */

uint32_t weft_kernel_length(const struct weft_builder *builder) {
    return builder->decoding ? builder->network->config.max_positions : builder->length;
}

#define NAME_SIZE 64

/* norm, activation, linear: toep.rpe.<part>.0.* and .2.* */
static void build_layer(struct weft_rpe *rpe, struct weft_builder *builder, uint32_t index,
                        const struct weft_rpe_config *config, weft_shape shape) {
    char part[NAME_SIZE / 2];
    char name[NAME_SIZE];
    if (index < config->layers) {
        snprintf(part, sizeof part, "toep.rpe.layers.%u", index);
    } else {
        snprintf(part, sizeof part, "toep.rpe.out");
    }
    weft_rpe_layer *layer = &rpe->layers[index];
    *layer = (weft_rpe_layer){.norm = NULL};
    if (config->norm != NO_NORM) {
        snprintf(name, sizeof name, "%s.0", part);
        rpe->norms[index] =
            weft_build_norm_params(builder, (weft_norm)config->norm, name, config->size);
        layer->norm = &rpe->norms[index];
    }
    snprintf(name, sizeof name, "%s.2.weight", part);
    layer->weight = weft_build_weight(builder, name, shape);
    snprintf(name, sizeof name, "%s.2.bias", part);
    layer->bias = weft_build_weight(builder, name, weft_shape_of(shape.dim[0]));
}

void weft_build_rpe(struct weft_rpe *rpe, struct weft_builder *builder,
                    const struct weft_rpe_config *config, uint32_t channels) {
    uint32_t size = config->size;
    rpe->params = (weft_rpe_params){.layers = rpe->layers,
                                    .layer_count = config->layers + 1,
                                    .activation = config->activation,
                                    .residual = config->residual};
    rpe->params.weight =
        weft_build_weight(builder, "toep.rpe.pos_proj.weight", weft_shape_of(size, 1));
    rpe->params.bias = weft_build_weight(builder, "toep.rpe.pos_proj.bias", weft_shape_of(size));
    for (uint32_t i = 0; i <= config->layers; i++) {
        bool last = i == config->layers;
        build_layer(rpe, builder, i, config, weft_shape_of(last ? channels : size, size));
    }
}
