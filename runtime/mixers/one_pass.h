/* SPDX-License-Identifier: MIT */
/* Softmax attention in one pass, for processors: scores stay in the nearer caches (shaders/attention/rows.comp). */
#ifndef WEFT_MIXERS_ONE_PASS_H
#define WEFT_MIXERS_ONE_PASS_H

#include "ops/matmul.h"

struct weft_one_pass {
    struct weft_product scores; /* of all heads: b is the transposed keys, and c nothing */
    struct weft_matrix values;
    uint32_t heads;
    uint32_t lengths; /* of the keys of each sequence, or WEFT_NO_STORAGE */
    uint32_t result;
};

/** Appends its dispatches. False, and nothing is appended, where the device binds less than one head's panels or a block's scores. */
bool weft_lower_one_pass(struct weft_lowering *lowering, const struct weft_one_pass *attention);

#endif
