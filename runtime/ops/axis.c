/* SPDX-License-Identifier: MIT */
#include "ops/axis.h"

weft_status weft_expect_axis(const weft_graph *graph, const struct weft_node *node, uint32_t axis) {
    const weft_shape *x = weft_node_shape(graph, node, 0);
    if (axis >= x->rank) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: axis %u is none of %s",
                         node->op->name, axis, weft_shape_text(*x, text));
    }
    return WEFT_OK;
}

struct weft_middle weft_shape_middle(weft_shape shape, uint32_t axis) {
    struct weft_middle middle = {.outer = 1, .length = shape.dim[axis], .inner = 1};
    for (uint32_t i = 0; i < shape.rank; i++) {
        middle.outer *= i < axis ? shape.dim[i] : 1;
        middle.inner *= i > axis ? shape.dim[i] : 1;
    }
    return middle;
}
