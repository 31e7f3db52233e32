/* SPDX-License-Identifier: MIT */
/* Helpers of ops along an axis: tensors as [outer, extent, inner] around it, and blocks of it. */
#ifndef WEFT_OPS_AROUND_AXIS_H
#define WEFT_OPS_AROUND_AXIS_H

#include "lower/lowering.h"
#include "ops/axis.h"

struct weft_axis {
    uint64_t outer;
    uint32_t extent;
    uint64_t inner;
};

/** Around the axes `first` to `last` of a shape, which count as one. */
struct weft_axis weft_axis_of(weft_shape shape, uint32_t first, uint32_t last);

/** Lowers a node in parts along the axes in front of `axis`, of which the first input and the output have the same. */
bool weft_axis_parts(struct weft_lowering *lowering, const struct weft_node *node, uint32_t axis);

/** Into how many blocks of `block` an axis is divided. */
uint32_t weft_blocks_of(uint32_t extent, uint32_t block);

#endif
