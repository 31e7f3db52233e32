/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include <weft/model.h>

#include "core/host.h"
#include "core/philox.h"
#include "core/portable_math.h"

#define LEAST_EXPONENT (-700.0) /* below it weft_portable_exp ends, and a weight is 0 */

struct candidate {
    float logit;
    uint32_t token;
};

static weft_status check(const float *logits, uint32_t count, const weft_host *host) {
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(logits[i])) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "the logit of token %u is %g, not finite: no token can be chosen", i,
                             (double)logits[i]);
        }
    }
    return WEFT_OK;
}

static uint32_t find_largest(const float *logits, uint32_t count) {
    uint32_t largest = 0;
    for (uint32_t i = 1; i < count; i++) {
        largest = logits[i] > logits[largest] ? i : largest;
    }
    return largest;
}

/* Largest first, the first of equals before the others. */
static int by_logit(const void *left, const void *right) {
    const struct candidate *a = left;
    const struct candidate *b = right;
    if (a->logit > b->logit || a->logit < b->logit) {
        return a->logit > b->logit ? -1 : 1;
    }
    return (a->token > b->token) - (a->token < b->token);
}

/* Uniform in 0 … 1, 1 left out: a multiple of 2^-53. */
static double uniform(uint64_t seed, uint64_t index) {
    const uint64_t high = weft_philox_u32(seed, 0, 2 * index) >> 5;
    const uint64_t low = weft_philox_u32(seed, 0, 2 * index + 1) >> 6;
    return (double)(high << 26 | low) * 0x1p-53;
}

static double weight(const struct candidate *candidate, double largest, double temperature) {
    const double exponent = ((double)candidate->logit - largest) / temperature;
    return exponent < LEAST_EXPONENT ? 0.0 : weft_portable_exp(exponent);
}

static uint32_t draw(const struct candidate *candidates, uint32_t count, double largest,
                     const weft_sampling *sampling, uint64_t index) {
    double total = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        total += weight(&candidates[i], largest, sampling->temperature);
    }
    double rest = uniform(sampling->seed, index) * total;
    uint32_t last = 0; /* that can be drawn: where rounding has left a rest behind the end */
    for (uint32_t i = 0; i < count; i++) {
        const double own = weight(&candidates[i], largest, sampling->temperature);
        if (rest < own) {
            return candidates[i].token;
        }
        rest -= own;
        last = own > 0.0 ? i : last;
    }
    return candidates[last].token;
}

weft_status weft_sample(uint32_t *token, const float *logits, uint32_t count,
                        const weft_sampling *sampling, uint64_t index, const weft_host *host) {
    WEFT_ENTER;
    if (!isfinite(sampling->temperature) || sampling->temperature < 0.0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "temperature: expected a finite number of at least 0, found %g",
                         sampling->temperature);
    }
    const weft_status status = check(logits, count, host);
    if (status != WEFT_OK) {
        return status;
    }
    const uint32_t largest = find_largest(logits, count);
    if (sampling->temperature <= 0.0) {
        *token = largest;
        return WEFT_OK;
    }
    struct candidate *candidates = weft_alloc_zero(host, count, sizeof *candidates);
    if (!candidates) {
        return weft_fail_memory(host, "a choice of tokens");
    }
    for (uint32_t i = 0; i < count; i++) {
        candidates[i] = (struct candidate){.logit = logits[i], .token = i};
    }
    uint32_t among = count;
    if (sampling->top_k > 0 && sampling->top_k < count) {
        qsort(candidates, count, sizeof *candidates, by_logit);
        among = sampling->top_k;
    }
    *token = draw(candidates, among, (double)logits[largest], sampling, index);
    weft_free(host, candidates);
    return WEFT_OK;
}
