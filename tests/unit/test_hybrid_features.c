/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * Hybrid random features on a device: where they are exact, their mean and variance beside those of their parts, bad
 * parameters. Seeds are fixed.
 */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/philox.h"
#include "device/device.h"
#include "graph/graph.h"
#include "support.h"

#define D     6
#define S     16 /* rows of w */
#define R     8  /* directions */
#define COUNT (3 * S * (1 + R))

struct fixture {
    struct weft_test_host host;
    weft_device *device;
    weft_graph *graph;
    weft_plan *plan; /* features of a query x and a key y, [1, 1, D] each */
};

static weft_tensor input(weft_graph *graph, const char *name, weft_shape shape, weft_dtype dtype) {
    weft_tensor tensor;
    assert_int_equal(weft_graph_input(&tensor, graph, name, dtype, shape), WEFT_OK);
    return tensor;
}

static void compile(struct fixture *f) {
    weft_graph *graph = NULL;
    weft_tensor phi;
    weft_tensor psi;
    assert_int_equal(weft_graph_create(&graph, &f->host.host), WEFT_OK);
    weft_tensor x = input(graph, "x", weft_shape_of(1, 1, D), WEFT_F32);
    weft_tensor y = input(graph, "y", weft_shape_of(1, 1, D), WEFT_F32);
    weft_tensor w = input(graph, "w", weft_shape_of(S, D), WEFT_F32);
    weft_tensor directions = input(graph, "directions", weft_shape_of(R, D), WEFT_F32);
    assert_int_equal(weft_graph_hybrid_features(&phi, graph, x, w, directions,
                                                weft_hybrid_features_params(.scale = 1.0F)),
                     WEFT_OK);
    assert_int_equal(
        weft_graph_hybrid_features(&psi, graph, y, w, directions,
                                   weft_hybrid_features_params(.scale = 1.0F, .keys = true)),
        WEFT_OK);
    assert_int_equal(weft_graph_output(graph, "phi", phi), WEFT_OK);
    assert_int_equal(weft_graph_output(graph, "psi", psi), WEFT_OK);
    assert_int_equal(weft_plan_compile(&f->plan, f->device, graph, NULL), WEFT_OK);
    weft_graph_destroy(&graph);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    weft_test_host_begin(&f->host);
    assert_int_equal(
        weft_device_open(&f->device, weft_device_params(.host = f->host.host, .cache_dir = "")),
        WEFT_OK);
    assert_int_equal(weft_graph_create(&f->graph, &f->host.host), WEFT_OK);
    compile(f);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    weft_device_stats stats;
    weft_plan_destroy(&f->plan);
    weft_graph_destroy(&f->graph);
    assert_int_equal(weft_device_get_stats(f->device, &stats), WEFT_OK);
    assert_int_equal(stats.validation_messages, 0);
    weft_device_destroy(&f->device);
    weft_test_host_end(&f->host);
    free(f);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

/* ---- estimates ---- */

struct pair {
    float x[D], y[D];
};

static double kernel(const struct pair *pair) {
    double sum = 0.0;
    for (int c = 0; c < D; c++) {
        sum += (double)pair->x[c] * (double)pair->y[c];
    }
    return exp(sum);
}

static struct pair random_pair(uint64_t stream, float scale) {
    float values[2 * D];
    struct pair pair;
    weft_philox_uniform(values, 2 * D, 5, stream);
    for (int c = 0; c < D; c++) {
        pair.x[c] = scale * values[c];
        pair.y[c] = scale * values[D + c];
    }
    return pair;
}

/* Estimates of exp(xᵀy) by the hybrid and by its parts, which are what stands before the first direction's block. */
struct estimates {
    double hybrid, positive, trigonometric;
};

static struct estimates estimate(struct fixture *f, struct pair *pair, uint64_t seed) {
    float w[S * D];
    float directions[R * D];
    float phi[COUNT];
    float psi[COUNT];
    assert_int_equal(weft_features_fill(w, NULL,
                                        weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = S,
                                                             .columns = D, .seed = seed),
                                        NULL),
                     WEFT_OK);
    assert_int_equal(
        weft_features_fill(directions, NULL,
                           weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = R, .columns = D,
                                                .seed = seed, .matrix = 1),
                           NULL),
        WEFT_OK);
    const weft_host_tensor tensors[] = {{"x", pair->x, sizeof pair->x},
                                        {"y", pair->y, sizeof pair->y},
                                        {"w", w, sizeof w},
                                        {"directions", directions, sizeof directions},
                                        {"phi", phi, sizeof phi},
                                        {"psi", psi, sizeof psi}};
    assert_int_equal(weft_plan_execute(f->plan, tensors, 6), WEFT_OK);
    struct estimates e = {0};
    for (int i = 0; i < COUNT; i++) {
        const double product = (double)phi[i] * (double)psi[i];
        e.hybrid += product;
        e.positive += i < S ? 2.0 * product : 0.0;
        e.trigonometric += i >= S && i < 3 * S ? 2.0 * product : 0.0;
    }
    return e;
}

/* For x = y every sign agrees: TrigRF alone, whose estimate is exact there. For y = -x none does: PosRF alone. */
TEST(ends_of_the_angle, f) {
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct pair pair = random_pair(seed, 1.0F);
        memcpy(pair.y, pair.x, sizeof pair.y);
        struct estimates e = estimate(f, &pair, seed);
        assert_true(fabs(e.hybrid / kernel(&pair) - 1.0) < 2e-6);
        assert_true(fabs(e.positive / kernel(&pair) - 1.0) > 0.01); /* it is not */
        for (int c = 0; c < D; c++) {
            pair.y[c] = -pair.x[c];
        }
        e = estimate(f, &pair, seed);
        assert_true(fabs(e.hybrid / e.positive - 1.0) < 2e-5);
    }
}

struct statistics {
    double bias, standard_error, variance; /* relative to the kernel */
};

static struct statistics statistics_of(const double *values, int count) {
    double mean = 0.0;
    double square = 0.0;
    for (int i = 0; i < count; i++) {
        mean += values[i] / count;
        square += values[i] * values[i] / count;
    }
    const double variance = square - mean * mean;
    return (struct statistics){mean, sqrt(variance / count), variance};
}

#define SEEDS 800

/* Of the hybrid, PosRF and TrigRF. */
static void sample(struct fixture *f, struct pair *pair, struct statistics of[3]) {
    static double values[3][SEEDS];
    const double exact = kernel(pair);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct estimates e = estimate(f, pair, seed);
        values[0][seed] = e.hybrid / exact - 1.0;
        values[1][seed] = e.positive / exact - 1.0;
        values[2][seed] = e.trigonometric / exact - 1.0;
    }
    for (int k = 0; k < 3; k++) {
        of[k] = statistics_of(values[k], SEEDS);
        assert_true(fabs(of[k].bias) < 4.0 * of[k].standard_error);
    }
}

/* The mean is the kernel; at small angles the variance is far below PosRF's, at large ones far below TrigRF's. */
TEST(mean_and_variance, f) {
    struct statistics of[3];
    struct pair pair = random_pair(100, 0.7F); /* about a right angle */
    sample(f, &pair, of);
    assert_true(of[0].standard_error < 0.02); /* sharp enough to see a bias of 8 % */
    for (int c = 0; c < D; c++) {
        pair.y[c] = pair.x[c] + 0.1F * pair.y[c];
    }
    sample(f, &pair, of);
    assert_true(of[0].variance < 0.2 * of[1].variance);
    for (int c = 0; c < D; c++) {
        pair.y[c] = -pair.y[c];
    }
    sample(f, &pair, of);
    assert_true(of[0].variance < 0.2 * of[2].variance);
}

/* ---- bad parameters ---- */

#define EXPECT_FAILURE(fixture, expected_status, call, ...)                             \
    do {                                                                                \
        uint32_t values = (fixture)->graph->value_count;                                \
        weft_test_host_reset(&(fixture)->host);                                         \
        assert_string_equal(weft_status_name(call), weft_status_name(expected_status)); \
        weft_test_expect_log(&(fixture)->host, __VA_ARGS__, NULL);                      \
        assert_int_equal((fixture)->graph->value_count, values);                        \
    } while (0)

#define FEATURES(x, w, r, ...)                        \
    weft_graph_hybrid_features(&y, f->graph, x, w, r, \
                               weft_hybrid_features_params(.heads = 2, __VA_ARGS__))

TEST(bad_parameters_are_named, f) {
    weft_tensor y = {0};
    weft_tensor x = input(f->graph, "x", weft_shape_of(2, 5, 8), WEFT_F32);
    weft_tensor w = input(f->graph, "w", weft_shape_of(6, 4), WEFT_F32);
    weft_tensor r = input(f->graph, "r", weft_shape_of(3, 4), WEFT_F32);
    weft_tensor wide = input(f->graph, "wide", weft_shape_of(6, 8), WEFT_F32);
    weft_tensor flat = input(f->graph, "flat", weft_shape_of(10, 8), WEFT_F32);
    weft_tensor six = input(f->graph, "six", weft_shape_of(6), WEFT_F32);
    weft_tensor seven = input(f->graph, "seven", weft_shape_of(7), WEFT_F32);
    weft_tensor whole = input(f->graph, "whole", weft_shape_of(3, 4), WEFT_I32);
    weft_tensor many = input(f->graph, "many", weft_shape_of(1U << 15, 4), WEFT_F32);
    const weft_status bad = WEFT_INVALID_ARGUMENT;
    const weft_status shape = WEFT_SHAPE_MISMATCH;
    EXPECT_FAILURE(f, bad, FEATURES(x, w, r, .stabilizer = (weft_stabilizer)WEFT_STABILIZER_COUNT),
                   "stabilizer 3", "0 … 2");
    EXPECT_FAILURE(f, bad, FEATURES(x, w, r, .scale = INFINITY), "scale inf", "finite");
    EXPECT_FAILURE(
        f, bad,
        weft_graph_hybrid_features(&y, f->graph, x, w, r, weft_hybrid_features_params(.heads = 3)),
        "3 heads", "8 channels");
    EXPECT_FAILURE(f, bad, FEATURES(x, many, many, .keys = true), "2 heads of 32768 features",
                   "32768 directions");
    EXPECT_FAILURE(f, shape, FEATURES(x, wide, r, .keys = true), "w [6, 8]", "[s, 4]");
    EXPECT_FAILURE(f, shape, FEATURES(x, w, wide, .keys = true), "directions [6, 8]", "[r, 4]");
    EXPECT_FAILURE(f, shape, FEATURES(flat, w, r, .keys = true), "[10, 8]", "[B, n, d]");
    EXPECT_FAILURE(f, shape, FEATURES(x, w, six, .keys = true), "directions [6]", "[r, d/heads]");
    EXPECT_FAILURE(f, shape, FEATURES(x, w, whole, .keys = true), "directions must be f32");
    EXPECT_FAILURE(f, shape, FEATURES(x, w, r, .coefficients = seven), "coefficients", "[7]",
                   "[6]");
    assert_int_equal(FEATURES(x, w, r, .coefficients = six), WEFT_OK);
    weft_shape found;
    assert_int_equal(weft_graph_get_tensor(f->graph, y, &found, NULL), WEFT_OK);
    assert_true(weft_shape_equal(found, weft_shape_of(2, 5, 2 * 3 * 6 * 4)));
}
