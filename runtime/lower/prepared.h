/* SPDX-License-Identifier: MIT */
/*
 * Constants that the device itself computes, once: what an op makes of its weights before it can use them, such as the
 * transform of a kernel. That is an op of its own, which a plan of nothing else runs while the op that needs it is
 * lowered; where not all is weights its dispatches are part of the plan, and the bits are the same either way.
 */
#ifndef WEFT_LOWER_PREPARED_H
#define WEFT_LOWER_PREPARED_H

#include "lower/lowering.h"

/** Appends the dispatches of a node that is in no graph, to a storage instead of its output. */
typedef void (*weft_lower_to)(struct weft_lowering *lowering, const struct weft_node *node,
                              uint32_t result);

/**
 * The storage of what an op makes of values of the plan: kept on the device where all of them are weights, and
 * otherwise scratch that `lower` fills. A value may be 0 where the op allows it.
 */
uint32_t weft_lower_prepared(struct weft_lowering *lowering, const struct weft_op *op,
                             const uint32_t *values, uint32_t count, const void *params,
                             weft_lower_to lower);

#endif
