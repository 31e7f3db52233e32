/* SPDX-License-Identifier: MIT */
#include "ops/axis.h"

weft_status weft_expect_axis(const weft_graph *graph, const struct weft_node *node, uint32_t axis) {
    const weft_shape *x = weft_node_shape(graph, node, 0);
    if (axis >= x->rank) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: axis %u is out of range for shape %s", node->op->name, axis,
                         weft_shape_text(*x, text));
    }
    return WEFT_OK;
}
