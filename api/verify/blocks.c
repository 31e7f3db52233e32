/* SPDX-License-Identifier: MIT */
/* The helpers around mixers: gated linear units, projections, residual sums with every norm. */
#include <stdio.h>

#include "verify/paired.h"

/* ---- GLU ---- */

static const struct glu_row {
    uint32_t batch, n, d, m, d_out;
    weft_activation activation;
    bool has_bias;
} glu_rows[] = {
    {1, 1, 1, 1, 1, WEFT_ACTIVATION_NONE, true},
    {2, 7, 8, 24, 8, WEFT_ACTIVATION_SILU, true},
    {1, 37, 31, 65, 31, WEFT_ACTIVATION_SILU, false},
    {2, 33, 64, 127, 64, WEFT_ACTIVATION_NONE, true},
    {3, 19, 20, 40, 7, WEFT_ACTIVATION_SIGMOID, false},
    {1, 130, 48, 96, 48, WEFT_ACTIVATION_GELU_TANH, true},
    {2, 5, 129, 257, 129, WEFT_ACTIVATION_RELU, true},
    {1, 64, 128, 384, 128, WEFT_ACTIVATION_GELU_ERF, true},
};

static void name_glu(char text[WEFT_CASE_NAME_SIZE], const struct glu_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,d=%u,m=%u,out=%u,batch=%u",
             weft_activation_name(row->activation), row->has_bias ? ",bias" : "", row->n, row->d,
             row->m, row->d_out, row->batch);
}

struct glu {
    weft_array weight[3], bias[3];
};

/* W_3 (act(W_1 x) ∘ W_2 x): Shazeer, 2020, (5), with any activation. */
static weft_array define_glu(weft_case *c, weft_array x, const struct glu *glu,
                             weft_activation activation) {
    c->only_values = true;
    weft_array gate = weft_case_linear(c, x, glu->weight[0], glu->bias[0]);
    gate = weft_case_activate(c, gate, activation);
    weft_array value = weft_case_linear(c, x, glu->weight[1], glu->bias[1]);
    value = weft_case_binary(c, WEFT_BINARY_MULTIPLY, gate, value);
    weft_array y = weft_case_linear(c, value, glu->weight[2], glu->bias[2]);
    c->only_values = false;
    return y;
}

static void build_glu(weft_case *c, const struct glu_row *row) {
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
    struct glu glu;
    weft_glu_params params = {.activation = row->activation};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t rows = i < 2 ? row->m : row->d_out;
        glu.weight[i] =
            weft_case_weight(c, weft_shape_of(rows, i < 2 ? row->d : row->m), WEFT_VALUES_UNIT);
        glu.bias[i] = weft_case_optional_weight(c, row->has_bias, weft_shape_of(rows));
        params.weight[i] = glu.weight[i].tensor;
        params.bias[i] = glu.bias[i].tensor;
    }
    weft_tensor y = {0};
    const weft_status status = weft_graph_glu(&y, c->graph, x.tensor, &params);
    weft_case_expect(c, "y",
                     weft_case_named(c, status, y, define_glu(c, x, &glu, row->activation)));
    c->check_fusion = true;
}

WEFT_CASE_TABLE(glu, glu_rows, WEFT_TOLERANCE_EXPONENTIAL, name_glu, build_glu);

/* ---- projections ---- */

static const struct projection_row {
    uint32_t batch, n, memory; /* memory: its tokens, 0 for none */
    uint32_t d_x, d;
    bool has_bias;
} projection_rows[] = {
    {1, 1, 0, 1, 1, true},    {2, 19, 0, 24, 24, true},  {1, 37, 0, 31, 65, false},
    {2, 7, 33, 40, 20, true}, {3, 64, 5, 64, 64, false},
};

static void name_projection(char text[WEFT_CASE_NAME_SIZE], const struct projection_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "n=%u,memory=%u,in=%u,d=%u,batch=%u%s", row->n, row->memory,
             row->d_x, row->d, row->batch, row->has_bias ? ",bias" : "");
}

static void build_projection(weft_case *c, const struct projection_row *row) {
    const char *const names[] = {"q", "k", "v"};
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d_x), WEFT_VALUES_UNIT);
    weft_array memory = {0};
    if (row->memory > 0) {
        memory = weft_case_input(c, "memory", weft_shape_of(row->batch, row->memory, row->d_x),
                                 WEFT_VALUES_UNIT);
    }
    weft_project_qkv_params params = {0};
    weft_array weight[3];
    weft_array bias[3];
    for (uint32_t i = 0; i < 3; i++) {
        weight[i] = weft_case_weight(c, weft_shape_of(row->d, row->d_x), WEFT_VALUES_UNIT);
        bias[i] = weft_case_optional_weight(c, row->has_bias, weft_shape_of(row->d));
        params.weight[i] = weight[i].tensor;
        params.bias[i] = bias[i].tensor;
    }
    weft_tensor qkv[3] = {{0}};
    weft_case_check(c, weft_graph_project_qkv(qkv, c->graph, x.tensor, memory.tensor, &params));
    for (uint32_t i = 0; i < 3; i++) {
        c->only_values = true;
        weft_array own =
            weft_case_linear(c, i > 0 && row->memory > 0 ? memory : x, weight[i], bias[i]);
        c->only_values = false;
        weft_case_expect(c, names[i], weft_case_named(c, WEFT_OK, qkv[i], own));
    }
}

WEFT_CASE_TABLE(projections, projection_rows, WEFT_TOLERANCE_LINEAR, name_projection,
                build_projection);

/* ---- residual blocks around a linear layer, before and behind the norm ---- */

static const uint32_t residual_shapes[][3] = {{2, 19, 24}, {1, 37, 129}}; /* batch, n, d */

#define SHAPES WEFT_COUNT(residual_shapes)

static const char *const norm_names[] = {"layer", "rms", "simple_rms", "scale", "batch"};

static bool is_pre_norm(uint32_t index) {
    return index / WEFT_NORM_COUNT % 2 == 1;
}

static void name_residual(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const uint32_t *shape = residual_shapes[index / WEFT_NORM_COUNT / 2];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,d=%u,batch=%u",
             is_pre_norm(index) ? "pre" : "post", norm_names[index % WEFT_NORM_COUNT], shape[1],
             shape[2], shape[0]);
}

static weft_norm_params make_norm(weft_case *c, weft_norm kind, uint32_t d) {
    weft_shape row = weft_shape_of(d);
    bool has_two = kind == WEFT_NORM_LAYER || kind == WEFT_NORM_BATCH;
    bool has_one = has_two || kind == WEFT_NORM_RMS || kind == WEFT_NORM_SCALE;
    weft_norm_params norm = {.kind = kind, .epsilon = 1e-3F};
    norm.gamma =
        weft_case_optional_weight(c, has_one, kind == WEFT_NORM_SCALE ? weft_shape_of(1) : row)
            .tensor;
    norm.beta = weft_case_optional_weight(c, has_two, row).tensor;
    if (kind == WEFT_NORM_BATCH) {
        norm.mean = weft_case_weight(c, row, WEFT_VALUES_UNIT).tensor;
        norm.variance = weft_case_weight(c, row, WEFT_VALUES_EQUAL).tensor;
    }
    return norm;
}

/* x + y, and the norm of that unless `norm` is null: what the graph has as one call. */
static weft_array add_norm(weft_case *c, weft_array x, weft_array y, const weft_norm_params *norm) {
    weft_tensor tensor = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_add_norm(&tensor, c->graph, x.tensor, y.tensor, norm));
    c->only_values = true;
    weft_array sum = weft_case_binary(c, WEFT_BINARY_ADD, x, y);
    sum = norm ? weft_case_norm(c, sum, norm) : sum;
    c->only_values = false;
    return weft_case_named(c, status, tensor, sum);
}

static void build_residual(weft_case *c, uint32_t index) {
    const uint32_t *shape = residual_shapes[index / WEFT_NORM_COUNT / 2];
    const uint32_t d = shape[2];
    weft_array x = weft_case_input(c, "x", weft_shape_of(shape[0], shape[1], d), WEFT_VALUES_UNIT);
    weft_array weight = weft_case_weight(c, weft_shape_of(d, d), WEFT_VALUES_UNIT);
    const weft_norm_params norm = make_norm(c, (weft_norm)(index % WEFT_NORM_COUNT), d);
    bool pre = is_pre_norm(index);
    weft_array h = pre ? weft_case_norm(c, x, &norm) : x;
    h = weft_case_linear(c, h, weight, (weft_array){0});
    weft_case_expect(c, "y", add_norm(c, x, h, pre ? NULL : &norm));
    c->check_fusion = true;
}

WEFT_CASE_FAMILY(residual, SHAPES * 2 * WEFT_NORM_COUNT, WEFT_TOLERANCE_LINEAR, name_residual,
                 build_residual);
