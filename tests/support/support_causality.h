/* SPDX-License-Identifier: MIT */
/* What tests of causal mixers share: tokens that change, and what may come of it. */
#ifndef WEFT_TESTS_SUPPORT_CAUSALITY_H
#define WEFT_TESTS_SUPPORT_CAUSALITY_H

#include "support_graph.h"

/** Writes the result, [n, values]. */
typedef void weft_test_mix(struct weft_test_graph *f, const void *problem, float *out);

/** A mixer of one sequence, and its inputs, up to the first without columns. */
struct weft_test_mixer {
    weft_test_mix *run;
    const void *problem;
    uint32_t n, values;
    struct {
        float *data; /* [n, columns] */
        uint32_t columns;
    } inputs[5];
    float tolerance; /* of the tokens in front; 0: they keep their bits */
};

/**
 * Adds `by` to all inputs of the tokens from `from` on: those in front do not change, and `from` does. The inputs are afterwards
 * what they were.
 */
void weft_test_expect_causal(struct weft_test_graph *f, const struct weft_test_mixer *mixer,
                             uint32_t from, float by);

/** Adds `by` to the last token of the input: the first token does change. */
void weft_test_expect_all_read(struct weft_test_graph *f, const struct weft_test_mixer *mixer,
                               uint32_t input, float by);

#endif
