/* SPDX-License-Identifier: MIT */
/* Softmax and its logarithm. */
#include "ops/softmax.h"

#include <weft/arithmetic.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/softmax/columns.h"
#include "kernels/softmax/columns_lanes.h"
#include "kernels/softmax/lanes.h"
#include "kernels/softmax/log.h"
#include "kernels/softmax/log_lanes.h"
#include "kernels/softmax/side.h"
#include "kernels/softmax/softmax.h"
#include "ops/around_axis.h"
#include "ops/columns.h"

weft_status weft_graph_softmax(weft_tensor *out, weft_graph *graph, weft_tensor x) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    return weft_graph_add(out, graph, &weft_op_softmax, &x, 1, NULL, 0);
}

WEFT_VARIANTS(softmax, "softmax/softmax",
              WEFT_GROUP_ROW(softmax_softmax, weft_grid_of_first_groups, 1.0F),
              WEFT_SIDE_ROW(softmax_side, weft_suits_side),
              WEFT_LANES_ROWS(softmax_lanes, weft_lanes_grid, 1))

void weft_lower_softmax(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                        struct weft_rows rows) {
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_softmax_variants, 1, softmax_softmax, .bind = {.x = x, .result = result},
        .push = {.rows = (uint32_t)rows.rows, .columns = rows.columns},
        .constant = {.kept = weft_rows_kept(rows.columns)});
    double count = (double)rows.rows * rows.columns;
    dispatch->flops = 20.0 * count;
    dispatch->bytes = 8.0 * count;
    dispatch->turns = weft_row_turns(3, rows.columns);
}

static weft_status softmax_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                 weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return weft_expect_f32(graph, node, 0, "x");
}

static weft_status softmax_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    uint32_t x = weft_lower_value(lowering, node->input[0]);
    uint32_t result = weft_lower_value(lowering, node->output);
    weft_lower_softmax(lowering, result, x,
                       weft_shape_rows(*weft_node_shape(lowering->graph, node, 0)));
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_softmax = {
    .name = "softmax",
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = softmax_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .whole = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "row", .lower = softmax_lower}),
};

/* ---- over any axis ---- */

struct weft_softmax_axis_node {
    uint32_t axis;
};

WEFT_VARIANTS(log_softmax, "softmax/log",
              WEFT_GROUP_ROW(softmax_log, weft_grid_of_first_groups, 1.0F),
              WEFT_LANES_ROWS(softmax_log_lanes, weft_lanes_grid, 1))

WEFT_VARIANTS(softmax_columns, "softmax/columns", WEFT_COLUMNS_ROWS(softmax_columns))

weft_status weft_graph_softmax_axis(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                    uint32_t axis) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_softmax_axis_node params = {.axis = axis};
    return weft_graph_add(out, graph, &weft_op_softmax_axis, &x, 1, &params, sizeof params);
}

weft_status weft_graph_log_softmax(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                   uint32_t axis) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_softmax_axis_node params = {.axis = axis};
    return weft_graph_add(out, graph, &weft_op_log_softmax, &x, 1, &params, sizeof params);
}

static weft_status axis_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    const struct weft_softmax_axis_node *params = (const void *)node->params.bytes;
    WEFT_TRY(softmax_infer(graph, node, dtype, shape));
    return weft_expect_axis(graph, node, params->axis);
}

static void lower_columns(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                          struct weft_axis axis, bool logarithm) {
    const uint64_t count = axis.outer * axis.inner;
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_softmax_columns_variants, 1, softmax_columns,
        .bind = {.x = x, .result = result},
        .push = {.count = (uint32_t)count, .extent = axis.extent, .inner = (uint32_t)axis.inner},
        .constant = {.logarithm = logarithm});
    dispatch->flops = 40.0 * (double)count * axis.extent;
    dispatch->bytes = 8.0 * (double)count * axis.extent;
    dispatch->turns = 3.0 * axis.extent;
}

static void lower_log_rows(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                           struct weft_axis axis) {
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_log_softmax_variants, 1, softmax_log, .bind = {.x = x, .result = result},
        .push = {.rows = (uint32_t)axis.outer, .columns = axis.extent});
    dispatch->flops = 20.0 * (double)axis.outer * axis.extent;
    dispatch->bytes = 8.0 * (double)axis.outer * axis.extent;
    dispatch->turns = weft_row_turns(3, axis.extent);
}

static weft_status axis_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_softmax_axis_node *params = (const void *)node->params.bytes;
    const weft_shape shape = *weft_node_shape(lowering->graph, node, 0);
    const struct weft_axis axis = weft_axis_of(shape, params->axis, params->axis);
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const bool logarithm = node->op == &weft_op_log_softmax;
    if (axis.inner != 1) {
        lower_columns(lowering, result, x, axis, logarithm);
    } else if (logarithm) {
        lower_log_rows(lowering, result, x, axis);
    } else {
        weft_lower_softmax(lowering, result, x, (struct weft_rows){axis.outer, axis.extent});
    }
    return weft_lower_status(lowering);
}

static bool axis_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_softmax_axis_node *params = (const void *)node->params.bytes;
    return weft_axis_parts(lowering, node, params->axis);
}

const struct weft_op weft_op_softmax_axis = {
    .name = "softmax_axis",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_softmax_axis_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_softmax_axis_node, axis, U32)),
    .infer = axis_infer,
    .lower_parts = axis_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "row", .lower = axis_lower}),
};

const struct weft_op weft_op_log_softmax = {
    .name = "log_softmax",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_softmax_axis_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_softmax_axis_node, axis, U32)),
    .infer = axis_infer,
    .lower_parts = axis_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "row", .lower = axis_lower}),
};
