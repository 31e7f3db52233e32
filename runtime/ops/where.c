/* SPDX-License-Identifier: MIT */
/* One of two tensors, element by element. */
#include <weft/arithmetic.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/elementwise/where.h"
#include "ops/broadcast.h"

weft_status weft_graph_where(weft_tensor *out, weft_graph *graph, weft_tensor condition,
                             weft_tensor a, weft_tensor b) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const weft_tensor inputs[] = {condition, a, b};
    return weft_graph_add(out, graph, &weft_op_where, inputs, 3, NULL, 0);
}

static weft_status where_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                               weft_shape *shape) {
    const weft_dtype condition = weft_node_dtype(graph, node, 0);
    const weft_dtype a = weft_node_dtype(graph, node, 1);
    const weft_dtype b = weft_node_dtype(graph, node, 2);
    if (condition != WEFT_I32) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH, "condition must be i32, not %s",
                              weft_dtype_name(condition));
    }
    if (a != b) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH, "a is %s and b %s",
                              weft_dtype_name(a), weft_dtype_name(b));
    }
    *dtype = a;
    return weft_broadcast_infer(graph, node, "condition, a and b", shape);
}

static weft_status where_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_broadcast broadcast = weft_broadcast_of(lowering->graph, node);
    const uint32_t condition = weft_lower_value(lowering, node->input[0]);
    const uint32_t a = weft_lower_value(lowering, node->input[1]);
    const uint32_t b = weft_lower_value(lowering, node->input[2]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const uint32_t inner = weft_broadcast_inner(lowering, &broadcast);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, elementwise_where, weft_broadcast_grid(&broadcast, inner),
                   .bind = {.condition = condition, .a = a, .b = b, .result = result},
                   .push = {WEFT_BROADCAST_FIELDS(broadcast), .condition_has = broadcast.has[0],
                            .a_has = broadcast.has[1], .b_has = broadcast.has[2]},
                   .constant = {.inner = inner});
    dispatch->bytes = 12.0 * (double)broadcast.count;
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_where = {
    .name = "where",
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = where_infer,
    .lower_parts = weft_broadcast_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = where_lower}),
};
