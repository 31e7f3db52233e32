/* SPDX-License-Identifier: MIT */
/*
 * Hybrid random features: projections by w and by the directions, then positive and trigonometric features of each row,
 * once as they are and once for each direction's sign. Inputs: x, w, directions, coefficients.
 */
#include <math.h>
#include <stdio.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/hybrid_features/features.h"
#include "kernels/hybrid_features/row_maximum.h"
#include "mixers/feature_rows.h"
#include "ops/mask.h"

#define LENGTHS 4 /* an input, behind those above */

struct hybrid_features_node {
    weft_stabilizer stabilizer;
    uint32_t heads;
    float scale;
    uint32_t keys; /* a bool, without padding behind it: nodes of equal bytes are equal */
};

weft_status weft_graph_hybrid_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       weft_tensor w, weft_tensor directions,
                                       const weft_hybrid_features_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const weft_hybrid_features_params defaults = {.heads = 1};
    const weft_hybrid_features_params *p = params ? params : &defaults;
    const struct hybrid_features_node node = {.stabilizer = p->stabilizer,
                                              .heads = p->heads ? p->heads : 1,
                                              .scale = p->scale,
                                              .keys = p->keys};
    weft_tensor inputs[] = {x, w, directions, p->coefficients, p->lengths};
    return weft_graph_add(out, graph, &weft_op_hybrid_features, inputs, LENGTHS + 1, &node,
                          sizeof node);
}

/* ---- checking ---- */

static weft_status check_matrices(const weft_graph *graph, const struct weft_node *node,
                                  uint32_t heads) {
    const weft_shape x = *weft_node_shape(graph, node, 0);
    const weft_shape w = *weft_node_shape(graph, node, 1);
    const weft_shape directions = *weft_node_shape(graph, node, 2);
    const uint32_t width = x.dim[2] / heads;
    if (w.rank != 2 || directions.rank != 2 || w.dim[1] != width || directions.dim[1] != width) {
        char text[3][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(
            &graph->host, WEFT_SHAPE_MISMATCH,
            "hybrid_features: w %s and directions %s must be [s, d/heads] = [s, %u] and "
            "[r, d/heads] = [r, %u] for x %s and %u heads",
            weft_shape_text(w, text[0]), weft_shape_text(directions, text[1]), width, width,
            weft_shape_text(x, text[2]), heads);
    }
    return WEFT_OK;
}

static weft_status hybrid_features_infer(const weft_graph *graph, struct weft_node *node,
                                         weft_dtype *dtype, weft_shape *shape) {
    struct hybrid_features_node *params = (void *)node->params.bytes;
    WEFT_TRY(weft_check_stabilizer(graph, node, params->stabilizer));
    WEFT_TRY(weft_check_feature_rows(&params->scale, graph, node, params->heads));
    WEFT_TRY(weft_expect_f32(graph, node, 1, "w"));
    WEFT_TRY(weft_expect_f32(graph, node, 2, "directions"));
    WEFT_TRY(check_matrices(graph, node, params->heads));
    const uint32_t features = weft_node_shape(graph, node, 1)->dim[0];
    const uint32_t directions = weft_node_shape(graph, node, 2)->dim[0];
    if (node->input[3] != 0) {
        WEFT_TRY(weft_expect_shape(graph, node, 3, "coefficients", weft_shape_of(features)));
    }
    /* The product does not overflow: features and directions are each below 2^31. */
    const uint64_t of_head = UINT64_C(3) * features * (1 + (uint64_t)directions);
    if (of_head > UINT32_MAX / params->heads) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "hybrid_features: %u heads of %u features and %u directions are too many",
                         params->heads, features, directions);
    }
    return weft_infer_features(dtype, shape, graph, node, params->heads, of_head);
}

/* ---- lowering ---- */

struct lowered {
    struct weft_lowering *lowering;
    const struct hybrid_features_node *params;
    uint64_t rows;
    uint32_t batch, tokens, width, features, directions;
    uint32_t x;
    uint32_t projection; /* [rows, features] */
    uint32_t lengths;    /* or WEFT_NO_STORAGE */
    float share;         /* 1 / √(2 directions) */
};

/** Counts the cost of a pass over the rows and their projections. */
static void count_rows(struct weft_dispatch *dispatch, const struct lowered *l) {
    dispatch->flops = (double)l->rows * (2.0 * l->width + 2.0 * l->features);
    dispatch->bytes = 4.0 * (double)l->rows * (l->width + l->features);
}

/** The largest exponent of each sequence and head. */
static uint32_t lower_key_maximum(const struct lowered *l) {
    const uint32_t heads = l->params->heads;
    const uint32_t of_rows = weft_lower_scratch(l->lowering, l->rows * sizeof(float));
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, hybrid_features_row_maximum, weft_grid_of_groups(l->rows),
                   .bind = {.x = l->x, .projection = l->projection, .result = of_rows},
                   .push = {.rows = (uint32_t)l->rows,
                            .columns = l->features,
                            .width = l->width,
                            .heads = heads,
                            .tokens = l->tokens,
                            .scale = l->params->scale,
                            .directions = l->directions,
                            .share = l->share});
    count_rows(dispatch, l);
    return weft_lower_sequence_maximum(l->lowering, of_rows, l->lengths,
                                       (const uint32_t[]){l->batch, l->tokens, heads});
}

static void lower_features(const struct lowered *l, uint32_t sides, uint32_t coefficients,
                           uint32_t result) {
    const struct hybrid_features_node *params = l->params;
    const uint32_t largest =
        params->stabilizer == WEFT_STABILIZER_KEY ? lower_key_maximum(l) : WEFT_NO_STORAGE;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, hybrid_features_features, weft_grid_of_groups(l->rows),
                   .bind = {.x = l->x,
                            .projection = l->projection,
                            .sides = sides,
                            .largest = largest,
                            .coefficients = coefficients,
                            .result = result},
                   .push = {.rows = (uint32_t)l->rows,
                            .columns = l->features,
                            .width = l->width,
                            .heads = params->heads,
                            .tokens = l->tokens,
                            .scale = params->scale,
                            .directions = l->directions,
                            .share = l->share},
                   .constant = {.stabilizer = (uint32_t)params->stabilizer,
                                .has_coefficients = coefficients != WEFT_NO_STORAGE,
                                .is_keys = params->keys});
    const double outputs = 3.0 * (double)l->rows * l->features * (1.0 + l->directions);
    count_rows(dispatch, l);
    dispatch->flops += 60.0 * (double)l->rows * l->features + outputs;
    dispatch->bytes += 4.0 * (outputs + (double)l->rows * l->directions);
}

static weft_status hybrid_features_lower(struct weft_lowering *lowering,
                                         const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *w = weft_node_shape(lowering->graph, node, 1);
    const uint32_t directions = weft_node_shape(lowering->graph, node, 2)->dim[0];
    const struct hybrid_features_node *params = (const void *)node->params.bytes;
    struct lowered l = {.lowering = lowering,
                        .params = params,
                        .rows = (uint64_t)x->dim[0] * x->dim[1] * params->heads,
                        .batch = x->dim[0],
                        .tokens = x->dim[1],
                        .width = w->dim[1],
                        .features = w->dim[0],
                        .directions = directions,
                        .x = weft_lower_value(lowering, node->input[0]),
                        .lengths = weft_lower_lengths(lowering, node, LENGTHS),
                        .share = (float)(1.0 / sqrt(2.0 * (double)directions))};
    const double outputs = 3.0 * (double)l.rows * l.features * (1.0 + directions);
    if (!weft_lower_countable(lowering, outputs, "features")) {
        return weft_lower_status(lowering);
    }
    const uint32_t coefficients = weft_lower_optional(lowering, node->input[3]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    l.projection = weft_lower_row_projection(lowering, l.x, l.rows, l.width,
                                             weft_lower_value(lowering, node->input[1]), l.features,
                                             params->scale);
    /* Signs alone: they are those without the scale, but for a negative one. */
    const uint32_t sides = weft_lower_row_projection(
        lowering, l.x, l.rows, l.width, weft_lower_value(lowering, node->input[2]), directions,
        params->scale < 0.0F ? -1.0F : 1.0F);
    lower_features(&l, sides, coefficients, result);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_hybrid_features = {
    .name = "hybrid_features",
    .min_inputs = 3,
    .max_inputs = LENGTHS + 1,
    .lengths = {{.input = LENGTHS, .of = 0}},
    .params_size = sizeof(struct hybrid_features_node),
    .fields = WEFT_FIELDS(
        WEFT_FIELD_WORDS(hybrid_features_node, stabilizer, "stabilizer", weft_stabilizer_words),
        WEFT_FIELD(hybrid_features_node, heads, COUNT),
        WEFT_FIELD(hybrid_features_node, scale, F32), WEFT_FIELD(hybrid_features_node, keys, BOOL)),
    .infer = hybrid_features_infer,
    .cuts = WEFT_CUTS({.inputs = 1 | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "rows", .lower = hybrid_features_lower}),
};
