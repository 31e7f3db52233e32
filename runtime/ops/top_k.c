/* SPDX-License-Identifier: MIT */
/* Where the first elements of an axis are, once they are sorted. */
#include <weft/arithmetic.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/reduce/top_k.h"
#include "lower/divisor.h"
#include "ops/around_axis.h"

struct weft_top_k_node {
    uint32_t axis;
    uint32_t count;
    uint32_t smallest; /* a truth value without padding: equal nodes have equal bytes */
};

weft_status weft_graph_top_k(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t axis,
                             uint32_t count, bool smallest) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_top_k_node params = {.axis = axis, .count = count, .smallest = smallest};
    return weft_graph_add(out, graph, &weft_op_top_k, &x, 1, &params, sizeof params);
}

static weft_status infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    const struct weft_top_k_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, 0);
    WEFT_TRY(weft_expect_axis(graph, node, params->axis));
    if (params->count == 0 || params->count > x.dim[params->axis]) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "top_k: count %u must be from 1 to the elements of axis %u of %s",
                         params->count, params->axis, weft_shape_text(x, text));
    }
    *dtype = WEFT_I32;
    *shape = x;
    shape->dim[params->axis] = params->count;
    return WEFT_OK;
}

static weft_status lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_top_k_node *params = (const void *)node->params.bytes;
    const weft_shape shape = *weft_node_shape(lowering->graph, node, 0);
    const struct weft_axis axis = weft_axis_of(shape, params->axis, params->axis);
    const uint64_t count = weft_shape_elements(shape);
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    if (!weft_lower_countable(lowering, 2.0 * (double)count, "elements")) {
        return weft_lower_status(lowering);
    }
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, reduce_top_k, weft_grid_of_items(count), .bind = {.x = x, .result = result},
        .push = {.count = (uint32_t)count,
                 .extent = axis.extent,
                 WEFT_INVERSE(extent, axis.extent),
                 .inner = (uint32_t)axis.inner,
                 WEFT_INVERSE(inner, (uint32_t)axis.inner),
                 .kept = params->count},
        .constant = {.smallest = params->smallest != 0,
                     .integer = weft_node_dtype(lowering->graph, node, 0) == WEFT_I32});
    dispatch->flops = (double)count * axis.extent;
    dispatch->bytes = 8.0 * (double)count;
    dispatch->turns = axis.extent;
    return weft_lower_status(lowering);
}

static bool lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_top_k_node *params = (const void *)node->params.bytes;
    return weft_axis_parts(lowering, node, params->axis);
}

const struct weft_op weft_op_top_k = {
    .name = "top_k",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_top_k_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_top_k_node, axis, U32),
                          WEFT_FIELD(weft_top_k_node, count, COUNT),
                          WEFT_FIELD(weft_top_k_node, smallest, BOOL)),
    .infer = infer,
    .lower_parts = lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "counts", .lower = lower}),
};
