/* SPDX-License-Identifier: MIT */
/* Sequences of different lengths in one batch: what lies behind a length is left out. */
#ifndef WEFT_OPS_MASK_H
#define WEFT_OPS_MASK_H

#include "lower/lowering.h"

/** Rows [batch, …, tokens, columns] of f32, and what stands behind a sequence's length along `tokens`. */
struct weft_masked {
    uint32_t x, result; /* storages; may be the same */
    uint32_t lengths;   /* WEFT_NO_STORAGE: all tokens count */
    uint64_t count;     /* elements in all */
    uint32_t batch, tokens, columns;
    float fill;
    uint32_t
        queries; /* causal rows [batch, …, queries, tokens, columns]: of query i also behind token i; 0: not causal */
};

/** Appends result = x before each sequence's length, and fill from there on, whatever x has there. */
void weft_lower_mask(struct weft_lowering *lowering, const struct weft_masked *masked);

/** Masks rows [batch, tokens, columns] into a new scratch storage, which it returns; without lengths returns x. */
uint32_t weft_lower_masked_copy(struct weft_lowering *lowering, uint32_t x, uint32_t lengths,
                                const uint32_t shape[3]);

/** The storage of an input that may be missing (0: the op has none): then WEFT_NO_STORAGE. */
uint32_t weft_lower_lengths(struct weft_lowering *lowering, const weft_node *node, uint32_t input);

#endif
