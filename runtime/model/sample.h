/* SPDX-License-Identifier: MIT */
/* Choosing a token by its logits, with the same choice on every machine that has the same logits. */
#ifndef WEFT_MODEL_SAMPLE_H
#define WEFT_MODEL_SAMPLE_H

#include "core/host.h"

typedef struct weft_sampling {
    double
        temperature; /* of the softmax; 0: the token of the largest logit, and the first of several */
    uint32_t top_k; /* only among so many of the largest, the first ones of equals; 0: among all */
    uint64_t seed;
} weft_sampling;

/**
 * The token that follows. `index` is the number of the choice: each has a random number of its own, from Philox. Errors:
 * WEFT_INVALID_ARGUMENT for a logit that is NaN or infinite; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_sample(uint32_t *token, const float *logits, uint32_t count,
                        const weft_sampling *sampling, uint64_t index, const weft_host *host);

#endif
