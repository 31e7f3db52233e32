/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Properties of cosFormer, values checked by hand, and bad parameters. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "core/shape.h"
#include "support_causality.h"
#include "support_graph.h"

/* ---- running ---- */

/* One sequence; q and k have d columns, v has `values`. */
struct problem {
    uint32_t n, keys, d, values;
    weft_cosformer_params params;
    float *q, *k, *v;
};

static void run(struct weft_test_graph *f, const struct problem *p, float *out) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_feed(&r, "q", weft_shape_of(1, p->n, p->d), p->q);
    weft_tensor k = weft_test_feed(&r, "k", weft_shape_of(1, p->keys, p->d), p->k);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, p->keys, p->values), p->v);
    assert_ok(weft_graph_cosformer(&y, r.graph, q, k, v, &p->params));
    weft_test_execute_to(&r, y, out);
}

static void expect_near(const float *y, const double *expected, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        assert_true(fabs((double)y[i] - expected[i]) < 1e-6);
    }
}

/* ---- values checked by hand ---- */

/* q = k = 1, v = [1, 0, 0], M = 3: the weights are the cosines of 0, 30 and 60 degrees. */
WEFT_TEST_ON_GRAPH(test_cosines, f) {
    const double c = sqrt(3.0) / 2.0;
    const double full[] = {1.0 / (1.5 + c), c / (1.0 + 2.0 * c), 0.5 / (1.5 + c)};
    const double causal[] = {1.0, c / (1.0 + c), 0.5 / (1.5 + c)};
    float ones[3] = {1.0F, 1.0F, 1.0F};
    float v[3] = {1.0F, 0.0F, 0.0F};
    float y[3];
    struct problem p = {3, 3, 1, 1, .q = ones, .k = ones, .v = v};
    run(f, &p, y);
    expect_near(y, full, 3);
    p.params.causal = true;
    run(f, &p, y);
    expect_near(y, causal, 3);
    p.params.length = 3; /* what 0 stands for */
    run(f, &p, y);
    expect_near(y, causal, 3);
}

/* With M far above n all cosines are 1: 26/19, 58/43, 6/5, 18/13 of plain relu features. */
WEFT_TEST_ON_GRAPH(test_long_length_is_plain_relu, f) {
    float q[] = {1.0F, 2.0F, 3.0F, 4.0F, 1.0F, -1.0F, 1.0F, 3.0F};
    float k[] = {-3.0F, 1.0F, 1.0F, 5.0F, -2.0F, -3.0F, 4.0F, 1.0F};
    float v[] = {-1.0F, 2.0F, 3.0F, 1.0F};
    const double expected[] = {26.0 / 19.0, 58.0 / 43.0, 6.0 / 5.0, 18.0 / 13.0};
    float y[4];
    struct problem p = {4, 4, 2, 1, {.length = 1U << 30}, q, k, v};
    run(f, &p, y);
    expect_near(y, expected, 4);
}

/* A query without positive channels reads nothing; a denominator below epsilon becomes epsilon. */
WEFT_TEST_ON_GRAPH(test_zero_denominators, f) {
    float q[] = {-1.0F, 0.5F};
    float k[] = {1.0F, 0.0F};
    float v[] = {6.0F, 7.0F};
    float y[2];
    struct problem p = {2, 2, 1, 1, {.length = 1U << 30}, q, k, v};
    run(f, &p, y);
    assert_true(y[0] == 0.0F && y[1] == 6.0F);
    p.params.epsilon = 2.0F;
    run(f, &p, y);
    assert_true(y[0] == 0.0F && y[1] == 1.5F);
}

/* ---- properties ---- */

enum { N = 150, D = 16, HEADS = 2 };

struct sequence {
    float q[N * D], k[N * D], v[N * D];
};

static void fill(struct sequence *s) {
    weft_philox_uniform(s->q, N * D, 31, 0);
    weft_philox_uniform(s->k, N * D, 31, 1);
    weft_philox_uniform(s->v, N * D, 31, 2);
    for (uint32_t i = 0; i < N * D; i++) { /* every token has positive and negative channels */
        s->q[i] = i % 2 == 0 ? s->q[i] : -s->q[i];
    }
}

static struct problem problem_of(struct sequence *s, uint32_t n, weft_cosformer_params params) {
    params.heads = HEADS;
    return (struct problem){n, n, D, D, params, s->q, s->k, s->v};
}

static void run_again(struct weft_test_graph *f, const void *problem, float *out) {
    run(f, problem, out);
}

static struct weft_test_mixer mixer_of(const struct problem *p) {
    return (struct weft_test_mixer){.run = run_again,
                                    .problem = p,
                                    .n = N,
                                    .values = D,
                                    .inputs = {{p->q, D}, {p->k, D}, {p->v, D}}};
}

WEFT_TEST_ON_GRAPH(test_causality, f) {
    static const uint32_t cuts[] = {1, 40, 63, 64, 65, 128, 149};
    struct sequence s;
    fill(&s);
    const struct problem p = problem_of(&s, N, (weft_cosformer_params){.causal = true});
    const struct weft_test_mixer mixer = mixer_of(&p);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        weft_test_expect_causal(f, &mixer, cuts[i], 0.25F);
        weft_test_expect_causal(f, &mixer, cuts[i], NAN);
    }
}

/* Without causality the first token does depend on the last one. */
WEFT_TEST_ON_GRAPH(test_full_reads_everything, f) {
    struct sequence s;
    fill(&s);
    const struct problem p = problem_of(&s, N, (weft_cosformer_params){.causal = false});
    const struct weft_test_mixer mixer = mixer_of(&p);
    weft_test_expect_all_read(f, &mixer, 2, 0.25F);
}

/* With a fixed M the first tokens of a longer sequence get the bits that they get alone; by default not. */
WEFT_TEST_ON_GRAPH(test_prefix_has_the_same_bits, f) {
    static const uint32_t lengths[] = {1, 63, 64, 65, 127, 128, 129};
    struct sequence s;
    float whole[N * D];
    float part[N * D];
    fill(&s);
    weft_cosformer_params params = {.causal = true, .length = 512};
    struct problem p = problem_of(&s, N, params);
    run(f, &p, whole);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        p = problem_of(&s, lengths[i], params);
        run(f, &p, part);
        assert_memory_equal(whole, part, (size_t)lengths[i] * D * sizeof(float));
    }
    params.length = 0;
    p = problem_of(&s, N, params);
    run(f, &p, whole);
    p = problem_of(&s, 65, params);
    run(f, &p, part);
    assert_memory_not_equal(whole, part, 65 * D * sizeof(float));
}

/* The weights depend on the distance of positions alone: tokens without weight in front change no more than rounding. */
WEFT_TEST_ON_GRAPH(test_shift, f) {
    enum { SHIFT = 37, REST = N - SHIFT };
    struct sequence s;
    struct sequence moved;
    float y[N * D];
    float moved_y[N * D];
    fill(&s);
    memset(&moved, 0, sizeof moved); /* features of the tokens in front: 0 */
    memcpy(moved.q + SHIFT * D, s.q, sizeof(float) * REST * D);
    memcpy(moved.k + SHIFT * D, s.k, sizeof(float) * REST * D);
    memcpy(moved.v + SHIFT * D, s.v, sizeof(float) * REST * D);
    for (int causal = 0; causal < 2; causal++) {
        weft_cosformer_params params = {.causal = causal != 0, .length = N};
        struct problem p = problem_of(&s, REST, params);
        run(f, &p, y);
        p = problem_of(&moved, N, params);
        run(f, &p, moved_y);
        for (uint32_t i = 0; i < REST * D; i++) {
            assert_true(fabsf(y[i] - moved_y[SHIFT * D + i]) < 2e-6F);
        }
    }
}

/* q and k of the same tensor share their features: the bits of two equal tensors. */
WEFT_TEST_ON_GRAPH(test_shared_features, f) {
    struct sequence s;
    float apart[N * D];
    float together[N * D];
    fill(&s);
    memcpy(s.k, s.q, sizeof s.k);
    struct problem p = problem_of(&s, N, (weft_cosformer_params){.causal = true});
    run(f, &p, apart);
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(1, N, D), s.q);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, N, D), s.v);
    assert_ok(weft_graph_cosformer(&y, r.graph, x, x, v, &p.params));
    weft_test_execute_to(&r, y, together);
    assert_memory_equal(apart, together, sizeof apart);
}

/* ---- bad parameters ---- */

#define REFUSED(status, q, k, v, params, ...)                                                  \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_cosformer(&y, f->graph, q, k, v, params), \
                        __VA_ARGS__)
#define WITH(...) weft_cosformer_params(__VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_shapes, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor q = weft_test_input(g, "q", weft_shape_of(2, 5, 6));
    weft_tensor k = weft_test_input(g, "k", weft_shape_of(2, 7, 6));
    weft_tensor v = weft_test_input(g, "v", weft_shape_of(2, 7, 8));
    weft_tensor flat = weft_test_input(g, "flat", weft_shape_of(5, 6));
    weft_tensor indices = weft_test_input_i32(g, "i", weft_shape_of(2, 7, 8));
    assert_ok(weft_graph_cosformer(&y, g, q, k, v, NULL));
    weft_test_expect_shape(g, y, weft_shape_of(2, 5, 8));
    REFUSED(SHAPE_MISMATCH, flat, k, v, NULL, "[5, 6]", "[2, 7, 6]");
    REFUSED(SHAPE_MISMATCH, q, v, v, NULL, "[2, 5, 6]", "[2, 7, 8]");
    REFUSED(SHAPE_MISMATCH, q, k, q, NULL, "[2, 7, 6]", "[2, 5, 6]");
    REFUSED(SHAPE_MISMATCH, q, k, indices, NULL, "v must be f32");
    REFUSED(SHAPE_MISMATCH, q, k, v, WITH(.causal = true), "m = n");
    REFUSED(INVALID_ARGUMENT, q, (weft_tensor){99}, v, NULL, "99");
}

WEFT_TEST_ON_GRAPH(test_bad_params, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor q = weft_test_input(g, "q", weft_shape_of(2, 5, 6));
    weft_tensor k = weft_test_input(g, "k", weft_shape_of(2, 7, 6));
    weft_tensor v = weft_test_input(g, "v", weft_shape_of(2, 7, 8));
    REFUSED(INVALID_ARGUMENT, q, k, v, WITH(.heads = 3), "3 heads", "6 and 8");
    REFUSED(INVALID_ARGUMENT, q, k, v, WITH(.length = 6), "length 6", "7 tokens");
    REFUSED(INVALID_ARGUMENT, k, q, q, WITH(.length = 6), "length 6", "7 tokens");
    REFUSED(INVALID_ARGUMENT, q, k, v, WITH(.epsilon = -1.0F), "epsilon -1");
    REFUSED(INVALID_ARGUMENT, q, k, v, WITH(.epsilon = NAN), "epsilon nan");
    REFUSED(INVALID_ARGUMENT, q, k, v, WITH(.epsilon = INFINITY), "epsilon inf");
    assert_ok(weft_graph_cosformer(&y, g, q, k, v, weft_cosformer_params(.length = 7)));
    assert_int_equal(weft_graph_cosformer(&y, NULL, q, k, v, NULL), WEFT_INVALID_ARGUMENT);
}

/* q and k as large as graphs allow are more than a device can bind, which says how much it can by 32 bits, and are one sequence. */
WEFT_TEST_ON_GRAPH(test_sequences_stay_whole, f) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_input(r.graph, "q", weft_shape_of(1, 1U << 15, 1U << 15));
    weft_tensor v = weft_test_input(r.graph, "v", weft_shape_of(1, 1U << 15, 1));
    assert_ok(weft_graph_cosformer(&y, r.graph, q, q, v, NULL));
    WEFT_EXPECT_NO_PLAN(f, &r, y, NULL, WEFT_UNSUPPORTED, "cosformer", "'q' has 4294967296 bytes");
}
