/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* Properties of kernelized attention with relative positions, and values checked by hand. */
#include <math.h>

#include "core/math/philox.h"
#include "support_sheet.h"

/* ---- running ---- */

/* One sequence of n tokens with `features` and `values` columns in all heads. */
struct problem {
    uint32_t n, features, values, bias_rows;
    weft_toeplitz_attention_params params;
    const char *implementation;
    float *q, *k, *v, *bias;
};

static void run(struct weft_test_graph *f, const struct problem *p, float *out) {
    const uint32_t heads = p->params.heads ? p->params.heads : 1;
    const weft_sizes sizes = {1,
                              p->n,
                              heads,
                              p->features / heads,
                              .values = p->values / heads,
                              .reach = p->params.causal ? p->bias_rows : (p->bias_rows + 1) / 2};
    const struct weft_test_mix mix = {.sheet = &weft_sheet_toeplitz_attention,
                                      .sizes = sizes,
                                      .params = &p->params,
                                      .implementation = p->implementation,
                                      .x = {p->q, p->k, p->v, p->bias},
                                      .feeds_weights = true};
    weft_test_mix_run(f->device, &mix, out);
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
