/* SPDX-License-Identifier: MIT */
/* The helpers around mixers: gated linear units, projections, residual sums with every norm. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

/* out[rows, m] = x[rows, k] Wᵀ + b; bias may be absent. */
static void reference_linear(double *out, const double *x, weft_array weight, weft_array bias,
                             weft_reference_product product) {
    product.transpose_b = true;
    product.alpha = 1.0;
    weft_reference_matmul(out, x, weight.value, product);
    for (uint64_t i = 0; bias.value != NULL && i < (uint64_t)product.m * product.n; i++) {
        out[i] += bias.value[i % product.n];
    }
}

static weft_array optional_weight(weft_case *c, bool present, weft_shape shape) {
    return present ? weft_case_weight(c, shape, WEFT_VALUES_UNIT) : (weft_array){0};
}

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

static void name_glu(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct glu_row *row = &glu_rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,d=%u,m=%u,out=%u,batch=%u",
             weft_activation_name(row->activation), row->has_bias ? ",bias" : "", row->n, row->d,
             row->m, row->d_out, row->batch);
}

struct glu {
    weft_array weight[3], bias[3];
};

static void reference_glu(weft_case *c, double *out, const double *x, const struct glu *glu,
                          const struct glu_row *row) {
    const uint32_t tokens = row->batch * row->n;
    double *gate = weft_case_scratch(c, (uint64_t)tokens * row->m);
    double *value = weft_case_scratch(c, (uint64_t)tokens * row->m);
    if (gate != NULL && value != NULL) {
        weft_reference_product in = {.m = tokens, .n = row->m, .k = row->d};
        weft_reference_product back = {.m = tokens, .n = row->d_out, .k = row->m};
        reference_linear(gate, x, glu->weight[0], glu->bias[0], in);
        reference_linear(value, x, glu->weight[1], glu->bias[1], in);
        for (uint64_t i = 0; i < (uint64_t)tokens * row->m; i++) {
            gate[i] = weft_reference_activation(row->activation, gate[i]) * value[i];
        }
        reference_linear(out, gate, glu->weight[2], glu->bias[2], back);
    }
    weft_case_scratch_free(c, gate);
    weft_case_scratch_free(c, value);
}

static void build_glu(weft_case *c, uint32_t index) {
    const struct glu_row *row = &glu_rows[index];
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
    struct glu glu;
    weft_glu_params params = {.activation = row->activation};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t rows = i < 2 ? row->m : row->d_out;
        glu.weight[i] =
            weft_case_weight(c, weft_shape_of(rows, i < 2 ? row->d : row->m), WEFT_VALUES_UNIT);
        glu.bias[i] = optional_weight(c, row->has_bias, weft_shape_of(rows));
        params.weight[i] = glu.weight[i].tensor;
        params.bias[i] = glu.bias[i].tensor;
    }
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_glu(&y, c->graph, x.tensor, &params));
    double *expected = weft_case_output(c, "y", y);
    c->check_fusion = true;
    if (expected != NULL) {
        reference_glu(c, expected, x.value, &glu, row);
    }
}

const weft_case_family weft_family_glu = {.name = "glu",
                                          .count = sizeof glu_rows / sizeof glu_rows[0],
                                          .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                          .name_case = name_glu,
                                          .build = build_glu};

/* ---- projections ---- */

static const struct projection_row {
    uint32_t batch, n, memory; /* memory: its tokens, 0 for none */
    uint32_t d_x, d;
    bool has_bias;
} projection_rows[] = {
    {1, 1, 0, 1, 1, true},    {2, 19, 0, 24, 24, true},  {1, 37, 0, 31, 65, false},
    {2, 7, 33, 40, 20, true}, {3, 64, 5, 64, 64, false},
};

static void name_projection(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct projection_row *row = &projection_rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "n=%u,memory=%u,in=%u,d=%u,batch=%u%s", row->n, row->memory,
             row->d_x, row->d, row->batch, row->has_bias ? ",bias" : "");
}

static void build_projection(weft_case *c, uint32_t index) {
    const struct projection_row *row = &projection_rows[index];
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
        bias[i] = optional_weight(c, row->has_bias, weft_shape_of(row->d));
        params.weight[i] = weight[i].tensor;
        params.bias[i] = bias[i].tensor;
    }
    weft_tensor qkv[3] = {{0}};
    weft_case_check(c, weft_graph_project_qkv(qkv, c->graph, x.tensor, memory.tensor, &params));
    for (uint32_t i = 0; i < 3; i++) {
        bool from_memory = i > 0 && row->memory > 0;
        double *expected = weft_case_output(c, names[i], qkv[i]);
        if (expected != NULL) {
            reference_linear(
                expected, from_memory ? memory.value : x.value, weight[i], bias[i],
                (weft_reference_product){.m = row->batch * (from_memory ? row->memory : row->n),
                                         .n = row->d,
                                         .k = row->d_x});
        }
    }
}

const weft_case_family weft_family_projections = {.name = "projections",
                                                  .count = sizeof projection_rows /
                                                           sizeof projection_rows[0],
                                                  .tolerance = WEFT_TOLERANCE_LINEAR,
                                                  .name_case = name_projection,
                                                  .build = build_projection};

/* ---- residual blocks around a linear layer, before and behind the norm ---- */

static const uint32_t residual_shapes[][3] = {{2, 19, 24}, {1, 37, 129}}; /* batch, n, d */

#define SHAPES ((uint32_t)(sizeof residual_shapes / sizeof residual_shapes[0]))

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

struct norm {
    weft_norm kind;
    weft_array gamma, beta, mean, variance;
    double epsilon;
};

static struct norm make_norm(weft_case *c, weft_norm kind, uint32_t d) {
    weft_shape row = weft_shape_of(d);
    bool has_two = kind == WEFT_NORM_LAYER || kind == WEFT_NORM_BATCH;
    bool has_one = has_two || kind == WEFT_NORM_RMS || kind == WEFT_NORM_SCALE;
    struct norm norm = {.kind = kind, .epsilon = (double)1e-3F};
    norm.gamma = optional_weight(c, has_one, kind == WEFT_NORM_SCALE ? weft_shape_of(1) : row);
    norm.beta = optional_weight(c, has_two, row);
    if (kind == WEFT_NORM_BATCH) {
        norm.mean = weft_case_weight(c, row, WEFT_VALUES_UNIT);
        norm.variance = weft_case_weight(c, row, WEFT_VALUES_EQUAL);
    }
    return norm;
}

static weft_norm_params params_of(const struct norm *norm) {
    return (weft_norm_params){.kind = norm->kind,
                              .gamma = norm->gamma.tensor,
                              .beta = norm->beta.tensor,
                              .mean = norm->mean.tensor,
                              .variance = norm->variance.tensor,
                              .epsilon = (float)norm->epsilon};
}

/* One row, in place; LayerNorm is the family layer_norm's. */
static void reference_row(double *x, const struct norm *norm, uint32_t d) {
    double squares = 0.0;
    for (uint32_t i = 0; i < d; i++) {
        squares += x[i] * x[i];
    }
    for (uint32_t i = 0; i < d; i++) {
        switch (norm->kind) {
        case WEFT_NORM_RMS:
            x[i] = x[i] / sqrt(squares / d + norm->epsilon) * norm->gamma.value[i];
            break;
        case WEFT_NORM_SIMPLE_RMS:
            x[i] = x[i] / (sqrt(squares / d) + 1e-8);
            break;
        case WEFT_NORM_SCALE:
            x[i] = norm->gamma.value[0] * x[i] / fmax(sqrt(squares), norm->epsilon);
            break;
        default:
            x[i] = (x[i] - norm->mean.value[i]) / sqrt(norm->variance.value[i] + norm->epsilon);
            x[i] = x[i] * norm->gamma.value[i] + norm->beta.value[i];
        }
    }
}

static void reference_norm(double *x, const struct norm *norm, uint32_t rows, uint32_t d) {
    if (norm->kind == WEFT_NORM_LAYER) {
        weft_reference_layer_norm(x, x, norm->gamma.value, norm->beta.value, rows, d,
                                  norm->epsilon);
        return;
    }
    for (uint64_t row = 0; row < rows; row++) {
        reference_row(x + row * d, norm, d);
    }
}

static weft_tensor add_block(weft_case *c, bool pre, weft_tensor x, weft_array weight,
                             const struct norm *norm) {
    weft_norm_params params = params_of(norm);
    weft_tensor h = x;
    weft_tensor y = {0};
    if (pre) {
        weft_case_check(c, weft_graph_norm(&h, c->graph, x, &params));
    }
    weft_case_check(c, weft_graph_linear(&h, c->graph, h, weight.tensor, (weft_tensor){0}));
    weft_case_check(c, weft_graph_add_norm(&y, c->graph, x, h, pre ? NULL : &params));
    return y;
}

static void reference_block(weft_case *c, double *out, bool pre, const double *x, weft_array weight,
                            const struct norm *norm, uint32_t rows) {
    const uint32_t d = c->outputs[0].shape.dim[2];
    const uint64_t count = (uint64_t)rows * d;
    double *h = weft_case_scratch(c, count);
    for (uint64_t i = 0; h != NULL && i < count; i++) {
        h[i] = x[i];
    }
    if (h != NULL && pre) {
        reference_norm(h, norm, rows, d);
    }
    if (h != NULL) {
        reference_linear(out, h, weight, (weft_array){0},
                         (weft_reference_product){.m = rows, .n = d, .k = d});
        for (uint64_t i = 0; i < count; i++) {
            out[i] += x[i];
        }
    }
    if (h != NULL && !pre) {
        reference_norm(out, norm, rows, d);
    }
    weft_case_scratch_free(c, h);
}

static void build_residual(weft_case *c, uint32_t index) {
    const uint32_t *shape = residual_shapes[index / WEFT_NORM_COUNT / 2];
    const uint32_t d = shape[2];
    weft_array x = weft_case_input(c, "x", weft_shape_of(shape[0], shape[1], d), WEFT_VALUES_UNIT);
    weft_array weight = weft_case_weight(c, weft_shape_of(d, d), WEFT_VALUES_UNIT);
    struct norm norm = make_norm(c, (weft_norm)(index % WEFT_NORM_COUNT), d);
    bool pre = is_pre_norm(index);
    double *expected = weft_case_output(c, "y", add_block(c, pre, x.tensor, weight, &norm));
    c->check_fusion = true;
    if (expected != NULL) {
        reference_block(c, expected, pre, x.value, weight, &norm, shape[0] * shape[1]);
    }
}

const weft_case_family weft_family_residual = {.name = "residual",
                                               .count = SHAPES * 2 * WEFT_NORM_COUNT,
                                               .tolerance = WEFT_TOLERANCE_LINEAR,
                                               .name_case = name_residual,
                                               .build = build_residual};
