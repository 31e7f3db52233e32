/* SPDX-License-Identifier: MIT */
/* The sliding windows of convolutions and of pooling over x [B, c, l] or [B, c, h, w]. */
#ifndef WEFT_OPS_SLIDING_WINDOW_H
#define WEFT_OPS_SLIDING_WINDOW_H

#include "graph/op.h"

/** Windows over two axes, y and x; [B, c, l] has one row. A 0 of the parameters is 1 here. */
struct weft_windows {
    uint32_t extents[2];
    uint32_t sizes[2];
    uint32_t strides[2];
    uint32_t dilations[2];
    uint32_t before[2], after[2]; /* padding */
    uint32_t counts[2];           /* of windows */
};

/** Parameters for each axis; a single axis comes first. */
struct weft_window_params {
    const uint32_t *sizes, *strides, *dilations, *before, *after;
};

/**
 * The windows over a tensor of rank 3 or 4. partial: also those that begin inside and end behind the padding. Errors:
 * WEFT_INVALID_ARGUMENT, starting with the op's name, for a window that does not fit into its axis, and for an axis that is
 * longer than 2^31 - 1 with its padding.
 */
weft_status weft_windows_of(struct weft_windows *windows, const weft_graph *graph, const char *op,
                            const weft_shape *x, const struct weft_window_params *params,
                            bool partial);

/** A shape of such windows: `x` with their counts, and that many channels. */
weft_shape weft_windows_shape(const struct weft_windows *windows, const weft_shape *x,
                              uint32_t channels);

/** How many windows there are of a channel. */
uint64_t weft_windows_count(const struct weft_windows *windows);

/** STRIDE_X of kernels: the stride over x, where it is one that the processor's compiler takes vectors apart by; else 0. */
uint32_t weft_windows_small_stride(const struct weft_windows *windows);

/** Push constants by which kernels find the elements of a window. */
#define WEFT_WINDOWS_PUSH(w)                                                                       \
    .height = (w)->extents[0], .width = (w)->extents[1], .window_height = (w)->sizes[0],           \
    .window_width = (w)->sizes[1], .columns = (w)->counts[1], .stride_y = (w)->strides[0],         \
    .stride_x = (w)->strides[1], .dilation_y = (w)->dilations[0], .dilation_x = (w)->dilations[1], \
    .before_y = (w)->before[0], .before_x = (w)->before[1]

/** Turns of two loops that go through a window, row by row. */
double weft_windows_turns(const struct weft_windows *windows);

/** WEFT_SHAPE_MISMATCH unless input 0, `x`, is f32 of rank 3 or 4. */
weft_status weft_windows_expect(const weft_graph *graph, const struct weft_node *node);

/** A row of WEFT_FIELDS for a pair of such parameters. */
#define WEFT_FIELD_PAIR(type, member)                                                            \
    {                                                                                            \
#member, WEFT_MEMBER_U32, .optional = true, WEFT_MEMBER_AT(type, member), .capacity = 2, \
                                  .counted_at = WEFT_FIELD_FULL                                  \
    }

#endif
