/* SPDX-License-Identifier: MIT */
#include "ops/broadcast.h"

#include "lower/cut.h"

/* An operand's extent along an axis of the output; 1 where it has none. */
static uint32_t extent_of(weft_shape operand, weft_shape output, uint32_t axis) {
    const uint32_t missing = output.rank - operand.rank;
    return axis < missing ? 1 : operand.dim[axis - missing];
}

static bool joined(weft_shape *shape, weft_shape operand) {
    const weft_shape before = *shape;
    weft_shape both = before.rank >= operand.rank ? before : operand;
    for (uint32_t axis = 0; axis < both.rank; axis++) {
        const uint32_t a = extent_of(before, both, axis);
        const uint32_t b = extent_of(operand, both, axis);
        if (a != b && a != 1 && b != 1) {
            return false;
        }
        both.dim[axis] = a == 1 ? b : a;
    }
    *shape = both;
    return true;
}

weft_status weft_broadcast_infer(const weft_graph *graph, const struct weft_node *node,
                                 const char *what, weft_shape *shape) {
    weft_shape all = *weft_node_shape(graph, node, 0);
    for (uint32_t i = 1; i < node->input_count; i++) {
        const weft_shape operand = *weft_node_shape(graph, node, i);
        if (!joined(&all, operand)) {
            char left[WEFT_SHAPE_TEXT_SIZE];
            char right[WEFT_SHAPE_TEXT_SIZE];
            return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH,
                                  "%s: shapes %s and %s have an axis, counted from the last, that "
                                  "differs and is 1 in neither",
                                  what, weft_shape_text(all, left),
                                  weft_shape_text(operand, right));
        }
    }
    *shape = all;
    return WEFT_OK;
}

struct weft_broadcast weft_broadcast_of(const weft_graph *graph, const struct weft_node *node) {
    const weft_shape output = graph->values[node->output].shape;
    struct weft_broadcast result = {.count = weft_shape_elements(output)};
    uint32_t newest = UINT32_MAX; /* operands that have the newest axis, as bits */
    for (uint32_t axis = output.rank; axis-- > 0;) {
        uint32_t having = 0;
        for (uint32_t i = 0; i < node->input_count; i++) {
            const weft_shape operand = *weft_node_shape(graph, node, i);
            having |= (uint32_t)(extent_of(operand, output, axis) != 1) << i;
        }
        if (output.dim[axis] == 1) {
            continue;
        }
        if (having == newest) {
            result.extent[result.axes - 1] *= output.dim[axis];
            continue;
        }
        newest = having;
        for (uint32_t i = 0; i < node->input_count; i++) {
            result.has[i] |= (having >> i & 1) << result.axes;
        }
        result.extent[result.axes++] = output.dim[axis];
    }
    result.axes =
        result.axes ? result.axes : 1; /* of one element, which is the first of all operands */
    for (uint32_t axis = 0; axis < WEFT_MAX_RANK; axis++) {
        result.divisor[axis] = weft_divisor_of(result.extent[axis]);
    }
    return result;
}

uint32_t weft_broadcast_inner(const struct weft_lowering *lowering,
                              const struct weft_broadcast *broadcast) {
    enum { ROWS = 8 }; /* WEFT_INNER_ROWS */
    uint32_t inner = ROWS;
    for (uint32_t i = 0; i < WEFT_BROADCAST_OPERANDS; i++) {
        inner |= (broadcast->has[i] & 1) << i;
    }
    return weft_lower_by_rows(lowering, broadcast->extent[0]) ? inner : 0;
}

struct weft_grid weft_broadcast_grid(const struct weft_broadcast *broadcast, uint32_t inner) {
    const uint32_t items = broadcast->extent[0];
    return inner == 0 ? weft_grid_of_items(broadcast->count)
                      : weft_grid_of_rows(broadcast->count / items, items);
}

bool weft_broadcast_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_graph *graph = lowering->graph;
    const weft_shape output = graph->values[node->output].shape;
    struct weft_cut cuts[2] = {{.axes = 1}};
    while (cuts->axes < output.rank && output.dim[cuts->axes - 1] == 1) {
        cuts->axes++;
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        const weft_shape operand = *weft_node_shape(graph, node, i);
        const bool has = output.rank > 0 && extent_of(operand, output, cuts->axes - 1) != 1;
        if (has && operand.rank != output.rank) {
            return false; /* it lacks axes of 1 in front */
        }
        cuts->inputs |= (uint32_t)has << i;
    }
    return weft_cut_along(lowering, node, cuts);
}
