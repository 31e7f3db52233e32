/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * Device memory of mixers beside their inputs and outputs grows linearly with the length of the sequence, n from 512 to
 * 16,384 at d = 64; that of dense attention does not.
 */
#include <math.h>

#include <weft/mixers.h>

#include "support_graph.h"

enum { D = 64, HEADS = 2, FEATURES = 64, FREQUENCIES = 8, GRID = 32, TAPS = 5 };

/* ---- the mixers ---- */

/** q, k and v of a sequence, or x alone, which is q. */
struct sequence {
    weft_graph *graph;
    weft_tensor q, k, v;
    uint32_t n;
};

typedef weft_tensor (*add_mixer)(const struct sequence *s);

static weft_tensor add_dense(const struct sequence *s) {
    weft_tensor y;
    assert_ok(weft_graph_attention(&y, s->graph, s->q, s->k, s->v,
                                   weft_attention_params(.heads = HEADS)));
    return y;
}

static weft_tensor add_banded(const struct sequence *s) {
    weft_tensor y;
    assert_ok(weft_graph_banded_attention(
        &y, s->graph, s->q, s->k, s->v,
        weft_banded_attention_params(.heads = HEADS, .half_width = 32)));
    return y;
}

static weft_tensor add_ski(const struct sequence *s) {
    weft_tensor y;
    const weft_tensor rpe = weft_test_input(s->graph, "rpe", weft_shape_of(2 * GRID + 1, D));
    const weft_tensor taps = weft_test_input(s->graph, "taps", weft_shape_of(TAPS, D));
    assert_ok(weft_graph_ski_toeplitz(
        &y, s->graph, s->q,
        weft_ski_toeplitz_params(.rpe = rpe, .taps = taps, .points = 64, .gamma = 0.99F)));
    return y;
}

static weft_tensor add_kernels(const struct sequence *s, bool causal) {
    static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_ELU1},
                                          {.map = WEFT_FEATURE_ELU1_NEGATED}};
    weft_tensor y;
    assert_ok(weft_graph_kernel_attention(
        &y, s->graph, s->q, s->k, s->v,
        weft_kernel_attention_params(.heads = HEADS, .causal = causal, .kernels = kernels,
                                     .kernel_count = 2)));
    return y;
}

static weft_tensor add_kernel_attention(const struct sequence *s) {
    return add_kernels(s, false);
}

static weft_tensor add_causal_kernel_attention(const struct sequence *s) {
    return add_kernels(s, true);
}

static weft_tensor add_cosformer(const struct sequence *s) {
    weft_tensor y;
    assert_ok(weft_graph_cosformer(&y, s->graph, s->q, s->k, s->v,
                                   weft_cosformer_params(.heads = HEADS, .causal = true)));
    return y;
}

static weft_tensor add_fast_weight(const struct sequence *s) {
    weft_tensor y;
    const weft_tensor beta = weft_test_input(s->graph, "beta", weft_shape_of(1, s->n, HEADS));
    assert_ok(weft_graph_fast_weight(&y, s->graph, s->q, s->k, s->v, beta,
                                     weft_fast_weight_params(.heads = HEADS)));
    return y;
}

/** Positive features of q and k, whose heads have `width` channels, and linear attention. */
static weft_tensor attend(const struct sequence *s, weft_tensor q, weft_tensor k, uint32_t width) {
    const weft_tensor w = weft_test_input(s->graph, "w", weft_shape_of(FEATURES, width));
    weft_tensor phi;
    weft_tensor psi;
    weft_tensor y;
    assert_ok(weft_graph_random_features(
        &phi, s->graph, q, w,
        weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE, .heads = HEADS,
                                    .stabilizer = WEFT_STABILIZER_QUERY)));
    assert_ok(weft_graph_random_features(
        &psi, s->graph, k, w,
        weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE, .heads = HEADS,
                                    .stabilizer = WEFT_STABILIZER_KEY)));
    assert_ok(weft_graph_linear_attention(&y, s->graph, phi, psi, s->v,
                                          weft_linear_attention_params(.heads = HEADS)));
    return y;
}

static weft_tensor add_random_features(const struct sequence *s) {
    return attend(s, s->q, s->k, D / HEADS);
}

static weft_tensor add_flt(const struct sequence *s) {
    const weft_tensor frequencies =
        weft_test_input(s->graph, "frequencies", weft_shape_of(FREQUENCIES, 1));
    const weft_tensor weights = weft_test_input(s->graph, "weights", weft_shape_of(FREQUENCIES));
    weft_tensor q;
    weft_tensor k;
    assert_ok(
        weft_graph_flt_features(&q, s->graph, s->q, frequencies, weights,
                                weft_flt_features_params(.side = WEFT_FLT_QUERY, .heads = HEADS)));
    assert_ok(
        weft_graph_flt_features(&k, s->graph, s->k, frequencies, weights,
                                weft_flt_features_params(.side = WEFT_FLT_KEY, .heads = HEADS)));
    return attend(s, q, k, D / HEADS + 2 * FREQUENCIES);
}

static weft_tensor add_rfa(const struct sequence *s) {
    weft_tensor y;
    const weft_tensor w = weft_test_input(s->graph, "w", weft_shape_of(FEATURES, D / HEADS));
    assert_ok(weft_graph_rfa_attention(&y, s->graph, s->q, s->k, s->v, w,
                                       weft_rfa_attention_params(.heads = HEADS, .causal = true)));
    return y;
}

/* ---- measuring ---- */

static uint64_t bytes_in_use(weft_device *device) {
    weft_device_stats stats;
    assert_ok(weft_device_get_stats(device, &stats));
    return stats.bytes_in_use;
}

/** Device memory that a plan holds: intermediate results and tables. */
static uint64_t memory_of(struct weft_test_device *fixture, add_mixer add, uint32_t n) {
    const uint64_t before = bytes_in_use(fixture->device);
    struct weft_test_run r = weft_test_begin(fixture->device);
    struct sequence s = {.graph = r.graph, .n = n};
    s.q = weft_test_input(r.graph, "q", weft_shape_of(1, n, D));
    s.k = weft_test_input(r.graph, "k", weft_shape_of(1, n, D));
    s.v = weft_test_input(r.graph, "v", weft_shape_of(1, n, D));
    weft_plan *plan = weft_test_plan_to(&r, "y", add(&s), NULL);
    const uint64_t bytes = bytes_in_use(fixture->device) - before;
    weft_plan_destroy(&plan);
    return bytes;
}

#define LENGTHS 6

/** The slope of log(memory) over log(n), by least squares; 0 for none at any length. */
static double exponent_of(struct weft_test_device *fixture, add_mixer add) {
    double x[LENGTHS];
    double y[LENGTHS];
    double x_mean = 0.0;
    double y_mean = 0.0;
    double product = 0.0;
    double square = 0.0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < LENGTHS; i++) {
        const uint64_t bytes = memory_of(fixture, add, 512U << i);
        most = bytes > most ? bytes : most;
        x[i] = log(512.0) + i * log(2.0);
        y[i] = log(fmax((double)bytes, 1.0));
        x_mean += x[i] / LENGTHS;
        y_mean += y[i] / LENGTHS;
    }
    for (uint32_t i = 0; i < LENGTHS; i++) {
        product += (x[i] - x_mean) * (y[i] - y_mean);
        square += (x[i] - x_mean) * (x[i] - x_mean);
    }
    return most == 0 ? 0.0 : product / square;
}

WEFT_TEST_ON_DEVICE(test_memory_is_linear, f) {
    static const struct {
        const char *name;
        add_mixer add;
    } mixers[] = {
        {"banded", add_banded},
        {"SKI", add_ski},
        {"kernels", add_kernel_attention},
        {"causal kernels", add_causal_kernel_attention},
        {"cosFormer", add_cosformer},
        {"fast weights", add_fast_weight},
        {"random features", add_random_features},
        {"FLT", add_flt},
        {"RFA", add_rfa},
    };
    for (size_t i = 0; i < sizeof mixers / sizeof mixers[0]; i++) {
        const double exponent = exponent_of(f, mixers[i].add);
        print_message("%s: n^%.3f\n", mixers[i].name, exponent);
        if (!(exponent <= 1.05)) {
            fail_msg("%s: memory grows as n^%.3f", mixers[i].name, exponent);
        }
    }
}

/** What the test above is able to see. */
WEFT_TEST_ON_DEVICE(test_memory_of_dense_attention_is_not, fixture) {
    const double few = (double)memory_of(fixture, add_dense, 512);
    const double many = (double)memory_of(fixture, add_dense, 2048);
    assert_true(log(many / few) / log(4.0) > 1.9);
}
