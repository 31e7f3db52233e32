/* SPDX-License-Identifier: MIT */
#include "ops/around_axis.h"

#include "lower/cut.h"

struct weft_axis weft_axis_of(weft_shape shape, uint32_t first, uint32_t last) {
    struct weft_axis result = {.outer = 1, .extent = 1, .inner = 1};
    for (uint32_t i = 0; i < shape.rank; i++) {
        if (i < first) {
            result.outer *= shape.dim[i];
        } else if (i <= last) {
            result.extent *= shape.dim[i];
        } else {
            result.inner *= shape.dim[i];
        }
    }
    return result;
}

bool weft_axis_parts(struct weft_lowering *lowering, const struct weft_node *node, uint32_t axis) {
    const struct weft_cut *cuts = WEFT_CUTS({.inputs = 1, .axes = axis});
    return axis > 0 && weft_cut_along(lowering, node, cuts);
}

uint32_t weft_blocks_of(uint32_t extent, uint32_t block) {
    return (extent - 1) / block + 1;
}
