/* SPDX-License-Identifier: MIT */
/*
 * Nodes whose tensors are larger than the device can bind, or whose kernels have more workgroups than a dispatch may: they are lowered in parts. A part of a value is a value of its own
 * in the same memory, and a part of a weight a weight of its own, so that implementations see neither.
 */
#ifndef WEFT_LOWER_CUT_H
#define WEFT_LOWER_CUT_H

#include "lower/lowering.h"

/** Appends a node's dispatches: those of its implementation, or of its parts where one binds or launches more than it may. */
void weft_lower_node(struct weft_lowering *lowering, const struct weft_node *node);

/** Alignment of parts in bytes: the device can bind there, and kernels can load four elements. */
uint64_t weft_cut_alignment(const struct weft_lowering *lowering);

/** Bytes that the device can bind at once, a multiple of weft_cut_alignment. */
uint64_t weft_cut_limit(const struct weft_lowering *lowering);

/** Bytes of the largest tensor of a node. */
uint64_t weft_cut_largest(const struct weft_lowering *lowering, const struct weft_node *node);

/**
 * A value of that shape in the memory of another, from its element `first` on, which is where a part may
 * begin. `stride`: elements from row to row, of a part of the columns; 0: whole rows. May move the graph's
 * values.
 */
uint32_t weft_cut_value(struct weft_lowering *lowering, uint32_t value, uint64_t first,
                        weft_shape shape, uint32_t stride);

/** How many slices may come before a part, so that it begins where it may: multiples of this. */
uint64_t weft_cut_step(const struct weft_lowering *lowering, uint64_t slice_bytes);

/** How many of `count` slices go into a part: a multiple of `step`, of slices of at most slice_bytes, one step at least. */
uint64_t weft_cut_count(const struct weft_lowering *lowering, uint64_t count, uint64_t step,
                        uint64_t slice_bytes);

/**
 * How many steps of a recurrence one dispatch makes. A workgroup goes through a sequence, which may take seconds, and no dispatch can
 * be divided further: watchdogs of small devices want fewer operations, of which a step has so many. An invocation's loops make so many
 * turns in a step, at most, of which some drivers allow only so many (weft_device.most_turns).
 */
uint32_t weft_cut_sequence(const struct weft_lowering *lowering, uint32_t operations, double turns);

/** Lowers a node in parts in the first of these ways in which it can be; false where it cannot. */
bool weft_cut_along(struct weft_lowering *lowering, const struct weft_node *node,
                    const struct weft_cut *cuts);

#endif
