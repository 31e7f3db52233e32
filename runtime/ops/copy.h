/* SPDX-License-Identifier: MIT */
#ifndef WEFT_OPS_COPY_H
#define WEFT_OPS_COPY_H

#include "graph/lowering.h"

/** Runs of `inner` words, `stride` words apart, the first at `offset`. */
struct weft_copy_runs {
    uint32_t inner;
    uint32_t stride;
    uint32_t offset;
};

/** Appends target[0 … count) = the runs of source. */
void weft_lower_copy_runs(struct weft_lowering *lowering, uint32_t target, uint32_t source,
                          uint64_t count, struct weft_copy_runs runs);

/** Appends target[0 … count) = source[0 … count), in words. */
void weft_lower_copy(struct weft_lowering *lowering, uint32_t target, uint32_t source,
                     uint64_t count);

#endif
