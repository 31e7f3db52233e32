/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Random features of heads wider than a workgroup: with lengths each sequence has the bits that it has alone. */
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "support_graph.h"
#include "verify/conformance.h"

/* 200 channels are two for a lane, and 300 three. */
enum { BATCH = 2, TOKENS = 300, OTHERS = 7, MOST_WIDTH = 300, FEATURES = 5 };

struct sides {
    uint32_t batch, tokens, others, width;
    const float *x, *other, *w;
    const int32_t *lengths, *other_lengths; /* null: all tokens are there */
};

static void make_features(struct weft_test_graph *f, const struct sides *s, float *y) {
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_shape batch = weft_shape_of(s->batch);
    weft_random_features_params params = {.component = WEFT_COMPONENT_OPTIMAL};
    const weft_tensor x =
        weft_test_feed(&run, "x", weft_shape_of(s->batch, s->tokens, s->width), s->x);
    const weft_tensor w = weft_test_feed(&run, "w", weft_shape_of(FEATURES, s->width), s->w);
    params.other =
        weft_test_feed(&run, "other", weft_shape_of(s->batch, s->others, s->width), s->other);
    if (s->lengths) {
        params.lengths = weft_test_feed_i32(&run, "lengths", batch, s->lengths);
        params.other_lengths = weft_test_feed_i32(&run, "other_lengths", batch, s->other_lengths);
    }
    weft_tensor out;
    assert_ok(weft_graph_random_features(&out, run.graph, x, w, &params));
    weft_test_execute_to(&run, out, y);
}

/* Other bits of the sums do not always reach a feature's: each round is one more chance. */
static void check_width(struct weft_test_graph *f, uint32_t width, uint32_t round) {
    static float x[BATCH * TOKENS * MOST_WIDTH], other[BATCH * OTHERS * MOST_WIDTH];
    static float w[FEATURES * MOST_WIDTH];
    static float together[BATCH * TOKENS * FEATURES], alone[TOKENS * FEATURES];
    const int32_t lengths[BATCH] = {101 + (int32_t)round, 263 + (int32_t)round};
    const int32_t other_lengths[BATCH] = {OTHERS, 5};
    weft_philox_uniform(x, WEFT_COUNT(x), 8 * width + round, 0);
    weft_philox_uniform(other, WEFT_COUNT(other), 8 * width + round, 1);
    weft_philox_uniform(w, WEFT_COUNT(w), 8 * width + round, 2);
    for (uint32_t i = 0; i < WEFT_COUNT(w); i++) {
        w[i] *= 0.5F;
    }
    const struct sides all = {BATCH, TOKENS, OTHERS, width, x, other, w, lengths, other_lengths};
    make_features(f, &all, together);
    for (uint32_t b = 0; b < BATCH; b++) {
        const struct sides one = {1,
                                  (uint32_t)lengths[b],
                                  (uint32_t)other_lengths[b],
                                  width,
                                  x + (size_t)b * TOKENS * width,
                                  other + (size_t)b * OTHERS * width,
                                  w,
                                  NULL,
                                  NULL};
        make_features(f, &one, alone);
        for (uint32_t i = 0; i < one.tokens * FEATURES; i++) {
            const float *found = &together[b * TOKENS * FEATURES + i];
            if (memcmp(found, &alone[i], sizeof *found) != 0) {
                fail_msg("width %u, sequence %u, element %u: %a, alone %a", width, b, i,
                         (double)*found, (double)alone[i]);
            }
        }
    }
}

WEFT_TEST_ON_GRAPH(test_wide_heads, f) {
    for (uint32_t round = 0; round < 5; round++) {
        check_width(f, 200, round);
        check_width(f, MOST_WIDTH, round);
    }
    check_width(f, 64, 0);
}
