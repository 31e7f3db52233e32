/* SPDX-License-Identifier: MIT */
/* A tensor read under other strides: what permutations, slices and broadcasting are. */
#ifndef WEFT_OPS_STRIDES_H
#define WEFT_OPS_STRIDES_H

#include "lower/lowering.h"

/** The axes of the result, the outermost first, and how many elements of x lie between neighbours along each. */
struct weft_strides {
    uint32_t rank;
    uint32_t extent[WEFT_MAX_RANK];
    uint32_t stride[WEFT_MAX_RANK]; /* modulo 2^32, as all places */
    uint32_t offset;                /* the first element's place */
};

/** Those of a dense tensor. */
struct weft_strides weft_strides_of(weft_shape shape);

/** Merges axes as far as possible: the same elements in the same order. */
struct weft_strides weft_strides_merged(struct weft_strides strides);

/** True if they give all elements of a tensor of that shape in their order. */
bool weft_strides_are_dense(const struct weft_strides *strides, weft_shape x);

/** Makes the node's output of its first input, whatever the size of both. */
void weft_lower_strided(struct weft_lowering *lowering, const struct weft_node *node,
                        struct weft_strides strides);

/** True if weft_lower_rows is the way for these, which are merged, here: on processors, if the innermost axis is long. */
bool weft_strides_lie_in_rows(const struct weft_lowering *lowering,
                              const struct weft_strides *strides);

/** Copies them from a whole storage to another, where rows of the innermost axis lie `row` words apart from word `first` on. */
void weft_lower_rows(struct weft_lowering *lowering, const struct weft_strides *strides, uint32_t x,
                     uint32_t result, uint32_t first, uint32_t row);

/** Copies them from a whole storage to the start of another, one behind the other, whatever the length of their rows. */
void weft_lower_items(struct weft_lowering *lowering, const struct weft_strides *strides,
                      uint32_t x, uint32_t result);

/** Matrices one behind the other. */
struct weft_matrices {
    uint32_t count, rows, columns;
};

/** True if the strides give the transpose of each. */
bool weft_strides_are_transposed(struct weft_matrices *matrices,
                                 const struct weft_strides *strides);

/** Makes the node's output of them, tile by tile. The device must be able to bind both tensors. */
void weft_lower_transposed(struct weft_lowering *lowering, const struct weft_node *node,
                           struct weft_matrices matrices);

#endif
