/* SPDX-License-Identifier: MIT */
#include "model/network/toeplitz_family.h"

#include <stdio.h>

#include <weft/movement.h>

#include "model/network/architecture.h"
#include "model/network/network.h"

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

/* u, v and o of GTU, in the order of weft_gtu_params.weight. */
static void build_maps(weft_gtu_params *params, struct weft_builder *builder, uint32_t e) {
    const uint32_t d = builder->width;
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
}

static void make_operator(struct weft_gtu_operator *made, struct weft_builder *builder,
                          const char *name, weft_gtu_operator_of operator_of, const void *config) {
    const size_t scope = weft_build_enter(builder, name);
    *made = (struct weft_gtu_operator){.toeplitz = {.causal = false}};
    operator_of(made, builder, config);
    weft_build_leave(builder, scope);
}

static weft_tensor sequence_gtu(struct weft_builder *builder, weft_tensor x,
                                weft_gtu_operator_of operator_of, const void *config) {
    const struct weft_gtu_config *gtu = config;
    struct weft_gtu_operator made;
    make_operator(&made, builder, "toep", operator_of, config);
    const uint32_t e = weft_gtu_channels(builder, gtu);
    build_maps(&made.params, builder, e);
    weft_norm_params norm = {0};
    if (gtu->norm) {
        weft_norm kind = (weft_norm)builder->network->config.norm;
        norm = weft_build_norm_params(builder, kind, "norm", e);
        made.params.norm = &norm;
    }
    made.params.activation = gtu->activation;
    return weft_build_gtu_of(builder, x, &made.params);
}

/* ---- axis by axis ---- */

static weft_tensor apply(struct weft_builder *builder, weft_tensor x,
                         const struct weft_gtu_operator *made) {
    weft_graph *graph = builder->graph;
    weft_tensor out = {0};
    switch (made->params.mixer) {
    case WEFT_GTU_SKI:
        return WEFT_BUILT(builder, out, weft_graph_ski_toeplitz(&out, graph, x, &made->ski));
    case WEFT_GTU_FD:
        return WEFT_BUILT(builder, out,
                          weft_graph_toeplitz_fd(&out, graph, x, made->params.kernel, &made->fd));
    default:
        return WEFT_BUILT(
            builder, out,
            weft_graph_toeplitz(&out, graph, x, made->params.kernel, &made->toeplitz));
    }
}

/* x [B, lines, n, e], mixed within each line. */
static weft_tensor mix_lines(struct weft_builder *builder, weft_tensor x, const uint32_t shape[2],
                             const char *name, weft_gtu_operator_of operator_of,
                             const void *config) {
    const uint32_t batch = builder->batch;
    const uint32_t length = builder->length;
    const uint32_t e = weft_gtu_channels(builder, config);
    struct weft_gtu_operator made;
    builder->batch = batch * shape[0];
    builder->length = shape[1];
    make_operator(&made, builder, name, operator_of, config);
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, shape[1], e));
    x = apply(builder, x, &made);
    builder->batch = batch;
    builder->length = length;
    return weft_build_reshape(builder, x, weft_shape_of(batch, shape[0], shape[1], e));
}

static weft_tensor exchange_axes(struct weft_builder *builder, weft_tensor x) {
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out,
                      weft_graph_permute(&out, builder->graph, x, weft_shape_of(0, 2, 1, 3)));
}

static weft_tensor axial_gtu(struct weft_builder *builder, weft_tensor x,
                             weft_gtu_operator_of operator_of, const void *config) {
    const struct weft_gtu_config *gtu = config;
    const uint32_t d = builder->width;
    const uint32_t e = weft_gtu_channels(builder, gtu);
    const uint32_t rows[2] = {gtu->grid.size[0], gtu->grid.size[1]};
    const uint32_t columns[2] = {rows[1], rows[0]};
    weft_tensor u = weft_build_linear(builder, x, "u_proj", d, e);
    weft_tensor v = weft_build_linear(builder, x, "v_proj", d, e);
    u = weft_build_activate(builder, u, gtu->activation);
    v = weft_build_activate(builder, v, gtu->activation);
    v = mix_lines(builder, v, rows, "toep1", operator_of, config);
    v = exchange_axes(builder, v);
    v = mix_lines(builder, v, columns, "toep2", operator_of, config);
    v = exchange_axes(builder, v);
    v = weft_build_reshape(builder, v, weft_shape_of(builder->batch, builder->length, e));
    x = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, u, v);
    x = gtu->norm ? weft_build_norm(builder, x, "norm", e) : x;
    return weft_build_linear(builder, x, "o", e, d);
}

weft_tensor weft_build_gtu(struct weft_builder *builder, weft_tensor x,
                           weft_gtu_operator_of operator_of, const void *config) {
    const struct weft_gtu_config *gtu = config;
    return gtu->grid.axes > 0 ? axial_gtu(builder, x, operator_of, config)
                              : sequence_gtu(builder, x, operator_of, config);
}

weft_status weft_gtu_check(const struct weft_gtu_config *gtu, const weft_network_config *network,
                           const weft_json_fields *json) {
    if (gtu->grid.axes == 0) {
        return WEFT_OK;
    }
    if (gtu->grid.axes != 2) {
        return weft_fields_refuse(json, "position_grid", "2 integers, rows and columns");
    }
    if (network->causal) {
        return weft_fields_refuse(json, "position_grid", "nothing, as the model is causal");
    }
    return weft_position_grid_check(&gtu->grid, network, json);
}

uint32_t weft_gtu_exact_length(const void *config) {
    return weft_position_grid_cells(&((const struct weft_gtu_config *)config)->grid);
}

bool weft_gtu_is_recurrent(const void *config) {
    return ((const struct weft_gtu_config *)config)->grid.axes == 0;
}

/* ---- the relative position encoder ---- */

uint32_t weft_kernel_length(const struct weft_builder *builder) {
    return builder->decoding ? builder->network->config.max_positions : builder->length;
}

#define NAME_SIZE 64

/* norm, activation, linear: rpe.<part>.0.* and .2.* */
static void build_layer(struct weft_rpe *rpe, struct weft_builder *builder, uint32_t index,
                        const struct weft_rpe_config *config, weft_shape shape) {
    char part[NAME_SIZE / 2];
    char name[NAME_SIZE];
    if (index < config->layers) {
        snprintf(part, sizeof part, "rpe.layers.%u", index);
    } else {
        snprintf(part, sizeof part, "rpe.out");
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
    rpe->params.weight = weft_build_weight(builder, "rpe.pos_proj.weight", weft_shape_of(size, 1));
    rpe->params.bias = weft_build_weight(builder, "rpe.pos_proj.bias", weft_shape_of(size));
    for (uint32_t i = 0; i <= config->layers; i++) {
        bool last = i == config->layers;
        build_layer(rpe, builder, i, config, weft_shape_of(last ? channels : size, size));
    }
}
