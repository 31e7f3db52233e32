/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <weft/model.h>

#include "core/given.h"
#include "core/host.h"
#include "core/math/philox.h"
#include "core/math/portable_math.h"
#include "core/try.h"

#define LEAST_EXPONENT (-700.0) /* below it weft_portable_exp ends, and a weight is 0 */

struct candidate {
    double weight; /* its share of the sum of all */
    float logit;
    uint32_t token;
};

static weft_status check_sampling(const weft_sampling *sampling, const weft_host *host) {
    if (!isfinite(sampling->temperature) || sampling->temperature < 0.0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "temperature: expected a finite number of at least 0, found %g",
                         sampling->temperature);
    }
    if (!(sampling->top_p >= 0.0 && sampling->top_p <= 1.0)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "top_p: expected a number from 0 to 1, found %g", sampling->top_p);
    }
    return WEFT_OK;
}

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

/* ---- the likeliest first, the first of equals before the others ---- */

static bool is_before(const struct candidate *a, const struct candidate *b) {
    return a->logit > b->logit || (a->logit >= b->logit && a->token < b->token);
}

/* Restores a heap, whose root is the likeliest, below an element that may be out of order. */
static void sink(struct candidate *heap, uint32_t count, uint32_t at) {
    for (;;) {
        const size_t left = 2 * (size_t)at + 1;
        uint32_t first = at;
        for (size_t child = left; child < left + 2 && child < count; child++) {
            first = is_before(&heap[child], &heap[first]) ? (uint32_t)child : first;
        }
        if (first == at) {
            return;
        }
        const struct candidate moved = heap[at];
        heap[at] = heap[first];
        heap[first] = moved;
        at = first;
    }
}

static void make_heap(struct candidate *candidates, uint32_t count) {
    for (uint32_t i = count / 2; i-- > 0;) {
        sink(candidates, count, i);
    }
}

/* Moves a heap's root behind the others. Few are taken of many as a rule: that is faster than to sort all. */
static const struct candidate *take_likeliest(struct candidate *heap, uint32_t count) {
    const struct candidate likeliest = heap[0];
    heap[0] = heap[count - 1];
    heap[count - 1] = likeliest;
    sink(heap, count - 1, 0);
    return &heap[count - 1];
}

static void reverse(struct candidate *candidates, uint32_t count) {
    for (uint32_t i = 0; i < count / 2; i++) {
        const struct candidate moved = candidates[i];
        candidates[i] = candidates[count - 1 - i];
        candidates[count - 1 - i] = moved;
    }
}

static double sum(const struct candidate *candidates, uint32_t count) {
    double total = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        total += candidates[i].weight;
    }
    return total;
}

/* So many of the first that their weights reach `mass`, or all. */
static uint32_t reach(const struct candidate *candidates, uint32_t count, double mass) {
    double reached = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        reached += candidates[i].weight;
        if (reached >= mass) {
            return i + 1;
        }
    }
    return count;
}

struct candidates {
    struct candidate *first;
    uint32_t count;
};

/* Those that may be drawn, the likeliest first. Sums are in orders that the logits determine: the same everywhere. */
static struct candidates keep_likeliest(struct candidate *all, uint32_t count,
                                        const weft_sampling *sampling) {
    const bool among_all = sampling->top_k == 0 || sampling->top_k >= count;
    const bool has_mass = sampling->top_p > 0.0 && sampling->top_p < 1.0;
    const uint32_t most = among_all ? count : sampling->top_k;
    const double mass = among_all && has_mass ? sampling->top_p * sum(all, count) : INFINITY;
    double reached = 0.0;
    uint32_t taken = 0;
    make_heap(all, count);
    while (taken < most && reached < mass) {
        reached += take_likeliest(all, count - taken)->weight;
        taken++;
    }
    struct candidates kept = {.first = all + (count - taken), .count = taken};
    reverse(kept.first, taken);
    if (!among_all && has_mass) {
        kept.count = reach(kept.first, taken, sampling->top_p * reached);
    }
    return kept;
}

/* ---- drawing ---- */

/* Uniform in 0 … 1, 1 left out: a multiple of 2^-53. */
static double uniform(uint64_t seed, uint64_t index) {
    const uint64_t high = weft_philox_u32(seed, 0, 2 * index) >> 5;
    const uint64_t low = weft_philox_u32(seed, 0, 2 * index + 1) >> 6;
    return (double)(high << 26 | low) * 0x1p-53;
}

static double weight(float logit, float largest, double temperature) {
    const double exponent = ((double)logit - (double)largest) / temperature;
    return exponent < LEAST_EXPONENT ? 0.0 : weft_portable_exp(exponent);
}

static uint32_t draw(const struct candidates *among, uint64_t seed, uint64_t index) {
    double rest = uniform(seed, index) * sum(among->first, among->count);
    uint32_t last = 0; /* that can be drawn: where rounding has left a rest behind the end */
    for (uint32_t i = 0; i < among->count; i++) {
        const double own = among->first[i].weight;
        if (rest < own) {
            return among->first[i].token;
        }
        rest -= own;
        last = own > 0.0 ? i : last;
    }
    return among->first[last].token;
}

weft_status weft_sample(uint32_t *token, const float *logits, uint32_t count,
                        const weft_sampling *sampling, uint64_t index, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, token, logits, sampling);
    WEFT_TRY(check_sampling(sampling, host));
    WEFT_TRY(check(logits, count, host));
    const uint32_t largest = find_largest(logits, count);
    if (sampling->temperature <= 0.0) {
        *token = largest;
        return WEFT_OK;
    }
    struct candidate *all = weft_alloc_zero(host, count, sizeof *all);
    if (!all) {
        return weft_fail_memory(host, "a choice of tokens");
    }
    for (uint32_t i = 0; i < count; i++) {
        all[i] =
            (struct candidate){.weight = weight(logits[i], logits[largest], sampling->temperature),
                               .logit = logits[i],
                               .token = i};
    }
    struct candidates among = {.first = all, .count = count};
    const bool has_mass = sampling->top_p > 0.0 && sampling->top_p < 1.0;
    if (has_mass || (sampling->top_k > 0 && sampling->top_k < count)) {
        among = keep_likeliest(all, count, sampling);
    }
    *token = draw(&among, sampling->seed, index);
    weft_free(host, all);
    return WEFT_OK;
}

/* ---- repetition ---- */

static float penalized(float logit, float penalty) {
    const float value = logit < 0.0F ? logit * penalty : logit / penalty;
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : value;
}

weft_status weft_penalize(float *logits, uint32_t count, const int32_t *tokens,
                          uint32_t token_count, double penalty, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_LIST(host, logits, count);
    WEFT_GIVEN_LIST(host, tokens, token_count);
    const float factor = (float)penalty;
    if (!(factor > 0.0F && isfinite(factor))) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "repetition_penalty: expected a finite number above 0, found %g", penalty);
    }
    uint8_t *seen = weft_alloc_zero(host, count, sizeof *seen);
    if (!seen && count > 0) {
        return weft_fail_memory(host, "tokens that a text has");
    }
    for (uint32_t i = 0; i < token_count; i++) {
        if (tokens[i] >= 0 && (uint32_t)tokens[i] < count && !seen[tokens[i]]) {
            seen[tokens[i]] = 1;
            logits[tokens[i]] = penalized(logits[tokens[i]], factor);
        }
    }
    weft_free(host, seen);
    return WEFT_OK;
}
