/* SPDX-License-Identifier: MIT */
/* Discretely-induced random features: products of powers of a token's elements. Inputs: x, w, coefficients. */
#include <stdio.h>

#include <weft/features.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/discrete_features/features.h"
#include "kernels/discrete_features/row_maximum.h"
#include "mixers/feature_rows.h"
#include "ops/mask.h"

/** Powers up to 1023 of this many elements keep a binary exponent within 32 bits. */
#define LARGEST_WIDTH WEFT_FEATURES_MAX_COLUMNS

#define LENGTHS 3 /* an input, behind those above */

struct discrete_features_node {
    weft_stabilizer stabilizer;
    uint32_t heads;
    float scale;
};

weft_status weft_graph_discrete_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor w, weft_tensor coefficients,
                                         const weft_discrete_features_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct discrete_features_node node = {
        .stabilizer = params ? params->stabilizer : WEFT_STABILIZER_NONE,
        .heads = params && params->heads ? params->heads : 1,
        .scale = params ? params->scale : 0.0F};
    weft_tensor inputs[] = {x, w, coefficients, params ? params->lengths : (weft_tensor){0}};
    return weft_graph_add(out, graph, &weft_op_discrete_features, inputs, LENGTHS + 1, &node,
                          sizeof node);
}

/* ---- checking ---- */

static weft_status check_w(const weft_graph *graph, const struct weft_node *node, uint32_t heads) {
    const weft_shape x = *weft_node_shape(graph, node, 0);
    const weft_shape w = *weft_node_shape(graph, node, 1);
    const uint32_t width = x.dim[2] / heads;
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    if (width > LARGEST_WIDTH) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "discrete_features: width %u of a head is not 1 to %u", width,
                         LARGEST_WIDTH);
    }
    if (w.rank != 2 || w.dim[1] != width) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "discrete_features: w %s must be [s, d/heads] = [s, %u] for x %s and %u "
                         "heads",
                         weft_shape_text(w, text[0]), width, weft_shape_text(x, text[1]), heads);
    }
    return weft_expect_shape(graph, node, 2, "coefficients", weft_shape_of(w.dim[0]));
}

static weft_status discrete_features_infer(const weft_graph *graph, struct weft_node *node,
                                           weft_dtype *dtype, weft_shape *shape) {
    struct discrete_features_node *params = (void *)node->params.bytes;
    WEFT_TRY(weft_check_stabilizer(graph, node, params->stabilizer));
    WEFT_TRY(weft_check_feature_rows(&params->scale, graph, node, params->heads));
    WEFT_TRY(weft_expect_f32(graph, node, 1, "w"));
    WEFT_TRY(check_w(graph, node, params->heads));
    return weft_infer_features(dtype, shape, graph, node, params->heads,
                               weft_node_shape(graph, node, 1)->dim[0]);
}

/* ---- lowering ---- */

struct lowered {
    struct weft_lowering *lowering;
    const struct discrete_features_node *params;
    uint64_t rows;
    uint32_t batch, tokens, width, features;
    uint32_t x, w, coefficients;
    uint32_t lengths; /* or WEFT_NO_STORAGE */
};

/** Counts the cost of each row's features. */
static void count_features(struct weft_dispatch *dispatch, const struct lowered *l) {
    const double powers = (double)l->rows * l->features * l->width;
    dispatch->flops = 2.0 * powers; /* for powers of 0 or 1, the most common ones */
    dispatch->bytes = 4.0 * ((double)l->rows * l->width + (double)l->features * (l->width + 1.0));
}

/** The largest binary exponent of each sequence and head. */
static uint32_t lower_key_maximum(const struct lowered *l) {
    const uint32_t heads = l->params->heads;
    const uint32_t of_rows = weft_lower_scratch(l->lowering, l->rows * sizeof(float));
    struct weft_dispatch *dispatch = WEFT_LOWER(
        l->lowering, discrete_features_row_maximum, weft_grid_of_groups(l->rows),
        .bind = {.x = l->x, .powers = l->w, .coefficients = l->coefficients, .result = of_rows},
        .push = {.rows = (uint32_t)l->rows,
                 .columns = l->features,
                 .width = l->width,
                 .heads = heads,
                 .tokens = l->tokens,
                 .scale = l->params->scale});
    count_features(dispatch, l);
    return weft_lower_sequence_maximum(l->lowering, of_rows, l->lengths,
                                       (const uint32_t[]){l->batch, l->tokens, heads});
}

static weft_status discrete_features_lower(struct weft_lowering *lowering,
                                           const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *w = weft_node_shape(lowering->graph, node, 1);
    const struct discrete_features_node *params = (const void *)node->params.bytes;
    const struct lowered l = {.lowering = lowering,
                              .params = params,
                              .rows = (uint64_t)x->dim[0] * x->dim[1] * params->heads,
                              .batch = x->dim[0],
                              .tokens = x->dim[1],
                              .width = w->dim[1],
                              .features = w->dim[0],
                              .x = weft_lower_value(lowering, node->input[0]),
                              .lengths = weft_lower_lengths(lowering, node, LENGTHS),
                              .w = weft_lower_value(lowering, node->input[1]),
                              .coefficients = weft_lower_value(lowering, node->input[2])};
    const double outputs = (double)l.rows * l.features;
    if (!weft_lower_countable(lowering, outputs, "features")) {
        return weft_lower_status(lowering);
    }
    const uint32_t result = weft_lower_value(lowering, node->output);
    const uint32_t largest =
        params->stabilizer == WEFT_STABILIZER_KEY ? lower_key_maximum(&l) : WEFT_NO_STORAGE;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, discrete_features_features, weft_grid_of_groups(l.rows),
                   .bind = {.x = l.x,
                            .powers = l.w,
                            .coefficients = l.coefficients,
                            .largest = largest,
                            .result = result},
                   .push = {.rows = (uint32_t)l.rows,
                            .columns = l.features,
                            .width = l.width,
                            .heads = params->heads,
                            .tokens = l.tokens,
                            .scale = params->scale},
                   .constant = {.stabilizer = (uint32_t)params->stabilizer});
    count_features(dispatch, &l);
    dispatch->flops *= params->stabilizer == WEFT_STABILIZER_QUERY ? 2.0 : 1.0;
    dispatch->bytes += 4.0 * outputs;
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_discrete_features = {
    .name = "discrete_features",
    .min_inputs = 3,
    .max_inputs = LENGTHS + 1,
    .lengths = {{.input = LENGTHS, .of = 0}},
    .params_size = sizeof(struct discrete_features_node),
    .fields = WEFT_FIELDS(
        WEFT_FIELD_WORDS(discrete_features_node, stabilizer, "stabilizer", weft_stabilizer_words),
        WEFT_FIELD(discrete_features_node, heads, COUNT),
        WEFT_FIELD(discrete_features_node, scale, F32)),
    .infer = discrete_features_infer,
    .cuts = WEFT_CUTS({.inputs = 1 | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "rows", .lower = discrete_features_lower}),
};
