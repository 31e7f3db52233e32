/* SPDX-License-Identifier: MIT */
/* LayerNorm. */
#include <math.h>
#include <stdio.h>

#include "core/given.h"
#include "kernels/norm/layer_norm.h"
#include "kernels/norm/layer_norm_lanes.h"
#include "ops/row.h"

#define MOST_COLUMNS (UINT32_C(1) << 24) /* how far float32 holds every whole number */

struct weft_layer_norm_node {
    float epsilon;
};

weft_status weft_graph_layer_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  weft_tensor gamma, weft_tensor beta, float epsilon) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_layer_norm_node params = {.epsilon = epsilon};
    weft_tensor inputs[] = {x, gamma, beta};
    return weft_graph_add(out, graph, &weft_op_layer_norm, inputs, 3, &params, sizeof params);
}

static weft_status layer_norm_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const struct weft_layer_norm_node *params = (const void *)node->params.bytes;
    if (!(params->epsilon >= 0.0F) || !isfinite(params->epsilon)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "layer_norm: epsilon %g must be finite and at least 0",
                         (double)params->epsilon);
    }
    weft_status status = weft_expect_f32(graph, node, 0, "x");
    weft_shape x = *weft_node_shape(graph, node, 0);
    weft_shape row = {.rank = 1, .dim = {weft_shape_rows(x).columns}};
    if (status == WEFT_OK && row.dim[0] > MOST_COLUMNS) {
        return weft_fail(
            &graph->host, WEFT_UNSUPPORTED,
            "layer_norm: x has %u elements in its last axis; float32 can count at most %u",
            row.dim[0], MOST_COLUMNS);
    }
    if (status == WEFT_OK) {
        status = weft_expect_shape(graph, node, 1, "gamma", row);
    }
    if (status == WEFT_OK) {
        status = weft_expect_shape(graph, node, 2, "beta", row);
    }
    *dtype = WEFT_F32;
    *shape = x;
    return status;
}

WEFT_VARIANTS(layer_norm, "norm/layer_norm",
              WEFT_GROUP_ROW(norm_layer_norm, weft_grid_of_first_groups, 1.0F),
              WEFT_LANES_ROWS(norm_layer_norm_lanes, weft_lanes_grid, 1))

static uint32_t layer_norm_fuses_as(struct weft_epilogue *epilogue, const struct weft_node *node) {
    const struct weft_layer_norm_node *params = (const void *)node->params.bytes;
    epilogue->gamma = node->input[1];
    epilogue->beta = node->input[2];
    epilogue->epsilon = params->epsilon;
    return WEFT_FUSE_NORM;
}

static weft_status layer_norm_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    struct weft_epilogue epilogue = node->epilogue;
    layer_norm_fuses_as(&epilogue, node);
    uint32_t x = weft_lower_value(lowering, node->input[0]);
    const struct weft_row_args row =
        weft_lower_row_args(lowering, *weft_node_shape(lowering->graph, node, 0), &epilogue);
    uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_layer_norm_variants, 1, norm_layer_norm,
        .bind = {.x = x,
                 .residual = row.residual,
                 .gamma = row.gamma,
                 .beta = row.beta,
                 .result = result},
        .push = {.rows = row.rows, .columns = row.columns, .epsilon = row.epsilon},
        .constant = {.has_residual = row.has_residual, .has_norm = row.has_norm, .kept = row.kept});
    weft_row_finish(dispatch, &row);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_layer_norm = {
    .name = "layer_norm",
    .min_inputs = 3,
    .max_inputs = 3,
    .params_size = sizeof(struct weft_layer_norm_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_layer_norm_node, epsilon, F32)),
    .fuses_as = layer_norm_fuses_as,
    .infer = layer_norm_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .whole = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "row", .lower = layer_norm_lower}),
};
