/* SPDX-License-Identifier: MIT */
/*
 * Relative positions by random Fourier features: Choromanski et al., "Learning a Fourier transform for linear relative
 * positional encodings in transformers", 2024. Positions are token numbers, the indices of a grid, or an input.
 */
#include <float.h>
#include <stdio.h>

#include "model/network/architecture.h"
#include "model/network/network.h"
#include "model/network/position_grid.h"

#include "core/try.h"

enum { POSITIONS_INDEX, POSITIONS_GRID, POSITIONS_INPUT };
static const char *const position_names[] = {"index", "grid", "input", NULL};

enum { KERNEL_SOFTMAX, KERNEL_RELU, KERNEL_ELU1 };
static const char *const kernel_names[] = {"softmax", "relu", "elu1", NULL};

struct flt {
    uint32_t heads;
    uint32_t position_features;     /* r */
    uint32_t positions;             /* POSITIONS_… */
    struct weft_position_grid grid; /* with POSITIONS_GRID alone */
    uint32_t position_size;         /* l of an input */
    bool phases;                    /* weights are complex */
    uint32_t kernel;                /* KERNEL_… */
    uint32_t features;              /* m; 0: a map without a projection */
    float feature_eps, attention_eps;
};

/* ---- config.json ---- */

static const weft_field fields[] = {
    WEFT_FIELD_HEADS(struct flt, heads),
    {WEFT_INTEGER("position_features", struct flt, position_features, 1, 65536), .required = true},
    {WEFT_CHOICE("positions", struct flt, positions, position_names)},
    {WEFT_CUSTOM("position_grid", struct flt, grid, weft_read_position_grid)},
    {WEFT_INTEGER("position_size", struct flt, position_size, 1, 16)},
    {WEFT_BOOL("position_phases", struct flt, phases)},
    {WEFT_CHOICE("kernel", struct flt, kernel, kernel_names)},
    {WEFT_INTEGER("num_features", struct flt, features, 1, 1048576)},
    {WEFT_REAL("feature_eps", struct flt, feature_eps, 0, FLT_MAX)},
    {WEFT_REAL("attention_eps", struct flt, attention_eps, 0, FLT_MAX)},
};

static void set_defaults(void *config) {
    ((struct flt *)config)->feature_eps = 1e-6F;
}

/* The sequence's length on a grid; otherwise 0. */
static uint32_t exact_length(const void *config) {
    return weft_position_grid_cells(&((const struct flt *)config)->grid);
}

static uint32_t position_size(const void *config) {
    const struct flt *flt = config;
    return flt->positions == POSITIONS_INPUT ? flt->position_size : 0;
}

/* A field that goes with one choice of another: required with that choice, refused without it. */
static weft_status check_pair(const weft_json_fields *json, const char *name, bool wanted,
                              const char *reason) {
    bool given = weft_json_has(json, name);
    if (given == wanted) {
        return WEFT_OK;
    }
    char expected[80];
    snprintf(expected, sizeof expected, "%s %s", wanted ? "a value, as" : "nothing, as", reason);
    return weft_fields_refuse(json, name, expected);
}

static weft_status check_positions(const struct flt *flt, const weft_json_fields *json) {
    static const char *const reasons[] = {"positions is index", "positions is grid",
                                          "positions is input"};
    const char *reason = reasons[flt->positions];
    WEFT_TRY(check_pair(json, "position_grid", flt->positions == POSITIONS_GRID, reason));
    return check_pair(json, "position_size", flt->positions == POSITIONS_INPUT, reason);
}

static weft_status check(void *config, const weft_network_config *network,
                         const weft_json_fields *json) {
    const struct flt *flt = config;
    WEFT_TRY(check_positions(flt, json));
    WEFT_TRY(weft_position_grid_check(&flt->grid, network, json));
    return flt->kernel == KERNEL_SOFTMAX
               ? check_pair(json, "num_features", true, "kernel is softmax")
               : WEFT_OK;
}

/* It can run token by token only if a token's position is its number. */
static bool is_recurrent(const void *config) {
    return ((const struct flt *)config)->positions == POSITIONS_INDEX;
}

/* A grid has as many tokens as it has cells. */
static bool takes_lengths(const void *config) {
    return ((const struct flt *)config)->positions != POSITIONS_GRID;
}

/* ---- the mixer ---- */

/* The index of each cell along each axis, [n, axes], row-major. */
static weft_status fill_grid(float *data, const void *user, const weft_host *host) {
    (void)host;
    const struct flt *flt = user;
    uint32_t cells = exact_length(flt);
    for (uint32_t cell = 0; cell < cells; cell++) {
        uint32_t rest = cell;
        for (uint32_t axis = flt->grid.axes; axis-- > 0; rest /= flt->grid.size[axis]) {
            data[(size_t)cell * flt->grid.axes + axis] = (float)(rest % flt->grid.size[axis]);
        }
    }
    return WEFT_OK;
}

/* Positions as weft_graph_flt_features takes them; none stands for the token's number. *axes is l. */
static weft_tensor positions_of(struct weft_builder *builder, const struct flt *flt,
                                uint32_t *axes) {
    if (flt->positions == POSITIONS_GRID) {
        *axes = flt->grid.axes;
        return weft_build_constant(builder, "positions.grid",
                                   weft_shape_of(exact_length(flt), flt->grid.axes), fill_grid,
                                   flt);
    }
    if (flt->positions == POSITIONS_INPUT) {
        *axes = flt->position_size;
        return builder->positions;
    }
    *axes = 1;
    return weft_build_position_number(builder);
}

static weft_tensor add_positions(struct weft_builder *builder, weft_tensor x,
                                 weft_tensor frequencies, weft_tensor weights,
                                 const weft_flt_features_params *params) {
    weft_tensor out = {0};
    return WEFT_BUILT(
        builder, out,
        weft_graph_flt_features(&out, builder->graph, x, frequencies, weights, params));
}

/* Queries and keys, with the features of the positions appended to each head's channels. */
static struct weft_qkv with_positions(struct weft_builder *builder, const struct weft_qkv *qkv,
                                      const struct flt *flt) {
    uint32_t axes = 0;
    weft_flt_features_params params = {.heads = flt->heads};
    params.positions = positions_of(builder, flt, &axes);
    weft_tensor frequencies = weft_build_weight(
        builder, "positions.frequencies", weft_shape_of(flt->heads, flt->position_features, axes));
    weft_tensor weights = weft_build_weight(builder, "positions.weights",
                                            weft_shape_of(flt->heads, flt->position_features));
    struct weft_qkv result = {.value = qkv->value};
    params.side = WEFT_FLT_QUERY;
    if (flt->phases) {
        params.phases = weft_build_weight(builder, "positions.phases",
                                          weft_shape_of(flt->heads, flt->position_features));
    }
    result.query = add_positions(builder, qkv->query, frequencies, weights, &params);
    params.phases = (weft_tensor){0};
    params.side = WEFT_FLT_KEY;
    result.key = add_positions(builder, qkv->key, frequencies, weights, &params);
    return result;
}

/* Channels of a head's lengthened queries and keys. */
static uint32_t channels_of(const struct weft_builder *builder, const struct flt *flt) {
    return builder->width / flt->heads + 2 * flt->position_features;
}

static weft_tensor feature_weight(struct weft_builder *builder, const struct flt *flt) {
    return weft_build_weight(builder, "features.weight",
                             weft_shape_of(flt->features, channels_of(builder, flt)));
}

/* The softmax kernel, approximated by positive features of the lengthened queries and keys. */
static weft_tensor attend_softmax(struct weft_builder *builder, const struct weft_qkv *qkv,
                                  const struct flt *flt) {
    weft_tensor w = feature_weight(builder, flt);
    struct weft_qkv features =
        weft_build_positive_features(builder, qkv, w, flt->heads, 1.0F, flt->feature_eps);
    return weft_build_linear_attention(builder, &features, flt->heads, flt->attention_eps);
}

/* W x of each head. */
static weft_tensor project(struct weft_builder *builder, weft_tensor x, weft_tensor w,
                           const struct flt *flt) {
    const uint32_t n = builder->length;
    const weft_tensor none = {0};
    weft_tensor out = {0};
    x = weft_build_reshape(builder, x,
                           weft_shape_of(builder->batch, n, flt->heads, channels_of(builder, flt)));
    out = WEFT_BUILT(builder, out, weft_graph_linear(&out, builder->graph, x, w, none));
    return weft_build_reshape(builder, out,
                              weft_shape_of(builder->batch, n, flt->heads * flt->features));
}

/* The map of the lengthened queries and keys, or of their learned projection, as the paper's image models. */
static weft_tensor attend_map(struct weft_builder *builder, struct weft_qkv *qkv,
                              const struct flt *flt) {
    if (flt->features > 0) {
        weft_tensor w = feature_weight(builder, flt);
        qkv->query = project(builder, qkv->query, w, flt);
        qkv->key = project(builder, qkv->key, w, flt);
    }
    weft_kernel map = {.map = flt->kernel == KERNEL_RELU ? WEFT_FEATURE_RELU : WEFT_FEATURE_ELU1};
    return weft_build_kernel_attention(
        builder, qkv,
        weft_kernel_attention_params(.heads = flt->heads, .kernels = &map, .kernel_count = 1,
                                     .epsilon = flt->attention_eps));
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    const struct flt *flt = config;
    struct weft_qkv qkv = weft_build_qkv(builder, x);
    qkv = with_positions(builder, &qkv, flt);
    weft_tensor mixed = flt->kernel == KERNEL_SOFTMAX ? attend_softmax(builder, &qkv, flt)
                                                      : attend_map(builder, &qkv, flt);
    return weft_build_linear(builder, mixed, "output", builder->width, builder->width);
}

const struct weft_model_family weft_family_flt = {
    .model_type = "flt",
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct flt),
    WEFT_ATTENTION_PARTS,
    .set_defaults = set_defaults,
    .check = check,
    .exact_length = exact_length,
    .position_size = position_size,
    .recurrent = is_recurrent,
    .takes_lengths = takes_lengths,
    .mix = mix,
};
