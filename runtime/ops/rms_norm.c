/* SPDX-License-Identifier: MIT */
/* The norms that divide a row by its length and subtract nothing: RMSNorm, SimpleRMSNorm, ScaleNorm. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/norm/rms_norm_lanes.h"
#include "kernels/norm/rms_norm_side.h"
#include "ops/numbers.h"
#include "ops/row.h"

struct weft_rms_norm_node {
    float epsilon;
};

#define MOST_COLUMNS   (UINT32_C(1) << 24) /* how far float32 holds every whole number */
#define SIMPLE_EPSILON 1e-8F

static weft_status add(weft_tensor *out, weft_graph *graph, const struct weft_op *op,
                       const weft_tensor *inputs, uint32_t input_count, float epsilon) {
    struct weft_rms_norm_node params = {.epsilon = epsilon};
    return weft_graph_add(out, graph, op, inputs, input_count, &params, sizeof params);
}

weft_status weft_graph_rms_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_tensor gain, float epsilon) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    weft_tensor inputs[] = {x, gain};
    return add(out, graph, &weft_op_rms_norm, inputs, 2, epsilon);
}

weft_status weft_graph_simple_rms_norm(weft_tensor *out, weft_graph *graph, weft_tensor x) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    return add(out, graph, &weft_op_simple_rms_norm, &x, 1, SIMPLE_EPSILON);
}

weft_status weft_graph_scale_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  weft_tensor gain, float epsilon) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    weft_tensor inputs[] = {x, gain};
    return add(out, graph, &weft_op_scale_norm, inputs, 2, epsilon);
}

static weft_status infer_with(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape, bool gain_per_column) {
    const struct weft_rms_norm_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_f32(graph, node, 0, "x"));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    uint32_t columns = weft_shape_rows(*shape).columns;
    if (!(params->epsilon >= 0.0F) || !isfinite(params->epsilon)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: epsilon %g must be finite and at least 0", node->op->name,
                         (double)params->epsilon);
    }
    if (columns > MOST_COLUMNS) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "%s: x has %u elements in its last axis; float32 can count at most %u",
                         node->op->name, columns, MOST_COLUMNS);
    }
    if (node->input_count < 2 || node->input[1] == 0) {
        return WEFT_OK;
    }
    weft_shape row = {.rank = 1, .dim = {gain_per_column ? columns : 1}};
    return weft_expect_shape(graph, node, 1, "gain", row);
}

static weft_status rms_norm_infer(const weft_graph *graph, struct weft_node *node,
                                  weft_dtype *dtype, weft_shape *shape) {
    return infer_with(graph, node, dtype, shape, true);
}

static weft_status scale_norm_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    return infer_with(graph, node, dtype, shape, false);
}

WEFT_VARIANTS(rms_norm, "norm/rms_norm",
              WEFT_GROUP_ROW(norm_rms_norm, weft_grid_of_first_groups, 1.0F),
              WEFT_SIDE_ROW(norm_rms_norm_side, weft_suits_side),
              WEFT_LANES_ROWS(norm_rms_norm_lanes, weft_lanes_grid, 1))

static weft_status lower_with(struct weft_lowering *lowering, const struct weft_node *node,
                              weft_length_norm form) {
    const struct weft_rms_norm_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, 0);
    bool has_gain = node->input_count > 1 && node->input[1] != 0;
    uint32_t x = weft_lower_value(lowering, node->input[0]);
    uint32_t gain = has_gain ? weft_lower_value(lowering, node->input[1]) : x;
    uint32_t result = weft_lower_value(lowering, node->output);
    const struct weft_rows rows = weft_shape_rows(*shape);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_rms_norm_variants, 1, norm_rms_norm,
        .bind = {.x = x, .gain = gain, .result = result},
        .push = {.rows = (uint32_t)rows.rows, .columns = rows.columns, .epsilon = params->epsilon},
        .constant = {.form = (uint32_t)form, .has_gain = has_gain});
    double count = (double)weft_shape_elements(*shape);
    dispatch->flops = 4.0 * count;
    dispatch->bytes = 8.0 * count;
    dispatch->turns = weft_row_turns(2, rows.columns);
    return weft_lower_status(lowering);
}

static weft_status rms_norm_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_with(lowering, node, WEFT_LENGTH_NORM_ROOT_MEAN_SQUARE);
}

static weft_status simple_rms_norm_lower(struct weft_lowering *lowering,
                                         const struct weft_node *node) {
    return lower_with(lowering, node, WEFT_LENGTH_NORM_SIMPLE);
}

static weft_status scale_norm_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_with(lowering, node, WEFT_LENGTH_NORM_LENGTH);
}

const struct weft_op weft_op_rms_norm = {
    .name = "rms_norm",
    .min_inputs = 1,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_rms_norm_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_rms_norm_node, epsilon, F32)),
    .infer = rms_norm_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .whole = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "row", .lower = rms_norm_lower}),
};

const struct weft_op weft_op_simple_rms_norm = {
    .name = "simple_rms_norm",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_rms_norm_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_rms_norm_node, epsilon, F32)),
    .infer = rms_norm_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .whole = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "row", .lower = simple_rms_norm_lower}),
};

const struct weft_op weft_op_scale_norm = {
    .name = "scale_norm",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_rms_norm_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_rms_norm_node, epsilon, F32)),
    .infer = scale_norm_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .whole = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "row", .lower = scale_norm_lower}),
};
