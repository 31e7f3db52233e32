/* SPDX-License-Identifier: MIT */
#ifndef WEFT_OPS_BINARY_H
#define WEFT_OPS_BINARY_H

#include "lower/lowering.h"

/** Storages of f32, and how many elements they have. */
struct weft_operands {
    uint32_t a, b, result; /* result may be a */
    uint64_t count;        /* of a and result; dispatchable, which weft_lower_countable says */
    uint64_t b_count;      /* divides count: b is repeated */
};

/** Appends result = a ∘ b. */
void weft_lower_binary(struct weft_lowering *lowering, weft_binary op,
                       const struct weft_operands *operands);

/**
 * weft_graph_binary for ops made of several: b has a's shape, or the shape of a's last axes, as their declarations say, and is not
 * broadcast in other ways. WEFT_SHAPE_MISMATCH.
 */
weft_status weft_graph_binary_of_shape(weft_tensor *out, weft_graph *graph, weft_binary op,
                                       weft_tensor a, weft_tensor b);

#endif
