/* SPDX-License-Identifier: MIT */
/* NumPy's broadcasting: the host half of shaders/include/broadcast.glsl. */
#ifndef WEFT_OPS_BROADCAST_H
#define WEFT_OPS_BROADCAST_H

#include "lower/divisor.h"
#include "lower/lowering.h"

#define WEFT_BROADCAST_OPERANDS 3

/**
 * Push constants of that file. Axes begin with the last one; axes along which the same operands are repeated become
 * one.
 */
struct weft_broadcast {
    uint64_t count;
    uint32_t axes;
    uint32_t extent[WEFT_MAX_RANK];
    struct weft_divisor divisor[WEFT_MAX_RANK]; /* by these extents */
    uint32_t has[WEFT_BROADCAST_OPERANDS];      /* bits: the axes that an operand has */
};

/** The shape of a node's inputs together, which is its output's; WEFT_SHAPE_MISMATCH naming `what` and two that do not fit. */
weft_status weft_broadcast_infer(const weft_graph *graph, const struct weft_node *node,
                                 const char *what, weft_shape *shape);

struct weft_broadcast weft_broadcast_of(const weft_graph *graph, const struct weft_node *node);

/** The constant INNER: on processors rows along the last axis, if they are long, else 0. */
uint32_t weft_broadcast_inner(const struct weft_lowering *lowering,
                              const struct weft_broadcast *broadcast);

/** As that constant has it. */
struct weft_grid weft_broadcast_grid(const struct weft_broadcast *broadcast, uint32_t inner);

/** The fields of a kernel's push constants. */
#define WEFT_BROADCAST_FIELDS(broadcast)                                            \
    .count = (uint32_t)(broadcast).count, .axes = (broadcast).axes,                 \
    .extent0 = (broadcast).extent[0], .extent1 = (broadcast).extent[1],             \
    .extent2 = (broadcast).extent[2], .extent3 = (broadcast).extent[3],             \
    .extent4 = (broadcast).extent[4], .extent5 = (broadcast).extent[5],             \
    .extent6 = (broadcast).extent[6], .magic0 = (broadcast).divisor[0].magic,       \
    .magic1 = (broadcast).divisor[1].magic, .magic2 = (broadcast).divisor[2].magic, \
    .magic3 = (broadcast).divisor[3].magic, .magic4 = (broadcast).divisor[4].magic, \
    .magic5 = (broadcast).divisor[5].magic, .magic6 = (broadcast).divisor[6].magic, \
    .shifts = weft_divisor_shifts((broadcast).divisor, 6), .shift6 = (broadcast).divisor[6].shift

/** Lowers such a node in parts along the output's first axis: struct weft_op.lower_parts. */
bool weft_broadcast_parts(struct weft_lowering *lowering, const struct weft_node *node);

#endif
