/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Properties of kernelized attention with relative positions, values checked by hand, and bad parameters. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "core/shape.h"
#include "support_causality.h"
#include "support_graph.h"

/* ---- running ---- */

/* One sequence of n tokens with `features` and `values` columns in all heads. */
struct problem {
    uint32_t n, features, values, bias_rows;
    weft_toeplitz_attention_params params;
    const char *implementation;
    float *q, *k, *v, *bias;
};

static uint32_t heads_of(const struct problem *p) {
    return p->params.heads ? p->params.heads : 1;
}

static void run(struct weft_test_graph *f, const struct problem *p, float *out) {
    const uint32_t n = p->n;
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_feed(&r, "q", weft_shape_of(1, n, p->features), p->q);
    weft_tensor k = weft_test_feed(&r, "k", weft_shape_of(1, n, p->features), p->k);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, n, p->values), p->v);
    weft_tensor bias =
        weft_test_feed(&r, "bias", weft_shape_of(p->bias_rows, heads_of(p)), p->bias);
    assert_ok(weft_graph_toeplitz_attention(&y, r.graph, q, k, v, bias, &p->params));
    weft_test_take(&r, "y", y, out);
    weft_test_execute(&r, p->implementation);
}

static void expect_near(const float *y, const float *expected, uint32_t count, float error) {
    for (uint32_t i = 0; i < count; i++) {
        assert_true(fabsf(y[i] - expected[i]) <= error);
    }
}

static const char *const implementations[] = {"direct", "fft"};

/* ---- values checked by hand ---- */

/* Features 1, v = [1, 2, 4]: lag -1 (the next token) weighs 2, lag 0 1, lag 1 (the one before) 3, others 1. */
WEFT_TEST_ON_GRAPH(test_weights_of_lags, f) {
    const float two = logf(2.0F);
    const float three = logf(3.0F);
    /* Rows are lags -2 … 2. y_0 = (1 + 2·2 + 4)/(1 + 2 + 1), y_1 = (3·1 + 2 + 2·4)/6, y_2 = (1 + 3·2 + 4)/5. */
    float bias[] = {0.0F, two, 0.0F, three, 0.0F};
    const float full[] = {9.0F / 4.0F, 13.0F / 6.0F, 11.0F / 5.0F};
    float causal_bias[] = {0.0F, three, 0.0F};
    const float causal[] = {1.0F, 5.0F / 4.0F, 11.0F / 5.0F};
    float ones[] = {1.0F, 1.0F, 1.0F};
    float v[] = {1.0F, 2.0F, 4.0F};
    float y[3];
    for (int i = 0; i < 2; i++) {
        struct problem p = {3, 1, 1, 5, {.causal = false}, implementations[i], ones, ones, v, bias};
        run(f, &p, y);
        expect_near(y, full, 3, 2e-6F);
        p.bias = causal_bias;
        p.bias_rows = 3;
        p.params.causal = true;
        run(f, &p, y);
        expect_near(y, causal, 3, 2e-6F);
    }
}

/* A row without weight is 0; a denominator below epsilon becomes epsilon. */
WEFT_TEST_ON_GRAPH(test_zero_denominators, f) {
    float q[] = {0.0F, 0.5F};
    float k[] = {1.0F, 0.0F};
    float v[] = {6.0F, 7.0F};
    float bias[] = {0.0F, 0.0F, 0.0F};
    float y[2];
    struct problem p = {2, 1, 1, 3, {.causal = false}, "direct", q, k, v, bias};
    run(f, &p, y);
    assert_true(y[0] == 0.0F && y[1] == 6.0F);
    p.params.epsilon = 2.0F;
    run(f, &p, y);
    assert_true(y[0] == 0.0F && y[1] == 1.5F);
}

/* ---- properties ---- */

enum { N = 150, D = 16, HEADS = 2, LAGS = 2 * N - 1 };

struct sequence {
    float q[N * D], k[N * D], v[N * D];
    float bias[LAGS * HEADS];
};

static void fill(struct sequence *s) {
    weft_philox_uniform(s->q, N * D, 37, 0);
    weft_philox_uniform(s->k, N * D, 37, 1);
    weft_philox_uniform(s->v, N * D, 37, 2);
    weft_philox_uniform(s->bias, LAGS * HEADS, 37, 3);
    for (uint32_t i = 0; i < N * D; i++) { /* as random features are: positive */
        s->q[i] = 0.25F + fabsf(s->q[i]);
        s->k[i] = 0.25F + fabsf(s->k[i]);
    }
}

static struct problem problem_of(struct sequence *s, bool causal, const char *implementation) {
    return (struct problem){
        .n = N,
        .features = D,
        .values = D,
        .bias_rows = causal ? N : LAGS,
        .params = {.heads = HEADS, .causal = causal},
        .implementation = implementation,
        .q = s->q,
        .k = s->k,
        .v = s->v,
        .bias = s->bias,
    };
}

static void disturb(float *data, uint32_t from, float by) {
    for (uint32_t i = from * D; i < N * D; i++) {
        data[i] += by;
    }
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

WEFT_TEST_ON_GRAPH(test_direct_is_exactly_causal, f) {
    static const uint32_t cuts[] = {1, 31, 32, 40, 63, 64, 65, 128, 149};
    struct sequence s;
    fill(&s);
    const struct problem p = problem_of(&s, true, "direct");
    const struct weft_test_mixer mixer = mixer_of(&p);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        weft_test_expect_causal(f, &mixer, cuts[i], 0.25F);
        weft_test_expect_causal(f, &mixer, cuts[i], NAN);
    }
}

/* By FFT what comes before changes by rounding alone. */
WEFT_TEST_ON_GRAPH(test_fft_is_causal_but_for_rounding, f) {
    static const uint32_t cuts[] = {1, 40, 64, 149};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        struct sequence s;
        float before[N * D];
        float after[N * D];
        fill(&s);
        struct problem p = problem_of(&s, true, "fft");
        run(f, &p, before);
        disturb(s.k, cuts[i], 0.25F);
        disturb(s.v, cuts[i], 0.25F);
        run(f, &p, after);
        const size_t at = (size_t)cuts[i] * D;
        expect_near(after, before, (uint32_t)at, 2e-5F);
        assert_true(fabsf(before[at] - after[at]) > 1e-3F);
    }
}

/* Without causality the first token does depend on the last one. */
WEFT_TEST_ON_GRAPH(test_full_reads_everything, f) {
    for (int i = 0; i < 2; i++) {
        struct sequence s;
        float before[N * D];
        float after[N * D];
        fill(&s);
        struct problem p = problem_of(&s, false, implementations[i]);
        run(f, &p, before);
        disturb(s.v, N - 1, 1.0F);
        run(f, &p, after);
        assert_true(fabsf(before[0] - after[0]) > 1e-4F);
    }
}

WEFT_TEST_ON_GRAPH(test_implementations_agree, f) {
    for (int causal = 0; causal < 2; causal++) {
        struct sequence s;
        float direct[N * D];
        float fft[N * D];
        fill(&s);
        struct problem p = problem_of(&s, causal != 0, "direct");
        run(f, &p, direct);
        p.implementation = "fft";
        run(f, &p, fft);
        expect_near(fft, direct, N * D, 1e-5F);
    }
}

/* A constant on a head's bias cancels; exactly, where it changes no rounding: b is 0 or -infinity, plus 3. */
WEFT_TEST_ON_GRAPH(test_constants_cancel, f) {
    for (int i = 0; i < 2; i++) {
        struct sequence s;
        float before[N * D];
        float after[N * D];
        fill(&s);
        for (uint32_t lag = 0; lag < LAGS * HEADS; lag++) {
            s.bias[lag] = s.bias[lag] < 0.5F && lag / HEADS != N - 1 ? -INFINITY : 0.0F;
        }
        struct problem p = problem_of(&s, false, implementations[i]);
        run(f, &p, before);
        for (uint32_t lag = 0; lag < LAGS * HEADS; lag++) {
            s.bias[lag] += lag % HEADS == 0 ? 3.0F : -200.0F;
        }
        run(f, &p, after);
        assert_memory_equal(before, after, sizeof before);
    }
}

/* With the same weight for all lags it is linear attention. */
WEFT_TEST_ON_GRAPH(test_no_bias_is_linear_attention, f) {
    for (int causal = 0; causal < 2; causal++) {
        struct sequence s;
        float linear[N * D];
        float y[N * D];
        weft_tensor out;
        fill(&s);
        memset(s.bias, 0, sizeof s.bias);
        struct problem p = problem_of(&s, causal != 0, "direct");
        run(f, &p, y);
        struct weft_test_run r = weft_test_begin(f->device);
        weft_tensor q = weft_test_feed(&r, "q", weft_shape_of(1, N, D), s.q);
        weft_tensor k = weft_test_feed(&r, "k", weft_shape_of(1, N, D), s.k);
        weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, N, D), s.v);
        assert_ok(weft_graph_linear_attention(
            &out, r.graph, q, k, v,
            weft_linear_attention_params(.heads = HEADS, .causal = causal != 0)));
        weft_test_execute_to(&r, out, linear);
        expect_near(y, linear, N * D, 2e-6F);
    }
}

/* Only the distance counts: tokens without features in front change no more than rounding. */
WEFT_TEST_ON_GRAPH(test_shift, f) {
    enum { SHIFT = 37, REST = N - SHIFT };
    struct sequence s;
    struct sequence moved;
    float y[N * D];
    float moved_y[N * D];
    fill(&s);
    fill(&moved);
    memset(moved.k, 0, sizeof moved.k);
    memcpy(moved.q + SHIFT * D, s.q, sizeof(float) * REST * D);
    memcpy(moved.k + SHIFT * D, s.k, sizeof(float) * REST * D);
    memcpy(moved.v + SHIFT * D, s.v, sizeof(float) * REST * D);
    for (int i = 0; i < 2; i++) {
        struct problem p = problem_of(&s, false, implementations[i]);
        p.n = REST; /* the same bias: lags beyond the sequence are not used */
        run(f, &p, y);
        p = problem_of(&moved, false, implementations[i]);
        run(f, &p, moved_y);
        expect_near(y, moved_y + (size_t)SHIFT * D, REST * D, 1e-5F);
    }
}

/* The usual choice is by shape: few channels make the transforms cheaper than the definition. */
WEFT_TEST_ON_GRAPH(test_choice, f) {
    static const struct {
        uint32_t n, columns;
        bool fft;
    } cases[] = {{64, 8, false}, {4096, 1, true}, {1024, 64, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weft_test_run r = weft_test_begin(f->device);
        weft_tensor y;
        const char *text = NULL;
        const uint32_t n = cases[i].n;
        weft_tensor x = weft_test_input(r.graph, "x", weft_shape_of(1, n, cases[i].columns));
        weft_tensor bias = weft_test_input(r.graph, "bias", weft_shape_of(2 * n - 1, 1));
        assert_ok(weft_graph_toeplitz_attention(&y, r.graph, x, x, x, bias, NULL));
        weft_plan *plan = weft_test_plan_to(&r, "y", y, NULL);
        assert_ok(weft_plan_describe(plan, "choose", &text));
        assert_int_equal(strstr(text, "fft") != NULL, cases[i].fft);
        weft_plan_destroy(&plan);
    }
}

/* ---- bad parameters ---- */

#define REFUSED(status, q_features, k_features, v, bias, params, ...)                         \
    WEFT_EXPECT_FAILURE(                                                                      \
        f, WEFT_##status,                                                                     \
        weft_graph_toeplitz_attention(&y, f->graph, q_features, k_features, v, bias, params), \
        __VA_ARGS__)
#define WITH(...) weft_toeplitz_attention_params(__VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_shapes, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor q = weft_test_input(g, "q", weft_shape_of(2, 5, 6));
    weft_tensor longer = weft_test_input(g, "longer", weft_shape_of(2, 7, 6));
    weft_tensor v = weft_test_input(g, "v", weft_shape_of(2, 5, 8));
    weft_tensor bias = weft_test_input(g, "bias", weft_shape_of(9, 1));
    weft_tensor even = weft_test_input(g, "even", weft_shape_of(10, 1));
    weft_tensor indices = weft_test_input_i32(g, "i", weft_shape_of(9, 1));
    assert_ok(weft_graph_toeplitz_attention(&y, g, q, q, v, bias, NULL));
    weft_test_expect_shape(g, y, weft_shape_of(2, 5, 8));
    REFUSED(SHAPE_MISMATCH, q, longer, v, bias, NULL, "k_features [2, 7, 6]");
    REFUSED(SHAPE_MISMATCH, q, q, longer, bias, NULL, "v [2, 7, 6]");
    REFUSED(SHAPE_MISMATCH, bias, bias, v, bias, NULL, "q_features [9, 1]");
    REFUSED(SHAPE_MISMATCH, q, q, v, even, NULL, "bias [10, 1]", "[2m - 1, 1] with m >= 5");
    REFUSED(SHAPE_MISMATCH, longer, longer, longer, bias, NULL, "bias [9, 1]", "m >= 7");
    REFUSED(SHAPE_MISMATCH, q, q, v, bias, WITH(.heads = 2), "bias [9, 1]", "[2m - 1, 2]");
    REFUSED(SHAPE_MISMATCH, q, q, v, q, NULL, "bias [2, 5, 6]");
    REFUSED(SHAPE_MISMATCH, q, q, v, indices, NULL, "bias must be f32");
    REFUSED(INVALID_ARGUMENT, q, q, v, (weft_tensor){0}, NULL, "input 3");
}

WEFT_TEST_ON_GRAPH(test_bad_params, f) {
    weft_graph *g = f->graph;
    static const float epsilons[] = {-1.0F, NAN, INFINITY};
    static const char *const texts[] = {"epsilon -1", "epsilon nan", "epsilon inf"};
    weft_tensor y;
    weft_tensor q = weft_test_input(g, "q", weft_shape_of(2, 5, 6));
    weft_tensor v = weft_test_input(g, "v", weft_shape_of(2, 5, 8));
    weft_tensor bias = weft_test_input(g, "bias", weft_shape_of(9, 3));
    REFUSED(INVALID_ARGUMENT, q, q, v, bias, WITH(.heads = 3), "3 heads",
            "6 features and 8 values");
    for (int i = 0; i < 3; i++) {
        REFUSED(INVALID_ARGUMENT, q, q, v, bias, WITH(.epsilon = epsilons[i]), texts[i]);
    }
    assert_int_equal(weft_graph_toeplitz_attention(&y, NULL, q, q, v, bias, NULL),
                     WEFT_INVALID_ARGUMENT);
}

/* By FFT the products of features and values are counted by int32. */
WEFT_TEST_ON_GRAPH(test_too_many_products, f) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_input(r.graph, "q", weft_shape_of(1, 1U << 12, 1U << 10));
    weft_tensor bias = weft_test_input(r.graph, "bias", weft_shape_of((1U << 13) - 1, 1));
    assert_ok(weft_graph_toeplitz_attention(&y, r.graph, q, q, q, bias, NULL));
    WEFT_EXPECT_NO_PLAN(f, &r, y, "fft", WEFT_UNSUPPORTED, "toeplitz_attention",
                        "4299161600 products");
}
