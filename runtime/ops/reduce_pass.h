/* SPDX-License-Identifier: MIT */
/* Reductions along one axis, of which those over several are made. */
#ifndef WEFT_OPS_REDUCE_PASS_H
#define WEFT_OPS_REDUCE_PASS_H

#include <weft/arithmetic.h>

#include "ops/around_axis.h"
#include "ops/numbers.h"

struct weft_reduce_pass {
    weft_reduction kind; /* SUM, MAX, MIN or PRODUCT */
    weft_term term;      /* what is summed of each element */
    bool integer;        /* i32 */
    struct weft_axis axis;
    uint32_t x, result; /* storages */

    /* Lengths of sequences, or WEFT_NO_STORAGE. */
    uint32_t lengths;
    bool
        counts; /* only the first lengths · step elements of an axis count, outer being the batch */
    bool by_lengths; /* the divisor is times the length */
    uint32_t batch, tokens, step;
    uint32_t passes; /* along this axis before this one: 0 for weft_lower_reduce */

    bool divides;
    float divisor;
};

/** Appends result [outer, inner] = the reduction of x [outer, extent, inner], in an order that the axis determines,
    and with lengths the sequence's alone: then the others of its batch do not matter. */
void weft_lower_reduce(struct weft_lowering *lowering, const struct weft_reduce_pass *pass);

/** Appends result [outer, blocks, inner] = the sums of x [outer, extent, inner] by blocks of `block`. */
void weft_lower_block_sums(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                           struct weft_axis axis, uint32_t block, bool integer);

#endif
