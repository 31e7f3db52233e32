/* SPDX-License-Identifier: MIT */
/* Softmax over the last axis. */
#include "ops/softmax.h"

#include "kernels/softmax/lanes.h"
#include "kernels/softmax/side.h"
#include "kernels/softmax/softmax.h"
#include "ops/row.h"

weft_status weft_graph_softmax(weft_tensor *out, weft_graph *graph, weft_tensor x) {
    WEFT_ENTER;
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
