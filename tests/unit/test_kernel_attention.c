/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* Properties of linear attention, kernel attention and fast weights, and values checked by hand. */
#include <math.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_sheet.h"

/* One sequence: q and k have `features` columns, v has `values`. */
static struct weft_test_mix problem_of(const weft_sheet *sheet, uint32_t n, uint32_t keys,
                                       uint32_t features, uint32_t values, const void *params) {
    return (struct weft_test_mix){.sheet = sheet,
                                  .sizes = {1, n, 1, features, .keys = keys, .values = values},
                                  .params = params};
}

static void run(struct weft_test_graph *f, struct weft_test_mix *p, float *q, float *k, float *v,
                float *out) {
    p->x[0] = q;
    p->x[1] = k;
    p->x[2] = v;
    weft_test_mix_run(f->device, p, out);
}

#define KERNELS(list, ...) \
    weft_kernel_attention_params(.kernels = (list), .kernel_count = WEFT_COUNT(list), __VA_ARGS__)

static float *random_values(uint64_t count, uint64_t stream) {
    return weft_test_uniform(count, 7, stream);
}

/* ---- values checked by hand ---- */

/* docs/mixers.md, section 6. */
WEFT_TEST_ON_GRAPH(test_causal_ones, f) {
    float ones[3] = {1.0F, 1.0F, 1.0F};
    float v[3] = {1.0F, 0.0F, 0.0F};
    float y[3];
    struct weft_test_mix p = problem_of(&weft_sheet_linear_attention, 3, 3, 1, 1,
                                        weft_linear_attention_params(.causal = true));
    run(f, &p, ones, ones, v, y);
    assert_true(y[0] == 1.0F && y[1] == 0.5F && y[2] == 1.0F / 3.0F);
    /* At 0, elu(x) + 1 is 1: the same through the kernels. */
    float zeros[3] = {0.0F, 0.0F, 0.0F};
    p = problem_of(&weft_sheet_kernel_attention, 3, 3, 1, 1,
                   weft_kernel_attention_params(.causal = true));
    run(f, &p, zeros, zeros, v, y);
    assert_true(y[0] == 1.0F && y[1] == 0.5F && y[2] == 1.0F / 3.0F);
}

/* docs/mixers.md, section 6: 26/19, 58/43, 6/5, 18/13. */
WEFT_TEST_ON_GRAPH(test_relu_golden, f) {
    float q[] = {1.0F, 2.0F, 3.0F, 4.0F, 1.0F, -1.0F, 1.0F, 3.0F};
    float k[] = {-3.0F, 1.0F, 1.0F, 5.0F, -2.0F, -3.0F, 4.0F, 1.0F};
    float v[] = {-1.0F, 2.0F, 3.0F, 1.0F};
    const double expected[] = {1.368421, 1.348837, 1.2, 1.384615};
    const weft_kernel relu[] = {{.map = WEFT_FEATURE_RELU}};
    float y[4];
    struct weft_test_mix p =
        problem_of(&weft_sheet_kernel_attention, 4, 4, 2, 1, KERNELS(relu, .causal = false));
    run(f, &p, q, k, v, y);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs((double)y[i] - expected[i]) < 1e-6);
    }
}

/* A query whose features are all 0 reads nothing; tanh of q and k that cancel is guarded, not infinite. */
WEFT_TEST_ON_GRAPH(test_zero_denominators, f) {
    float q[] = {-1.0F, -2.0F};
    float k[] = {1.0F, 3.0F};
    float v[] = {5.0F, 7.0F};
    const weft_kernel relu[] = {{.map = WEFT_FEATURE_RELU}};
    float y[2];
    struct weft_test_mix p =
        problem_of(&weft_sheet_kernel_attention, 2, 2, 1, 1, KERNELS(relu, .causal = false));
    run(f, &p, q, k, v, y);
    assert_true(y[0] == 0.0F && y[1] == 0.0F);
    const weft_kernel tangent[] = {{.map = WEFT_FEATURE_TANH}};
    float opposite[] = {1.0F, -1.0F};
    float one[] = {1.0F, 0.0F};
    p = problem_of(&weft_sheet_kernel_attention, 1, 2, 1, 1, KERNELS(tangent, .causal = false));
    run(f, &p, one, opposite, v, y);
    double t = tanh(1.0);
    assert_true(fabs((double)y[0] / (t * t * (5.0 - 7.0) / 1e-6) - 1.0) < 1e-5);
}

/* Keys that do not overlap, β = 1: every token replaces the value at its key, and a query reads it back. */
WEFT_TEST_ON_GRAPH(test_fast_weight_replaces, f) {
    const float far = -100.0F; /* elu(x) + 1 underflows: features [1, 0] and [0, 1] */
    float k[] = {0.0F, far, far, 0.0F, 0.0F, far, 0.0F, far};
    float q[] = {0.0F, far, 0.0F, far, far, 0.0F, 0.0F, far};
    float v[] = {3.0F, 5.0F, 7.0F, 11.0F};
    float beta[] = {1.0F, 1.0F, 1.0F, 0.5F};
    float y[4];
    struct weft_test_mix p = problem_of(&weft_sheet_fast_weight, 4, 4, 2, 1, NULL);
    p.x[3] = beta;
    run(f, &p, q, k, v, y);
    assert_true(y[0] == 3.0F && y[1] == 3.0F && y[2] == 5.0F && y[3] == 9.0F);
}

/* ---- properties ---- */

/* One kernel elu(x) + 1 is linear attention over those features: the same bits. */
WEFT_TEST_ON_GRAPH(test_one_kernel_is_the_linear_transformer, f) {
    enum { N = 150, D = 24, HEADS = 3 };
    float *q = random_values(N * D, 0);
    float *k = random_values(N * D, 1);
    float *v = random_values(N * D, 2);
    float *a = malloc(N * D * sizeof *a);
    float *b = malloc(N * D * sizeof *b);
    for (int causal = 0; causal < 2; causal++) {
        const weft_kernel_attention_params params = {.causal = causal != 0};
        struct weft_test_mix p = {.sheet = &weft_sheet_kernel_attention,
                                  .sizes = {1, N, HEADS, D / HEADS, .values = D / HEADS},
                                  .params = &params};
        run(f, &p, q, k, v, a);
        struct weft_test_run r = weft_test_begin(f->device);
        weft_tensor y, phi, psi;
        weft_tensor x = weft_test_feed(&r, "q", weft_shape_of(1, N, D), q);
        assert_ok(weft_graph_activate(&phi, r.graph, x, WEFT_ACTIVATION_ELU1));
        x = weft_test_feed(&r, "k", weft_shape_of(1, N, D), k);
        assert_ok(weft_graph_activate(&psi, r.graph, x, WEFT_ACTIVATION_ELU1));
        x = weft_test_feed(&r, "v", weft_shape_of(1, N, D), v);
        assert_ok(weft_graph_linear_attention(
            &y, r.graph, phi, psi, x,
            weft_linear_attention_params(.heads = HEADS, .causal = causal != 0)));
        weft_test_execute_to(&r, y, b);
        assert_memory_equal(a, b, N * D * sizeof *a);
    }
    free(q);
    free(k);
    free(v);
    free(a);
    free(b);
}

/* The last token of a causal sequence reads what it would read without causality. */
WEFT_TEST_ON_GRAPH(test_last_token_reads_everything, f) {
    enum { N = 197, D = 12 };
    float *q = random_values(N * D, 12);
    float *k = random_values(N * D, 13);
    float *v = random_values(N * D, 14);
    float causal[N * D];
    float full[N * D];
    struct weft_test_mix p = {.sheet = &weft_sheet_kernel_attention,
                              .sizes = {1, N, 2, D / 2, .values = D / 2},
                              .params = weft_kernel_attention_params(.causal = true)};
    run(f, &p, q, k, v, causal);
    p.params = NULL;
    run(f, &p, q, k, v, full);
    for (uint32_t t = 0; t < D; t++) {
        double a = (double)causal[(N - 1) * D + t];
        double b = (double)full[(N - 1) * D + t];
        assert_true(fabs(a - b) < 1e-6);
    }
    free(q);
    free(k);
    free(v);
}

/* Whatever the length. How memory grows with it, test_sheets.c has. */
WEFT_TEST_ON_GRAPH(test_dispatches_are_few, f) {
    const weft_sheet *const sheets[] = {&weft_sheet_linear_attention, &weft_sheet_kernel_attention,
                                        &weft_sheet_fast_weight};
    for (uint32_t i = 0; i < 6; i++) {
        const weft_sheet *sheet = sheets[i / 2];
        const weft_use *use = &sheet->uses[sheet->use_count - 1]; /* a causal one */
        struct weft_test_mix p =
            problem_of(sheet, i % 2 == 0 ? 512 : 16384, 0, 64, 64, use->params);
        struct weft_test_run r;
        const weft_tensor y = weft_test_mix_begin(&r, f->device, &p);
        assert_true(weft_test_info_of(&r, y, NULL).dispatches < 12);
    }
}

/* ---- the blend with the near field ---- */

static void add_fields(weft_graph *graph, const weft_tensor *x, bool fast, weft_tensor fields[3]) {
    static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_ELU1},
                                          {.map = WEFT_FEATURE_ELU1_NEGATED}};
    weft_fmm_attention_params blend = {.heads = 2,
                                       .causal = true,
                                       .half_width = 3,
                                       .kernels = fast ? NULL : kernels,
                                       .kernel_count = fast ? 0 : 2,
                                       .near_weight = x[4],
                                       .far_weight = x[5]};
    blend.beta.id = fast ? x[3].id : 0;
    assert_ok(weft_graph_banded_attention(
        &fields[0], graph, x[0], x[1], x[2],
        weft_banded_attention_params(.heads = 2, .half_width = 3, .causal = true)));
    assert_ok(fast ? weft_graph_fast_weight(&fields[1], graph, x[0], x[1], x[2], x[3],
                                            weft_fast_weight_params(.heads = 2))
                   : weft_graph_kernel_attention(
                         &fields[1], graph, x[0], x[1], x[2],
                         weft_kernel_attention_params(.heads = 2, .causal = true,
                                                      .kernels = kernels, .kernel_count = 2)));
    assert_ok(weft_graph_fmm_attention(&fields[2], graph, x[0], x[1], x[2], &blend));
}

/* w_1 near + w_2 far, each product and the sum rounded once. */
WEFT_TEST_ON_GRAPH(test_blend, f) {
    enum { N = 70, D = 8 };
    static const char *const names[] = {"q", "k", "v", "beta", "w1", "w2", "near", "far", "both"};
    const weft_shape rows = weft_shape_of(1, N, D);
    const weft_shape shapes[] = {
        rows, rows, rows, weft_shape_of(1, N, 2), weft_shape_of(D), weft_shape_of(D)};
    float data[9][N * D];
    for (uint32_t i = 0; i < 6; i++) {
        weft_philox_uniform(data[i], N * D, 20, i);
    }
    for (int fast = 0; fast < 2; fast++) {
        struct weft_test_run r = weft_test_begin(f->device);
        weft_tensor x[6];
        weft_tensor fields[3];
        for (uint32_t i = 0; i < 6; i++) {
            x[i] = weft_test_feed(&r, names[i], shapes[i], data[i]);
        }
        add_fields(r.graph, x, fast != 0, fields);
        for (uint32_t i = 0; i < 3; i++) {
            weft_test_take(&r, names[6 + i], fields[i], data[6 + i]);
        }
        weft_test_execute(&r, NULL);
        for (uint32_t i = 0; i < N * D; i++) {
            volatile float near = data[6][i] * data[4][i % D];
            volatile float far = data[7][i] * data[5][i % D];
            volatile float both = near + far;
            assert_true(data[8][i] == both);
        }
    }
}

/* ---- maps of the caller's ---- */

WEFT_TEST_ON_FRESH_GRAPH(test_glsl_maps, f) {
    enum { N = 70, D = 8 };
    float *q = random_values(N * D, 15);
    float *k = random_values(N * D, 16);
    float *v = random_values(N * D, 17);
    float own[N * D];
    float built_in[N * D];
    char text[] = "float weft_feature(float x) { return weft_exp(x); }";
    const weft_kernel custom[] = {{.glsl = text}, {.map = WEFT_FEATURE_RELU, .weight = 2.0F}};
    const weft_kernel usual[] = {{.map = WEFT_FEATURE_EXP},
                                 {.map = WEFT_FEATURE_RELU, .weight = 2.0F}};
    struct weft_test_mix p =
        problem_of(&weft_sheet_kernel_attention, N, N, D, D, KERNELS(custom, .causal = false));
    run(f, &p, q, k, v, own);
    uint32_t compiled = f->device->stats.shaders_compiled;
    assert_int_equal(compiled, 1);
    p.params = KERNELS(custom, .causal = true); /* another plan: the text is compiled already */
    run(f, &p, q, k, v, own);
    assert_int_equal(f->device->stats.shaders_compiled, compiled);
    p.params = KERNELS(usual, .causal = true);
    run(f, &p, q, k, v, built_in);
    assert_memory_equal(own, built_in, sizeof own);
    free(q);
    free(k);
    free(v);
}

/* The graph keeps the text, not the caller's pointer to it. */
WEFT_TEST_ON_GRAPH(test_glsl_is_copied, f) {
    char text[] = "float weft_feature(float x) { return x * x; }";
    const weft_kernel kernel = {.glsl = text};
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(1, 5, 3));
    assert_ok(weft_graph_kernel_attention(
        &y, f->graph, x, x, x,
        weft_kernel_attention_params(.kernels = &kernel, .kernel_count = 1)));
    assert_ok(weft_graph_output(f->graph, "y", y));
    memset(text, '#', strlen(text));
    weft_plan *plan = NULL;
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    weft_plan_destroy(&plan);
}

static void expect_glsl_failure(struct weft_test_graph *f, const char *glsl, weft_status expected,
                                const char *message) {
    const weft_kernel kernel[] = {{.glsl = glsl}};
    const struct weft_test_mix p =
        problem_of(&weft_sheet_kernel_attention, 5, 5, 3, 3, KERNELS(kernel, .causal = false));
    struct weft_test_run r;
    const weft_tensor y = weft_test_mix_begin(&r, f->device, &p);
    WEFT_EXPECT_NO_PLAN(f, &r, y, NULL, expected, message);
}

WEFT_TEST_ON_GRAPH(test_bad_glsl, f) {
    expect_glsl_failure(f, "float weft_feature(float x) { return y; }", WEFT_COMPILE_ERROR, "'y'");
    expect_glsl_failure(f, "float feature(float x) { return x; }", WEFT_COMPILE_ERROR,
                        "weft_feature");
    expect_glsl_failure(f, "float weft_feature(float x) { return exp(x); }", WEFT_UNSUPPORTED,
                        "Exp");
    expect_glsl_failure(f, "float weft_feature(float x) { return 1.0 / x; }", WEFT_UNSUPPORTED,
                        "OpFDiv");
}

/* ---- how large and how small the features of q and k may be: weft/mixers/kernels.h ---- */

enum outcome { MEAN, ZERO, NOT_A_NUMBER };

static const struct range_case {
    weft_feature_map map;
    float q, k;
    enum outcome outcome;
} range_cases[] = {
    {WEFT_FEATURE_ELU1, -36.5F, -36.5F, MEAN},
    {WEFT_FEATURE_ELU1, -43.0F, -43.0F, MEAN}, /* a rough one: e^-1.3 of 3/4 */
    {WEFT_FEATURE_ELU1, -45.0F, -45.0F, ZERO}, /* 2 e^-90 < 2^-126 */
    {WEFT_FEATURE_ELU1, -80.0F, 5.0F, MEAN},
    {WEFT_FEATURE_ELU1, -87.5F, 50.0F, ZERO}, /* e^-87.5 < 2^-126 */
    {WEFT_FEATURE_ELU1, 1e18F, 1e18F, MEAN},
    {WEFT_FEATURE_ELU1_NEGATED, 45.0F, 45.0F, ZERO},
    {WEFT_FEATURE_EXP, -36.0F, -37.0F, MEAN},
    {WEFT_FEATURE_EXP, -45.0F, -45.0F, ZERO},
    {WEFT_FEATURE_EXP, 43.5F, 44.0F, MEAN}, /* 2 e^87.5 < 2^128 */
    {WEFT_FEATURE_EXP, 45.0F, 45.0F, NOT_A_NUMBER},
    {WEFT_FEATURE_EXP, 95.0F, 0.0F, NOT_A_NUMBER},
    {WEFT_FEATURE_EXP, 0.0F, 95.0F, NOT_A_NUMBER},
};

/* Two keys of one channel, alike, with v = 1/4 and 3/4, whose mean is 1/2. */
WEFT_TEST_ON_GRAPH(test_ranges_of_features, f) {
    for (size_t i = 0; i < 2 * sizeof range_cases / sizeof range_cases[0]; i++) {
        const struct range_case *c = &range_cases[i / 2];
        const weft_kernel kernel[] = {{.map = c->map}};
        float q[2] = {c->q, c->q}, k[2] = {c->k, c->k}, v[2] = {0.25F, 0.75F}, y[2];
        struct weft_test_mix p = problem_of(&weft_sheet_kernel_attention, 2, 2, 1, 1,
                                            KERNELS(kernel, .causal = i % 2 == 1));
        run(f, &p, q, k, v, y);
        print_message("%s of %g and %g: %g\n", weft_feature_map_name(c->map), (double)c->q,
                      (double)c->k, (double)y[1]);
        /* The last token reads both keys, causal or not. */
        const float lost = 2.0F * 0.75F * expf(-87.3F - fminf(c->q + c->k, 0.0F));
        assert_true(c->outcome != MEAN || fabsf(y[1] - 0.5F) < 5e-6F + lost);
        assert_true(c->outcome != ZERO || y[1] == 0.0F);
        assert_true(c->outcome != NOT_A_NUMBER || isnan(y[1]));
    }
}

WEFT_TEST(test_names) {
    assert_string_equal(weft_feature_map_name(WEFT_FEATURE_ELU1_NEGATED), "elu1_negated");
    assert_string_equal(weft_feature_map_name(WEFT_FEATURE_COUNT), "unknown");
}
