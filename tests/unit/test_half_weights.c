/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Weights that fast mode keeps as f16: which, how exactly, and shared between plans. */
#include <math.h>

#include <weft/graph.h>

#include "core/math/half.h"
#include "core/math/philox.h"
#include "support_graph.h"
#include "support_reference.h"
#include "verify/reference/ops.h"

static weft_device *open_device(struct weft_test_host *host, weft_weight_storage weights) {
    weft_device *device = NULL;
    assert_ok(
        weft_device_open(&device, weft_device_params(.host = host->host, .math = WEFT_MATH_FAST,
                                                     .weights = weights, .cache_dir = "")));
    return device;
}

/* ---- a product of an input and a constant ---- */

struct product {
    uint32_t m, n, k;
    bool transpose_a, transpose_b;
    bool constant_a; /* a is the constant, else b */
    float alpha;
    const char *kernel;
};

static uint32_t count_a(const struct product *p) {
    return p->m * p->k;
}

static uint32_t count_b(const struct product *p) {
    return p->k * p->n;
}

static weft_weight *make_weight(struct weft_test_host *host, weft_shape shape, const float *data) {
    weft_weight *weight = NULL;
    assert_ok(
        weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), &host->host));
    return weight;
}

static weft_shape shape_a(const struct product *p) {
    return p->transpose_a ? weft_shape_of(p->k, p->m) : weft_shape_of(p->m, p->k);
}

static weft_shape shape_b(const struct product *p) {
    return p->transpose_b ? weft_shape_of(p->n, p->k) : weft_shape_of(p->k, p->n);
}

static weft_plan *compile(weft_device *device, const struct product *p, weft_weight *weight) {
    struct weft_test_run r = weft_test_begin(device);
    weft_tensor constant, y;
    assert_ok(weft_graph_weight(&constant, r.graph, weight));
    weft_tensor x = weft_test_input(r.graph, "x", p->constant_a ? shape_b(p) : shape_a(p));
    assert_ok(
        weft_graph_matmul(&y, r.graph, p->constant_a ? constant : x, p->constant_a ? x : constant,
                          weft_matmul_params(.transpose_a = p->transpose_a,
                                             .transpose_b = p->transpose_b, .alpha = p->alpha)));
    return weft_test_plan_to(&r, "y", y, p->kernel);
}

/* y = product; returns how many bytes of the weight are f16. */
static uint64_t multiply(float *y, weft_device *device, const struct product *p,
                         weft_weight *weight, float *x) {
    weft_plan_info info;
    weft_plan *plan = compile(device, p, weight);
    const weft_host_tensor tensors[] = {
        {"x", x, (p->constant_a ? count_b(p) : count_a(p)) * sizeof *x},
        {"y", y, (uint64_t)p->m * p->n * sizeof *y}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    assert_ok(weft_plan_get_info(plan, &info));
    assert_true(info.f16_weight_bytes == 0 || info.f16_weight_bytes == info.weight_bytes);
    weft_plan_destroy(&plan);
    return info.f16_weight_bytes;
}

/* ---- the same numbers, the same bits ---- */

/* Where another kernel than panels is named, panels would not be larger: the processor takes them if it can. */
static const struct product products[] = {
    {37, 64, 52, false, true, false, 1.0F, "direct"}, /* fours of b */
    {37, 64, 52, false, true, false, 1.0F, "tiled"},
    {37, 64, 52, false, false, false, 0.375F, "direct"},
    {37, 64, 52, false, false, false, -3.0F, "tiled"},
    {19, 45, 67, false, true, false, 1.0F, "direct"}, /* odd sizes: a half word at the end */
    {19, 45, 67, false, true, false, 1.0F, "tiled"},
    {19, 45, 67, true, false, false, 1.0F, "direct"},
    {19, 45, 67, true, false, false, 1.0F, "tiled"},
    {36, 45, 68, false, false, true, 1.0F, "direct"}, /* fours of a */
    {36, 45, 68, false, false, true, 1.0F, "tiled"},
    {35, 45, 67, true, true, true, 1.0F, "direct"},
    {35, 45, 67, true, true, true, 1.0F, "tiled"},
    {37, 64, 52, false, true, false, -3.0F, "panels"},
    {19, 64, 67, false, false, false, 1.0F, "panels"},
    {19, 64, 67, true, true, false, 1.0F, "panels"},
    {1, 1, 1, false, true, false, 1.0F, NULL},
};

/* A weight whose elements are f16 numbers loses nothing, so nothing but the storage differs. */
WEFT_TEST_ON_HOST(test_exact_weights_give_the_bits_of_f32, f) {
    enum { MOST = 5000 };
    float w[MOST], x[MOST], expected[MOST], found[MOST];
    weft_device *wide = open_device(f, WEFT_WEIGHTS_F32);
    weft_device *narrow = open_device(f, WEFT_WEIGHTS_AUTO);
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        const struct product *p = &products[i];
        uint32_t count = p->constant_a ? count_a(p) : count_b(p);
        weft_philox_uniform(w, MOST, 1, i);
        weft_philox_uniform(x, MOST, 2, i);
        for (uint32_t j = 0; j < MOST; j++) {
            w[j] =
                weft_float_of_half(weft_half_of_float(w[j] * 8.0F)); /* what is kept is times 2^s */
        }
        weft_weight *weight = make_weight(f, p->constant_a ? shape_a(p) : shape_b(p), w);
        assert_int_equal(multiply(expected, wide, p, weight, x), 0);
        assert_int_equal(multiply(found, narrow, p, weight, x), (count + 1) / 2 * 4);
        assert_memory_equal(found, expected, (size_t)p->m * p->n * sizeof *found);
        weft_weight_destroy(&weight);
    }
    weft_test_device_close(&wide);
    weft_test_device_close(&narrow);
}

/* ---- weights of every size ---- */

enum { M = 9, N = 40, K = 50, WEIGHTS = N * K };
static const struct product linear = {M, N, K, false, true, false, 1.0F, NULL};

static double relative_error(const float *y, const float *x, const float *w) {
    weft_reference ref = {.status = WEFT_OK};
    double expected[M * N];
    weft_reference_linear(&ref, expected, weft_reference_all(&ref, M),
                          weft_reference_of(&ref, x, (uint64_t)M * K), K,
                          weft_reference_of(&ref, w, WEIGHTS), N, NULL);
    weft_reference_end(&ref);
    return weft_test_error(y, expected, M * N);
}

/* Runs the linear layer; `half`: what the weight is to be kept as. */
static void run_linear(float y[M * N], weft_device *device, struct weft_test_host *host,
                       const float *w, float *x, bool half) {
    weft_weight *weight = make_weight(host, weft_shape_of(N, K), w);
    assert_int_equal(multiply(y, device, &linear, weight, x), half ? 2 * WEIGHTS : 0);
    weft_weight_destroy(&weight);
}

/* None overflows or vanishes, however large or small it is as a whole. */
WEFT_TEST_ON_HOST(test_scaled_weights, f) {
    static const float scales[] = {1.0F, 0.02F, 65504.0F, 1e6F, 0x1p80F, 1e-3F, 1e-6F, 0x1p-80F};
    float w[WEIGHTS], x[M * K], y[M * N];
    weft_device *device = open_device(f, WEFT_WEIGHTS_F16);
    weft_philox_uniform(x, M * K, 3, 0);
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        weft_philox_uniform(w, WEIGHTS, 4, i);
        for (uint32_t j = 0; j < WEIGHTS; j++) {
            w[j] *= scales[i];
        }
        run_linear(y, device, f, w, x, true);
        double error = relative_error(y, x, w);
        assert_true(error > 0.0 && error <= 1e-3);
    }
    memset(w, 0, sizeof w);
    w[7] = -0.0F;
    run_linear(y, device, f, w, x, true);
    for (uint32_t i = 0; i < M * N; i++) {
        assert_true(y[i] == 0.0F);
    }
    weft_test_device_close(&device);
}

/* ---- weights that stay f32 ---- */

static void expect_f32(weft_device *device, struct weft_test_host *host, const float *w, float *x) {
    float y[M * N];
    run_linear(y, device, host, w, x, false);
    assert_true(relative_error(y, x, w) <= 1e-6);
}

WEFT_TEST_ON_HOST(test_wide_ranges_stay_f32, f) {
    float w[WEIGHTS], x[M * K], y[M * N];
    weft_device *device = open_device(f, WEFT_WEIGHTS_F16);
    weft_philox_uniform(x, M * K, 3, 0);
    weft_philox_uniform(w, WEIGHTS, 5, 0);
    /* One element so large that the others would be rounded to few bits and then to 0. */
    w[17] = 0x1p30F;
    expect_f32(device, f, w, x);
    /* 1 % may vanish; zeros do not count. */
    for (uint32_t i = 0; i < WEIGHTS; i++) {
        w[i] = i % 2 == 0 ? 0.0F : i < 20 ? 0x1p-40F : 1.0F;
    }
    run_linear(y, device, f, w, x, true);
    w[21] = 0x1p-40F;
    expect_f32(device, f, w, x);
    /* Beyond any scale. */
    for (uint32_t i = 0; i < WEIGHTS; i++) {
        w[i] = 0x1p-110F;
    }
    expect_f32(device, f, w, x);
    weft_test_device_close(&device);
}

WEFT_TEST_ON_HOST(test_not_finite_stays_f32, f) {
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    float w[WEIGHTS], x[M * K], y[M * N];
    weft_device *device = open_device(f, WEFT_WEIGHTS_F16);
    weft_philox_uniform(x, M * K, 3, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        weft_philox_uniform(w, WEIGHTS, 6, i);
        w[3 * K + 1] = bad[i];
        run_linear(y, device, f, w, x, false);
        for (uint32_t j = 0; j < M * N; j++) {
            assert_int_equal(isfinite(y[j]) != 0, j % N != 3);
        }
    }
    weft_test_device_close(&device);
}

/* A factor that cannot take over the weight's power of two exactly. */
WEFT_TEST_ON_HOST(test_tiny_alpha_keeps_f32, f) {
    struct product p = linear;
    float w[WEIGHTS], x[M * K], y[M * N];
    p.alpha = 0x1.234567p-120F;
    weft_device *device = open_device(f, WEFT_WEIGHTS_F16);
    weft_philox_uniform(x, M * K, 3, 0);
    weft_philox_uniform(w, WEIGHTS, 7, 0);
    for (uint32_t i = 0; i < WEIGHTS; i++) {
        w[i] *= 1e-6F;
    }
    weft_weight *weight = make_weight(f, weft_shape_of(N, K), w);
    assert_int_equal(multiply(y, device, &p, weight, x), 0);
    weft_weight_destroy(&weight);
    weft_test_device_close(&device);
}

/* ---- sharing, choosing ---- */

static uint64_t bytes_in_use(const weft_device *device) {
    weft_device_stats stats;
    assert_ok(weft_device_get_stats(device, &stats));
    return stats.bytes_in_use;
}

WEFT_TEST_ON_HOST(test_plans_share_f16_copies, f) {
    struct product longer = linear;
    longer.m = 3 * M;
    float w[WEIGHTS];
    weft_device *device = open_device(f, WEFT_WEIGHTS_F16);
    weft_philox_uniform(w, WEIGHTS, 8, 0);
    weft_weight *weight = make_weight(f, weft_shape_of(N, K), w);
    uint64_t before = bytes_in_use(device);
    weft_plan *first = compile(device, &linear, weight);
    uint64_t with_first = bytes_in_use(device);
    weft_plan *second = compile(device, &longer, weight);
    assert_true(with_first > before);
    assert_int_equal(bytes_in_use(device), with_first); /* neither has an arena */
    weft_plan_destroy(&first);
    weft_plan_destroy(&second);
    weft_weight_destroy(&weight);
    weft_test_device_close(&device);
}

/* One weight in a product and in an addition: f16 here, f32 there, and both right. */
WEFT_TEST_ON_HOST(test_f16_and_f32_copies_of_one_weight, f) {
    float w[K * K], x[K * K], y[K * K];
    weft_device *device = open_device(f, WEFT_WEIGHTS_F16);
    weft_philox_uniform(w, K * K, 9, 0);
    memset(x, 0, sizeof x);
    for (uint32_t i = 0; i < K; i++) {
        x[i * K + i] = 1.0F;
    }
    weft_weight *weight = make_weight(f, weft_shape_of(K, K), w);
    struct weft_test_run r = weft_test_begin(device);
    weft_plan_info info;
    weft_tensor b, sum;
    weft_tensor a = weft_test_input(r.graph, "x", weft_shape_of(K, K));
    assert_ok(weft_graph_weight(&b, r.graph, weight));
    assert_ok(weft_graph_matmul(&sum, r.graph, a, b, NULL));
    assert_ok(weft_graph_binary(&sum, r.graph, WEFT_BINARY_SUBTRACT, sum, b));
    weft_plan *plan = weft_test_plan_to(&r, "y", sum, "product"); /* panels are larger */
    assert_ok(weft_plan_get_info(plan, &info));
    assert_int_equal(info.f16_weight_bytes, 2 * K * K);
    assert_int_equal(info.weight_bytes, 6 * K * K);
    const weft_host_tensor tensors[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    uint32_t exact = 0;
    for (uint32_t i = 0; i < K * K; i++) { /* what the rounding took */
        assert_true(fabsf(y[i]) <= 0x1p-11F * fabsf(w[i]));
        exact += y[i] == 0.0F;
    }
    assert_true(exact < K * K / 10);
    weft_plan_destroy(&plan);
    weft_weight_destroy(&weight);
    weft_test_device_close(&device);
}

WEFT_TEST_ON_HOST(test_reproducible_math_refuses_f16, host) {
    weft_device *device = NULL;
    assert_int_equal(weft_device_open(&device, weft_device_params(.host = host->host,
                                                                  .weights = WEFT_WEIGHTS_F16)),
                     WEFT_INVALID_ARGUMENT);
    assert_null(device);
    weft_test_expect_log(host, "f16", "fast");
    weft_test_host_reset(host);
    assert_int_equal(
        weft_device_open(
            &device,
            weft_device_params(.host = host->host, .math = WEFT_MATH_FAST,
                               .weights = (weft_weight_storage)(WEFT_WEIGHTS_I8_ONLY + 1))),
        WEFT_INVALID_ARGUMENT);
    assert_null(device);
    weft_test_expect_log(host, "weight storage");
    assert_string_equal(weft_weight_storage_name(WEFT_WEIGHTS_F16), "f16");
    assert_string_equal(weft_weight_storage_name(WEFT_WEIGHTS_F32), "f32");
    assert_string_equal(weft_weight_storage_name(WEFT_WEIGHTS_AUTO), "auto");
}
