/* SPDX-License-Identifier: MIT */
/* Matrices of a checkpoint, one behind the other, as one weight without a copy of them. */
#ifndef WEFT_MODEL_STACKED_WEIGHT_H
#define WEFT_MODEL_STACKED_WEIGHT_H

#include <weft/graph.h>

/**
 * The rows of `count` matrices of one shape, [count · r, c]: as they are stored, where all are stored in the same way, and otherwise as f32.
 * Takes a reference to each; they are read when they are needed.
 */
weft_status weft_weight_stack_of(weft_weight **out, weft_weight *const *parts, uint32_t count);

/** The matrices of such a weight; null for others. */
weft_weight *const *weft_weight_stack_parts(uint32_t *count, const weft_weight *weight);

#endif
