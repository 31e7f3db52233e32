/* SPDX-License-Identifier: MIT */
/* Checks and lowering shared by mixers that make features of x f32 [B, n, d]. A row is one head of one token. */
#ifndef WEFT_MIXERS_FEATURE_ROWS_H
#define WEFT_MIXERS_FEATURE_ROWS_H

#include <weft/mixers.h>

#include "lower/lowering.h"

/** The names of the stabilizers, by number. */
extern const char *const weft_stabilizer_words[WEFT_STABILIZER_COUNT];

/* Every message starts with the op's name. */

weft_status weft_check_stabilizer(const weft_graph *graph, const struct weft_node *node,
                                  weft_stabilizer stabilizer);

/** Checks input 0, x, the heads and the scale; a scale of 0 becomes the usual (d/heads)^(-1/4). */
weft_status weft_check_feature_rows(float *scale, const weft_graph *graph,
                                    const struct weft_node *node, uint32_t heads);

/** The result, f32 [B, n, heads · features]; WEFT_INVALID_ARGUMENT where that is too many. */
weft_status weft_infer_features(weft_dtype *dtype, weft_shape *shape, const weft_graph *graph,
                                const struct weft_node *node, uint32_t heads, uint64_t features);

/** alpha x wᵀ in a scratch storage [rows, count]: x [rows, width], w [count, width]. */
uint32_t weft_lower_row_projection(struct weft_lowering *lowering, uint32_t x, uint64_t rows,
                                   uint32_t width, uint32_t w, uint32_t count, float alpha);

/**
 * The largest of of_rows [batch, tokens, heads] in a scratch storage [batch, heads]: what WEFT_STABILIZER_KEY divides by.
 * lengths: a storage, the tokens of each sequence; WEFT_NO_STORAGE: all. of_rows is changed behind them.
 */
uint32_t weft_lower_sequence_maximum(struct weft_lowering *lowering, uint32_t of_rows,
                                     uint32_t lengths, const uint32_t sizes[3]);

#endif
