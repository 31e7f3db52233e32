/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Properties of the Performer's attention, its estimate of softmax attention, and bad parameters. */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/philox.h"
#include "support_causality.h"
#include "support_graph.h"
#include "support_reference.h"

/* ---- running ---- */

enum { N = 100, D = 16, HEADS = 2, WIDTH = D / HEADS, MOST_FEATURES = 4096 };

struct sequence {
    float q[N * D], k[N * D], v[N * D];
    float w[MOST_FEATURES * WIDTH];
    uint32_t features;
};

static struct sequence *make(uint32_t features, uint64_t seed) {
    struct sequence *s = malloc(sizeof *s);
    assert_non_null(s);
    weft_philox_uniform(s->q, N * D, 43, 0);
    weft_philox_uniform(s->k, N * D, 43, 1);
    weft_philox_uniform(s->v, N * D, 43, 2);
    s->features = features;
    const weft_features_params params = {
        .kind = WEFT_FEATURES_ORF, .rows = features, .columns = WIDTH, .seed = seed};
    assert_ok(weft_features_fill(s->w, NULL, &params, NULL));
    return s;
}

static void run(struct weft_test_graph *f, const struct sequence *s, bool causal, bool unstabilized,
                float *out) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_feed(&r, "q", weft_shape_of(1, N, D), s->q);
    weft_tensor k = weft_test_feed(&r, "k", weft_shape_of(1, N, D), s->k);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, N, D), s->v);
    weft_tensor w = weft_test_feed(&r, "w", weft_shape_of(s->features, WIDTH), s->w);
    assert_ok(weft_graph_performer_attention(
        &y, r.graph, q, k, v, w,
        weft_performer_attention_params(.heads = HEADS, .causal = causal,
                                        .unstabilized = unstabilized)));
    weft_test_execute_to(&r, y, out);
}

/* ---- properties ---- */

/* From softmax attention. */
static double square_error(struct weft_test_graph *f, uint32_t features, uint64_t seed) {
    struct sequence *s = make(features, seed);
    float y[N * D];
    double expected[N * D];
    double squares = 0.0;
    run(f, s, false, false, y);
    weft_test_attention(expected, &(struct weft_test_attention){.q = s->q,
                                                                .k = s->k,
                                                                .v = s->v,
                                                                .n = N,
                                                                .heads = HEADS,
                                                                .width = WIDTH,
                                                                .half_width = UINT32_MAX});
    for (uint32_t i = 0; i < N * D; i++) {
        squares += ((double)y[i] - expected[i]) * ((double)y[i] - expected[i]);
    }
    free(s);
    return squares / (N * D);
}

/* Root mean square difference from softmax attention over eight matrices. */
static double error_with(struct weft_test_graph *f, uint32_t features) {
    double squares = 0.0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        squares += square_error(f, features, seed);
    }
    return sqrt(squares / 8.0);
}

/* The error falls as 1/√s: by 8 for 64 times as many features; a third of that is left for chance. */
WEFT_TEST_ON_GRAPH(test_estimates_softmax, f) {
    double few = error_with(f, 64);
    double many = error_with(f, 4096);
    assert_true(many < 0.005);
    assert_true(many < few / 5.0 && many > few / 13.0);
}

/* The stabilizers cancel but for epsilon, and keep queries and keys in range whose exponentials are not. */
WEFT_TEST_ON_GRAPH(test_stabilizers, f) {
    struct sequence *s = make(64, 5);
    float plain[N * D];
    float stable[N * D];
    run(f, s, false, true, plain);
    run(f, s, false, false, stable);
    for (uint32_t i = 0; i < N * D; i++) {
        assert_true(fabsf(plain[i] - stable[i]) < 1e-4F);
        s->q[i] *= 64.0F;
        s->k[i] *= 64.0F;
    }
    run(f, s, false, true, plain);
    run(f, s, false, false, stable);
    uint32_t lost = 0;
    for (uint32_t i = 0; i < N * D; i++) {
        lost += plain[i] == 0.0F;
        assert_true(fabsf(stable[i]) <= 1.0F); /* a mean of v */
        assert_true(stable[i] != 0.0F);
    }
    assert_true(lost > 0);
    free(s);
}

static void run_plain(struct weft_test_graph *f, const void *sequence, float *out) {
    run(f, sequence, true, true, out);
}

static void run_stable(struct weft_test_graph *f, const void *sequence, float *out) {
    run(f, sequence, true, false, out);
}

static void run_full(struct weft_test_graph *f, const void *sequence, float *out) {
    run(f, sequence, false, false, out);
}

static struct weft_test_mixer mixer_of(struct sequence *s, weft_test_mix *mix) {
    return (struct weft_test_mixer){
        .run = mix, .problem = s, .n = N, .values = D, .inputs = {{s->q, D}, {s->k, D}, {s->v, D}}};
}

/* Without stabilizers; with them epsilon's share may change. */
WEFT_TEST_ON_GRAPH(test_causality, f) {
    static const uint32_t cuts[] = {1, 40, 63, 64, 65, 99};
    struct sequence *s = make(16, 5);
    const struct weft_test_mixer plain = mixer_of(s, run_plain);
    struct weft_test_mixer stable = mixer_of(s, run_stable);
    stable.tolerance = 1e-4F;
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        weft_test_expect_causal(f, &plain, cuts[i], 0.25F);
        weft_test_expect_causal(f, &stable, cuts[i], 0.25F);
    }
    free(s);
}

/* Without causality the first token does depend on the last one. */
WEFT_TEST_ON_GRAPH(test_full_reads_everything, f) {
    struct sequence *s = make(16, 5);
    const struct weft_test_mixer mixer = mixer_of(s, run_full);
    weft_test_expect_all_read(f, &mixer, 2, 0.25F);
    free(s);
}

/* ---- bad parameters ---- */

#define REFUSED(status, q, k, v, w, params, ...)                                          \
    WEFT_EXPECT_FAILURE(f, WEFT_##status,                                                 \
                        weft_graph_performer_attention(&y, f->graph, q, k, v, w, params), \
                        __VA_ARGS__)
#define WITH(...) weft_performer_attention_params(__VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_params, f) {
    weft_graph *g = f->graph;
    static const float epsilons[] = {-1.0F, NAN, INFINITY};
    static const char *const texts[] = {"epsilon -1", "epsilon nan", "epsilon inf"};
    weft_tensor y;
    weft_tensor q = weft_test_input(g, "q", weft_shape_of(2, 5, 6));
    weft_tensor k = weft_test_input(g, "k", weft_shape_of(2, 7, 6));
    weft_tensor v = weft_test_input(g, "v", weft_shape_of(2, 7, 8));
    weft_tensor w = weft_test_input(g, "w", weft_shape_of(9, 6));
    assert_ok(weft_graph_performer_attention(&y, g, q, k, v, w, NULL));
    REFUSED(SHAPE_MISMATCH, q, k, v, q, NULL, "w [2, 5, 6]");
    REFUSED(SHAPE_MISMATCH, q, k, q, w, NULL, "v [2, 5, 6]");
    REFUSED(SHAPE_MISMATCH, q, k, v, w, WITH(.heads = 2), "w [9, 6]", "[s, 3]", "2 heads");
    REFUSED(SHAPE_MISMATCH, q, k, v, w, WITH(.causal = true), "k = n");
    REFUSED(INVALID_ARGUMENT, q, k, v, w, WITH(.heads = 4), "4 heads", "6 channels");
    for (int i = 0; i < 3; i++) {
        REFUSED(INVALID_ARGUMENT, q, k, v, w, WITH(.epsilon = epsilons[i]), texts[i]);
    }
    assert_int_equal(weft_graph_performer_attention(&y, NULL, q, k, v, w, NULL),
                     WEFT_INVALID_ARGUMENT);
}
