/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Properties of random feature attention, its estimate of softmax attention, and bad parameters. */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/philox.h"
#include "core/shape.h"
#include "support_causality.h"
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

static void run_causal(struct weft_test_graph *f, const void *sequence, float *out) {
    run(f, sequence, N, true, out);
}

static void run_full(struct weft_test_graph *f, const void *sequence, float *out) {
    run(f, sequence, N, false, out);
}

static struct weft_test_mixer mixer_of(struct sequence *s, weft_test_mix *mix) {
    return (struct weft_test_mixer){
        .run = mix, .problem = s, .n = N, .values = D, .inputs = {{s->q, D}, {s->k, D}, {s->v, D}}};
}

WEFT_TEST_ON_GRAPH(test_causality, f) {
    static const uint32_t cuts[] = {1, 40, 63, 64, 65, 128, 149};
    struct sequence *s = make(16);
    const struct weft_test_mixer mixer = mixer_of(s, run_causal);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        weft_test_expect_causal(f, &mixer, cuts[i], 0.25F);
        weft_test_expect_causal(f, &mixer, cuts[i], NAN);
    }
    free(s);
}

/* Without causality the first token does depend on the last one. */
WEFT_TEST_ON_GRAPH(test_full_reads_everything, f) {
    struct sequence *s = make(16);
    const struct weft_test_mixer mixer = mixer_of(s, run_full);
    weft_test_expect_all_read(f, &mixer, 2, 0.25F);
    free(s);
}

/* The first tokens of a longer sequence get the very bits that they get alone. */
WEFT_TEST_ON_GRAPH(test_prefix_has_the_same_bits, f) {
    static const uint32_t lengths[] = {1, 63, 64, 65, 127, 128, 129};
    struct sequence *s = make(16);
    float whole[N * D];
    float part[N * D];
    run(f, s, N, true, whole);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        run(f, s, lengths[i], true, part);
        assert_memory_equal(whole, part, (size_t)lengths[i] * D * sizeof(float));
    }
    free(s);
}

/* q and k of the same tensor share their features: the bits of two equal tensors. */
WEFT_TEST_ON_GRAPH(test_shared_features, f) {
    struct sequence *s = make(16);
    float apart[N * D];
    float together[N * D];
    weft_tensor y;
    memcpy(s->k, s->q, sizeof s->k);
    run(f, s, N, true, apart);
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(1, N, D), s->q);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, N, D), s->v);
    weft_tensor w = weft_test_feed(&r, "w", weft_shape_of(s->features, WIDTH), s->w);
    assert_ok(weft_graph_rfa_attention(&y, r.graph, x, x, v, w,
                                       weft_rfa_attention_params(.heads = HEADS, .causal = true)));
    weft_test_execute_to(&r, y, together);
    assert_memory_equal(apart, together, sizeof apart);
    free(s);
}

/* ---- bad parameters ---- */

#define REFUSED(status, q, k, v, w, params, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status,        \
                        weft_graph_rfa_attention(&y, f->graph, q, k, v, w, params), __VA_ARGS__)
#define WITH(...) weft_rfa_attention_params(__VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_shapes, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor q = weft_test_input(g, "q", weft_shape_of(2, 5, 6));
    weft_tensor k = weft_test_input(g, "k", weft_shape_of(2, 7, 6));
    weft_tensor v = weft_test_input(g, "v", weft_shape_of(2, 7, 8));
    weft_tensor w = weft_test_input(g, "w", weft_shape_of(9, 6));
    weft_tensor flat = weft_test_input(g, "flat", weft_shape_of(5, 6));
    weft_tensor indices = weft_test_input_i32(g, "i", weft_shape_of(2, 7, 8));
    assert_ok(weft_graph_rfa_attention(&y, g, q, k, v, w, NULL));
    weft_test_expect_shape(g, y, weft_shape_of(2, 5, 8));
    REFUSED(SHAPE_MISMATCH, flat, k, v, w, NULL, "q [5, 6]", "k [2, 7, 6]");
    REFUSED(SHAPE_MISMATCH, q, v, v, w, NULL, "q [2, 5, 6]", "k [2, 7, 8]");
    REFUSED(SHAPE_MISMATCH, q, k, q, w, NULL, "k [2, 7, 6]", "v [2, 5, 6]");
    REFUSED(SHAPE_MISMATCH, q, k, v, v, NULL, "w [2, 7, 8]");
    REFUSED(SHAPE_MISMATCH, q, k, indices, w, NULL, "v must be f32");
    REFUSED(SHAPE_MISMATCH, q, k, v, w, WITH(.heads = 2), "w [9, 6]", "[s, 3]", "2 heads");
    REFUSED(SHAPE_MISMATCH, q, k, v, w, WITH(.causal = true), "m = n");
}

WEFT_TEST_ON_GRAPH(test_bad_params, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor q = weft_test_input(g, "q", weft_shape_of(2, 5, 6));
    weft_tensor v = weft_test_input(g, "v", weft_shape_of(2, 5, 8));
    weft_tensor w = weft_test_input(g, "w", weft_shape_of(9, 6));
    REFUSED(INVALID_ARGUMENT, q, q, v, w, WITH(.heads = 3), "3 heads", "6 and 8");
    REFUSED(INVALID_ARGUMENT, q, q, v, w, WITH(.epsilon = -1.0F), "epsilon -1");
    REFUSED(INVALID_ARGUMENT, q, q, v, w, WITH(.epsilon = NAN), "epsilon nan");
    REFUSED(INVALID_ARGUMENT, q, q, v, w, WITH(.epsilon = INFINITY), "epsilon inf");
    REFUSED(INVALID_ARGUMENT, q, q, v, (weft_tensor){99}, NULL, "99");
    assert_int_equal(weft_graph_rfa_attention(&y, NULL, q, q, v, w, NULL), WEFT_INVALID_ARGUMENT);
}
