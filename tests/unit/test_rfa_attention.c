/* SPDX-License-Identifier: MIT */
/* weft-test: one long device */
/* Properties of random feature attention, and its estimate of softmax attention. */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/philox.h"
#include "core/shape.h"
#include "support_graph.h"
#include "support_reference.h"

/* ---- running ---- */

enum { N = 150, D = 16, HEADS = 2, WIDTH = D / HEADS, MOST_FEATURES = 4096 };

/* One sequence and a weight matrix of `features` rows. */
struct sequence {
    float q[N * D], k[N * D], v[N * D];
    float w[MOST_FEATURES * WIDTH];
    uint32_t features;
};

static struct sequence *make(uint32_t features) {
    struct sequence *s = malloc(sizeof *s);
    assert_non_null(s);
    weft_philox_uniform(s->q, N * D, 41, 0);
    weft_philox_uniform(s->k, N * D, 41, 1);
    weft_philox_uniform(s->v, N * D, 41, 2);
    s->features = features;
    const weft_features_params params = {
        .kind = WEFT_FEATURES_BASE, .rows = features, .columns = WIDTH, .seed = 5};
    assert_ok(weft_features_fill(s->w, NULL, &params, NULL));
    return s;
}

/* The first n tokens. */
static void run(struct weft_test_graph *f, const struct sequence *s, uint32_t n, bool causal,
                float *out) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_feed(&r, "q", weft_shape_of(1, n, D), s->q);
    weft_tensor k = weft_test_feed(&r, "k", weft_shape_of(1, n, D), s->k);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, n, D), s->v);
    weft_tensor w = weft_test_feed(&r, "w", weft_shape_of(s->features, WIDTH), s->w);
    assert_ok(weft_graph_rfa_attention(
        &y, r.graph, q, k, v, w, weft_rfa_attention_params(.heads = HEADS, .causal = causal)));
    weft_test_execute_to(&r, y, out);
}

/* ---- properties ---- */

/* Root mean square difference from softmax attention over unit vectors. */
static double error_with(struct weft_test_graph *f, uint32_t features) {
    struct sequence *s = make(features);
    float y[N * D];
    double expected[N * D];
    double squares = 0.0;
    run(f, s, N, false, y);
    weft_test_attention(expected, &(struct weft_test_attention){.q = s->q,
                                                                .k = s->k,
                                                                .v = s->v,
                                                                .n = N,
                                                                .heads = HEADS,
                                                                .width = WIDTH,
                                                                .unit = true,
                                                                .half_width = UINT32_MAX});
    for (uint32_t i = 0; i < N * D; i++) {
        squares += ((double)y[i] - expected[i]) * ((double)y[i] - expected[i]);
    }
    free(s);
    return sqrt(squares / (N * D));
}

/* The error falls as 1/√s: by 8 for 64 times as many features; half of that is left for chance. */
WEFT_TEST_ON_GRAPH(test_estimates_softmax, f) {
    double few = error_with(f, 64);
    double many = error_with(f, 4096);
    assert_true(many < 0.005);
    assert_true(many < few / 4.0);
}

/* Lengths of queries and keys do not matter: exactly, for powers of 2. */
WEFT_TEST_ON_GRAPH(test_lengths_do_not_matter, f) {
    struct sequence *s = make(16);
    float before[N * D];
    float after[N * D];
    run(f, s, N, true, before);
    for (uint32_t i = 0; i < N * D; i++) {
        s->q[i] *= 0.125F;
        s->k[i] *= i / D % 2 == 0 ? 4.0F : 1024.0F;
    }
    run(f, s, N, true, after);
    assert_memory_equal(before, after, sizeof before);
    free(s);
}
