/* SPDX-License-Identifier: MIT */
/* Softmax attention chunk by chunk, with no memory but the result's: within a band, or over all tokens before. */
#ifndef WEFT_MIXERS_BAND_H
#define WEFT_MIXERS_BAND_H

#include "lower/lowering.h"

struct weft_band {
    uint32_t heads;
    uint32_t kv_heads; /* of k and v; divides heads; 0: heads */
    uint32_t half_width;
    uint32_t causal;
    uint32_t f16; /* keys and values are rounded to f16 before they are read */
    float scale;
};

/**
 * Appends the attention of a node whose inputs 0 to 2 are q [B, n, heads · w], k and v [B, n, kv_heads · w], with the lengths that its op
 * names, and sinks [heads], or WEFT_NO_STORAGE. half_width is below n.
 */
void weft_lower_band(struct weft_lowering *lowering, const struct weft_node *node,
                     const struct weft_band *band, uint32_t sinks);

/** Checks input `sinks` of a node, if it is there: f32 [heads]. Errors: WEFT_SHAPE_MISMATCH. */
weft_status weft_check_sinks(const weft_graph *graph, const struct weft_node *node, uint32_t sinks,
                             uint32_t heads);

#endif
