/* SPDX-License-Identifier: MIT */
/* Axes as parameters of ops. */
#ifndef WEFT_OPS_AXIS_H
#define WEFT_OPS_AXIS_H

#include "graph/op.h"

/** WEFT_INVALID_ARGUMENT unless the node's first input has that axis. */
weft_status weft_expect_axis(const weft_graph *graph, const struct weft_node *node, uint32_t axis);

/** A tensor as [outer, length, inner], with one of its axes in the middle. */
struct weft_middle {
    uint32_t outer, length, inner;
};
struct weft_middle weft_shape_middle(weft_shape shape, uint32_t axis);

#endif
