/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Properties of linear attention, kernel attention and fast weights, values checked by hand, and bad parameters. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "core/shape.h"
#include "device/device.h"
#include "support_causality.h"
#include "support_graph.h"

/* ---- running an op ---- */

enum op { LINEAR, KERNEL, FAST_WEIGHT };

/* An op on one sequence. q and k have `features` columns, v has `values`; beta is null but for FAST_WEIGHT. */
struct problem {
    enum op op;
    uint32_t n, keys, heads;
    uint32_t features, values;
    bool causal;
    const weft_kernel *kernels;
    uint32_t kernel_count;
    float *q, *k, *v, *beta;
};

static struct weft_test_run begin(struct weft_test_graph *f, const struct problem *p,
                                  weft_tensor *y) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor q = weft_test_feed(&r, "q", weft_shape_of(1, p->n, p->features), p->q);
    weft_tensor k = weft_test_feed(&r, "k", weft_shape_of(1, p->keys, p->features), p->k);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, p->keys, p->values), p->v);
    if (p->op == LINEAR) {
        assert_ok(weft_graph_linear_attention(
            y, r.graph, q, k, v,
            weft_linear_attention_params(.heads = p->heads, .causal = p->causal)));
    } else if (p->op == KERNEL) {
        assert_ok(weft_graph_kernel_attention(
            y, r.graph, q, k, v,
            weft_kernel_attention_params(.heads = p->heads, .causal = p->causal,
                                         .kernels = p->kernels, .kernel_count = p->kernel_count)));
    } else {
        weft_tensor beta = weft_test_feed(&r, "beta", weft_shape_of(1, p->n, p->heads), p->beta);
        assert_ok(weft_graph_fast_weight(y, r.graph, q, k, v, beta,
                                         weft_fast_weight_params(.heads = p->heads)));
    }
    return r;
}

static void run(struct weft_test_graph *f, const struct problem *p, float *out) {
    weft_tensor y;
    struct weft_test_run r = begin(f, p, &y);
    weft_test_execute_to(&r, y, out);
}

static float *random_values(uint64_t count, uint64_t stream) {
    return weft_test_uniform(count, 7, stream);
}

/* ---- values checked by hand ---- */

/* docs/mixers.md, section 6. */
WEFT_TEST_ON_GRAPH(test_causal_ones, f) {
    float ones[3] = {1.0F, 1.0F, 1.0F};
    float v[3] = {1.0F, 0.0F, 0.0F};
    float y[3];
    struct problem p = {LINEAR, 3, 3, 1, 1, 1, .causal = true, .q = ones, .k = ones, .v = v};
    run(f, &p, y);
    assert_true(y[0] == 1.0F && y[1] == 0.5F && y[2] == 1.0F / 3.0F);
    /* At 0, elu(x) + 1 is 1: the same through the kernels. */
    float zeros[3] = {0.0F, 0.0F, 0.0F};
    p = (struct problem){KERNEL, 3, 3, 1, 1, 1, .causal = true, .q = zeros, .k = zeros, .v = v};
    run(f, &p, y);
    assert_true(y[0] == 1.0F && y[1] == 0.5F && y[2] == 1.0F / 3.0F);
}

/* docs/mixers.md, section 6: 26/19, 58/43, 6/5, 18/13. */
WEFT_TEST_ON_GRAPH(test_relu_golden, f) {
    float q[] = {1.0F, 2.0F, 3.0F, 4.0F, 1.0F, -1.0F, 1.0F, 3.0F};
    float k[] = {-3.0F, 1.0F, 1.0F, 5.0F, -2.0F, -3.0F, 4.0F, 1.0F};
    float v[] = {-1.0F, 2.0F, 3.0F, 1.0F};
    const double expected[] = {1.368421, 1.348837, 1.2, 1.384615};
    const weft_kernel relu = {.map = WEFT_FEATURE_RELU};
    float y[4];
    struct problem p = {KERNEL, 4, 4, 1, 2, 1, false, &relu, 1, q, k, v, NULL};
    run(f, &p, y);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs((double)y[i] - expected[i]) < 1e-6);
    }
}

/* A query whose features are all 0 reads nothing; tanh of q and k that cancel is guarded, not infinite. */
WEFT_TEST_ON_GRAPH(test_zero_denominators, f) {
    float q[] = {-1.0F, -2.0F};
    float k[] = {1.0F, 3.0F};
    float v[] = {5.0F, 7.0F};
    const weft_kernel relu = {.map = WEFT_FEATURE_RELU};
    float y[2];
    struct problem p = {KERNEL, 2, 2, 1, 1, 1, false, &relu, 1, q, k, v, NULL};
    run(f, &p, y);
    assert_true(y[0] == 0.0F && y[1] == 0.0F);
    const weft_kernel tangent = {.map = WEFT_FEATURE_TANH};
    float opposite[] = {1.0F, -1.0F};
    float one[] = {1.0F, 0.0F};
    p = (struct problem){KERNEL, 1, 2, 1, 1, 1, false, &tangent, 1, one, opposite, v, NULL};
    run(f, &p, y);
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
    struct problem p = {FAST_WEIGHT, 4, 4, 1, 2, 1, .q = q, .k = k, .v = v, .beta = beta};
    run(f, &p, y);
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
        struct problem p = {KERNEL, N,      N,     HEADS, D, D, .causal = causal != 0,
                            .q = q, .k = k, .v = v};
        run(f, &p, a);
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

static void run_again(struct weft_test_graph *f, const void *problem, float *out) {
    run(f, problem, out);
}

/* Around the ends of chunks, and for a cut in the middle of one. */
static void check_causality(struct weft_test_graph *f, const struct problem *p) {
    static const uint32_t cuts[] = {1, 40, 63, 64, 65, 128, 149};
    const struct weft_test_mixer mixer = {.run = run_again,
                                          .problem = p,
                                          .n = p->n,
                                          .values = p->values,
                                          .inputs = {{p->q, p->features},
                                                     {p->k, p->features},
                                                     {p->v, p->values},
                                                     {p->beta, p->beta ? p->heads : 0}}};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        weft_test_expect_causal(f, &mixer, cuts[i], 0.25F);
        weft_test_expect_causal(f, &mixer, cuts[i], NAN);
    }
}

WEFT_TEST_ON_GRAPH(test_causality, f) {
    static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_ELU1},
                                          {.map = WEFT_FEATURE_TANH1, .weight = 0.5F}};
    enum { N = 150, D = 16, HEADS = 2 };
    float *q = random_values(N * D, 3);
    float *k = random_values(N * D, 4);
    float *v = random_values(N * D, 5);
    float *beta = random_values(N * HEADS, 6);
    struct problem p = {KERNEL, N, N, HEADS, D, D, true, kernels, 2, q, k, v, NULL};
    check_causality(f, &p);
    p.op = FAST_WEIGHT;
    p.beta = beta;
    check_causality(f, &p);
    free(q);
    free(k);
    free(v);
    free(beta);
}

/* The first tokens of a longer sequence get the very bits that they get alone. */
WEFT_TEST_ON_GRAPH(test_prefix_has_the_same_bits, f) {
    enum { N = 200, D = 8 };
    static const uint32_t lengths[] = {1, 63, 64, 65, 127, 128, 129};
    float *q = random_values(N * D, 8);
    float *k = random_values(N * D, 9);
    float *v = random_values(N * D, 10);
    float *beta = random_values(N, 11);
    float whole[N * D];
    float part[N * D];
    for (int op = KERNEL; op <= FAST_WEIGHT; op++) {
        struct problem p = {(enum op)op, N, N, 1, D, D, true, NULL, 0, q, k, v, NULL};
        p.beta = op == FAST_WEIGHT ? beta : NULL;
        run(f, &p, whole);
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            p.n = p.keys = lengths[i];
            run(f, &p, part);
            assert_memory_equal(whole, part, lengths[i] * D * sizeof *part);
        }
    }
    free(q);
    free(k);
    free(v);
    free(beta);
}

/* The last token of a causal sequence reads what it would read without causality. */
WEFT_TEST_ON_GRAPH(test_last_token_reads_everything, f) {
    enum { N = 197, D = 12 };
    float *q = random_values(N * D, 12);
    float *k = random_values(N * D, 13);
    float *v = random_values(N * D, 14);
    float causal[N * D];
    float full[N * D];
    struct problem p = {KERNEL, N, N, 2, D, D, true, NULL, 0, q, k, v, NULL};
    run(f, &p, causal);
    p.causal = false;
    run(f, &p, full);
    for (uint32_t t = 0; t < D; t++) {
        double a = (double)causal[(N - 1) * D + t];
        double b = (double)full[(N - 1) * D + t];
        assert_true(fabs(a - b) < 1e-6);
    }
    free(q);
    free(k);
    free(v);
}

/* Scratch memory grows with n, not with n². */
WEFT_TEST_ON_GRAPH(test_memory_is_linear, f) {
    uint64_t bytes[3][2];
    for (int op = LINEAR; op <= FAST_WEIGHT; op++) {
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t n = i == 0 ? 512 : 16384;
            struct problem p = {(enum op)op, n, n, 1, 64, 64, .causal = true};
            weft_tensor y;
            struct weft_test_run r = begin(f, &p, &y);
            const weft_plan_info info = weft_test_info_of(&r, y, NULL);
            bytes[op][i] = info.arena_bytes;
            assert_true(info.dispatches < 12);
        }
        double exponent = log((double)bytes[op][1] / (double)bytes[op][0]) / log(32.0);
        assert_true(exponent <= 1.05);
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

WEFT_TEST_ON_GRAPH(test_bad_blend, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor x = weft_test_input(g, "x", weft_shape_of(1, 5, 4));
    weft_tensor beta = weft_test_input(g, "beta", weft_shape_of(1, 5, 1));
    weft_test_host_reset(&f->host);
    assert_int_equal(weft_graph_fmm_attention(&y, g, x, x, x, NULL), WEFT_INVALID_ARGUMENT);
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_graph_fmm_attention(&y, g, x, x, x, weft_fmm_attention_params(.half_width = 5)),
        "half_width", "5");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_graph_fmm_attention(&y, g, x, x, x, weft_fmm_attention_params(.beta = beta)),
        "causal is 0");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_SHAPE_MISMATCH,
        weft_graph_fmm_attention(&y, g, x, x, x, weft_fmm_attention_params(.near_weight = beta)),
        "[1, 5, 1]");
}

/* ---- maps of the caller's ---- */

WEFT_TEST_ON_GRAPH(test_glsl_maps, f) {
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
    struct problem p = {KERNEL, N, N, 1, D, D, false, custom, 2, q, k, v, NULL};
    run(f, &p, own);
    uint32_t compiled = f->device->stats.shaders_compiled;
    assert_int_equal(compiled, 1);
    p.causal = true; /* another plan: the text is compiled already */
    run(f, &p, own);
    assert_int_equal(f->device->stats.shaders_compiled, compiled);
    p.kernels = usual;
    run(f, &p, built_in);
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
    const weft_kernel kernel = {.glsl = glsl};
    struct problem p = {KERNEL, 5, 5, 1, 3, 3, .kernels = &kernel, .kernel_count = 1};
    weft_tensor y;
    struct weft_test_run r = begin(f, &p, &y);
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

/* ---- bad parameters ---- */

#define LINEAR_ATTENTION_REFUSED(status, q_features, k_features, v, params, ...) \
    WEFT_EXPECT_FAILURE(                                                         \
        f, WEFT_##status,                                                        \
        weft_graph_linear_attention(&y, f->graph, q_features, k_features, v, params), __VA_ARGS__)
#define LINEAR_ATTENTION_WITH(...) weft_linear_attention_params(__VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_linear_attention, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor q = weft_test_input(g, "q", weft_shape_of(2, 5, 6));
    weft_tensor k = weft_test_input(g, "k", weft_shape_of(2, 7, 6));
    weft_tensor v = weft_test_input(g, "v", weft_shape_of(2, 7, 8));
    weft_tensor flat = weft_test_input(g, "flat", weft_shape_of(5, 6));
    weft_tensor indices = weft_test_input_i32(g, "i", weft_shape_of(2, 7, 8));
    assert_ok(weft_graph_linear_attention(&y, g, q, k, v, NULL));
    weft_test_expect_shape(g, y, weft_shape_of(2, 5, 8));
    LINEAR_ATTENTION_REFUSED(SHAPE_MISMATCH, flat, k, v, NULL, "[5, 6]", "[2, 7, 6]");
    LINEAR_ATTENTION_REFUSED(SHAPE_MISMATCH, q, v, v, NULL, "[2, 5, 6]", "[2, 7, 8]");
    LINEAR_ATTENTION_REFUSED(SHAPE_MISMATCH, q, k, indices, NULL, "v must be f32");
    LINEAR_ATTENTION_REFUSED(SHAPE_MISMATCH, q, k, v, LINEAR_ATTENTION_WITH(.causal = true),
                             "k = n");
    LINEAR_ATTENTION_REFUSED(INVALID_ARGUMENT, q, k, v, LINEAR_ATTENTION_WITH(.heads = 3),
                             "3 heads", "6 features", "8 values");
    LINEAR_ATTENTION_REFUSED(INVALID_ARGUMENT, q, k, v, LINEAR_ATTENTION_WITH(.epsilon = -1.0F),
                             "epsilon -1");
    LINEAR_ATTENTION_REFUSED(INVALID_ARGUMENT, q, k, v, LINEAR_ATTENTION_WITH(.epsilon = NAN),
                             "epsilon nan");
}

static weft_status kernels_of(weft_graph *g, weft_tensor x, weft_kernel kernel, uint32_t count) {
    weft_kernel kernels[WEFT_MAX_KERNELS + 1];
    for (uint32_t i = 0; i <= WEFT_MAX_KERNELS; i++) {
        kernels[i] = kernel;
    }
    weft_tensor y;
    return weft_graph_kernel_attention(
        &y, g, x, x, x, weft_kernel_attention_params(.kernels = kernels, .kernel_count = count));
}

#define KERNEL_ATTENTION_REFUSED(status, q, k, v, params, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status,                      \
                        weft_graph_kernel_attention(&y, f->graph, q, k, v, params), __VA_ARGS__)
#define KERNEL_ATTENTION_WITH(...) weft_kernel_attention_params(__VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_kernel_attention, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor x = weft_test_input(g, "x", weft_shape_of(2, 5, 6));
    weft_tensor k = weft_test_input(g, "k", weft_shape_of(2, 7, 6));
    weft_tensor flat = weft_test_input(g, "flat", weft_shape_of(5, 6));
    const weft_kernel custom = {.glsl = "float weft_feature(float x) { return x; }"};
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, kernels_of(g, x, (weft_kernel){0}, 0),
                        "kernel_count 0", "1 … 5");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, kernels_of(g, x, (weft_kernel){0}, 6),
                        "kernel_count 6", "1 … 5");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        kernels_of(g, x, (weft_kernel){.map = WEFT_FEATURE_COUNT}, 1), "map 6",
                        "0 … 5");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        kernels_of(g, x, (weft_kernel){.weight = INFINITY}, 1), "weight inf");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, kernels_of(g, x, (weft_kernel){.glsl = ""}, 1),
                        "glsl", "0 bytes");
    KERNEL_ATTENTION_REFUSED(INVALID_ARGUMENT, x, x, x, KERNEL_ATTENTION_WITH(.kernel_count = 2),
                             "kernel_count is 2", "kernels is null");
    KERNEL_ATTENTION_REFUSED(
        INVALID_ARGUMENT, x, x, x,
        KERNEL_ATTENTION_WITH(.heads = 4, .kernels = &custom, .kernel_count = 1), "4 heads", "6");
    KERNEL_ATTENTION_REFUSED(INVALID_ARGUMENT, x, x, x, KERNEL_ATTENTION_WITH(.epsilon = -1.0F),
                             "epsilon -1");
    KERNEL_ATTENTION_REFUSED(SHAPE_MISMATCH, x, flat, x, NULL, "[5, 6]", "[2, 5, 6]");
    KERNEL_ATTENTION_REFUSED(SHAPE_MISMATCH, x, k, k, KERNEL_ATTENTION_WITH(.causal = true),
                             "m = n");
    KERNEL_ATTENTION_REFUSED(INVALID_ARGUMENT, x, (weft_tensor){99}, x, NULL, "99");
}

#define FAST_WEIGHT_REFUSED(status, q, k, v, beta, params, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status,                       \
                        weft_graph_fast_weight(&y, f->graph, q, k, v, beta, params), __VA_ARGS__)
#define FAST_WEIGHT_WITH(...) weft_fast_weight_params(__VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_fast_weight, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor x = weft_test_input(g, "x", weft_shape_of(2, 5, 6));
    weft_tensor beta = weft_test_input(g, "beta", weft_shape_of(2, 5, 2));
    weft_tensor wide = weft_test_input(g, "wide", weft_shape_of(2, 5, 1026));
    const weft_fast_weight_params *two = weft_fast_weight_params(.heads = 2);
    assert_ok(weft_graph_fast_weight(&y, g, x, x, wide, beta, two));
    FAST_WEIGHT_REFUSED(SHAPE_MISMATCH, x, wide, x, beta, two, "[2, 5, 6]", "[2, 5, 1026]");
    FAST_WEIGHT_REFUSED(SHAPE_MISMATCH, x, x, x, beta, NULL, "beta", "[2, 5, 1]", "[2, 5, 2]");
    FAST_WEIGHT_REFUSED(INVALID_ARGUMENT, x, x, x, beta, FAST_WEIGHT_WITH(.heads = 4), "4 heads",
                        "6");
    FAST_WEIGHT_REFUSED(UNSUPPORTED, wide, wide, x, beta, two, "513", "512");
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
        const weft_kernel kernel = {.map = c->map};
        float q[2] = {c->q, c->q}, k[2] = {c->k, c->k}, v[2] = {0.25F, 0.75F}, y[2];
        const struct problem p = {KERNEL, 2, 2, 1, 1, 1, i % 2 == 1, &kernel, 1, q, k, v, NULL};
        run(f, &p, y);
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
