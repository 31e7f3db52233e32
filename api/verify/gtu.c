/* SPDX-License-Identifier: MIT */
/* The gated Toeplitz unit with each of its operators. */
#include <stdio.h>

#include "verify/paired.h"

#define GAMMA 0.75F /* of the warp */

static const struct row {
    weft_gtu_mixer mixer;
    bool causal; /* not with SKI */
    bool has_norm, has_bias;
    weft_activation activation;
    uint32_t batch, n, d, m, d_out;
    uint32_t size; /* TOEPLITZ: reach of the coefficients; SKI: g of the grid; FD: N */
} rows[] = {
    {WEFT_GTU_TOEPLITZ, false, false, true, WEFT_ACTIVATION_SILU, 1, 1, 1, 1, 1, 1},
    {WEFT_GTU_TOEPLITZ, false, true, true, WEFT_ACTIVATION_SILU, 2, 19, 8, 24, 8, 19},
    {WEFT_GTU_TOEPLITZ, true, false, false, WEFT_ACTIVATION_SILU, 1, 37, 13, 39, 13, 40},
    {WEFT_GTU_TOEPLITZ, true, true, true, WEFT_ACTIVATION_RELU, 2, 130, 16, 33, 7, 130},
    {WEFT_GTU_SKI, false, false, true, WEFT_ACTIVATION_SILU, 2, 19, 8, 24, 8, 4},
    {WEFT_GTU_SKI, false, true, false, WEFT_ACTIVATION_NONE, 1, 33, 12, 37, 12, 33},
    {WEFT_GTU_FD, false, false, true, WEFT_ACTIVATION_SILU, 2, 31, 8, 24, 8, 32},
    {WEFT_GTU_FD, true, true, true, WEFT_ACTIVATION_GELU_TANH, 1, 31, 11, 22, 11, 31},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    static const char *const mixers[] = {"toeplitz", "ski", "fd"};
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s%s%s/n=%u,d=%u,m=%u,out=%u,size=%u,batch=%u",
             mixers[row->mixer], row->causal ? "causal" : "both",
             weft_activation_name(row->activation), row->has_norm ? ",norm" : "",
             row->has_bias ? ",bias" : "", row->n, row->d, row->m, row->d_out, row->size,
             row->batch);
}

/* ---- the block ---- */

struct gtu {
    weft_array weight[3], bias[3], kernel;
};

static weft_shape kernel_shape(const struct row *row) {
    uint32_t two_sided = 2 * row->size;
    return row->mixer == WEFT_GTU_TOEPLITZ
               ? weft_shape_of(row->causal ? row->size : two_sided - 1, row->m)
           : row->mixer == WEFT_GTU_SKI
               ? weft_shape_of(two_sided + 1, row->m)
               : weft_shape_of(row->size + 1, row->causal ? row->m : 2 * row->m);
}

/* The operators' parameters. */
struct operators {
    weft_toeplitz_params toeplitz;
    weft_toeplitz_fd_params fd;
    weft_ski_toeplitz_params ski;
};

static const weft_norm_params norm = {.kind = WEFT_NORM_SIMPLE_RMS};

static weft_status add_gtu(weft_tensor *y, weft_case *c, weft_tensor x, const struct gtu *gtu,
                           const struct operators *own, const struct row *row) {
    weft_gtu_params params = {.activation = row->activation,
                              .mixer = row->mixer,
                              .toeplitz = row->mixer == WEFT_GTU_TOEPLITZ ? &own->toeplitz : NULL,
                              .ski = row->mixer == WEFT_GTU_SKI ? &own->ski : NULL,
                              .fd = row->mixer == WEFT_GTU_FD ? &own->fd : NULL,
                              .norm = row->has_norm ? &norm : NULL};
    for (uint32_t i = 0; i < 3; i++) {
        params.weight[i] = gtu->weight[i].tensor;
        params.bias[i] = gtu->bias[i].tensor;
    }
    if (row->mixer != WEFT_GTU_SKI) {
        params.kernel = gtu->kernel.tensor;
    }
    return weft_graph_gtu(y, c->graph, x, &params);
}

/* Qin et al., 2023, (12): o = W_3 norm(u ∘ T v), u and v activations of W_1 x and W_2 x. */
static weft_array define(weft_case *c, weft_array x, const struct gtu *gtu,
                         const struct operators *own, const struct row *row) {
    weft_array part[2];
    c->only_values = true;
    for (uint32_t i = 0; i < 2; i++) {
        part[i] = weft_case_linear(c, x, gtu->weight[i], gtu->bias[i]);
        part[i] = weft_case_activate(c, part[i], row->activation);
    }
    weft_array mixed = row->mixer == WEFT_GTU_TOEPLITZ
                           ? weft_case_toeplitz(c, part[1], gtu->kernel, &own->toeplitz)
                       : row->mixer == WEFT_GTU_SKI
                           ? weft_case_ski_toeplitz(c, part[1], &own->ski)
                           : weft_case_toeplitz_fd(c, part[1], gtu->kernel, &own->fd);
    weft_array gated = weft_case_binary(c, WEFT_BINARY_MULTIPLY, part[0], mixed);
    gated = row->has_norm ? weft_case_norm(c, gated, &norm) : gated;
    weft_array y = weft_case_linear(c, gated, gtu->weight[2], gtu->bias[2]);
    c->only_values = false;
    return y;
}

static void build(weft_case *c, const struct row *row) {
    struct gtu gtu;
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t out = i < 2 ? row->m : row->d_out;
        gtu.weight[i] =
            weft_case_weight(c, weft_shape_of(out, i < 2 ? row->d : row->m), WEFT_VALUES_UNIT);
        gtu.bias[i] = weft_case_optional_weight(c, row->has_bias, weft_shape_of(out));
    }
    gtu.kernel = weft_case_weight(c, kernel_shape(row), WEFT_VALUES_UNIT);
    const struct operators own = {
        .toeplitz = {.causal = row->causal},
        .fd = {.causal = row->causal},
        .ski = {.rpe = gtu.kernel.tensor, .points = row->n, .gamma = GAMMA}};
    weft_tensor y = {0};
    const weft_status status = add_gtu(&y, c, x.tensor, &gtu, &own, row);
    weft_case_expect(c, "y", weft_case_named(c, status, y, define(c, x, &gtu, &own, row)));
    c->check_fusion = true;
}

WEFT_CASE_TABLE(gtu, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
