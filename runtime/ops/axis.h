/* SPDX-License-Identifier: MIT */
/* Axes as parameters of ops. */
#ifndef WEFT_OPS_AXIS_H
#define WEFT_OPS_AXIS_H

#include "graph/op.h"

/** WEFT_INVALID_ARGUMENT unless the node's first input has that axis. */
weft_status weft_expect_axis(const weft_graph *graph, const struct weft_node *node, uint32_t axis);

#endif
