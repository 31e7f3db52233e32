/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * Hybrid random features on a device: where they are exact, and their mean and variance beside those of their
 * parts. Seeds are fixed.
 */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"

#define D     6
#define S     16 /* rows of w */
#define R     8  /* directions */
#define COUNT (3 * S * (1 + R))

/* Features of a query x and a key y, [1, 1, D] each. */
static weft_plan *compile(struct weft_test_graph *f) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor phi;
    weft_tensor psi;
    weft_tensor x = weft_test_input(r.graph, "x", weft_shape_of(1, 1, D));
    weft_tensor y = weft_test_input(r.graph, "y", weft_shape_of(1, 1, D));
    weft_tensor w = weft_test_input(r.graph, "w", weft_shape_of(S, D));
    weft_tensor directions = weft_test_input(r.graph, "directions", weft_shape_of(R, D));
    assert_ok(weft_graph_hybrid_features(&phi, r.graph, x, w, directions,
                                         weft_hybrid_features_params(.scale = 1.0F)));
    assert_ok(weft_graph_hybrid_features(&psi, r.graph, y, w, directions,
                                         weft_hybrid_features_params(.scale = 1.0F, .keys = true)));
    assert_ok(weft_graph_output(r.graph, "phi", phi));
    return weft_test_plan_to(&r, "psi", psi, NULL);
}

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

static struct estimates estimate(weft_plan *plan, struct pair *pair, uint64_t seed) {
    float w[S * D];
    float directions[R * D];
    float phi[COUNT];
    float psi[COUNT];
    assert_ok(weft_features_fill(
        w, NULL,
        weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = S, .columns = D, .seed = seed),
        NULL));
    assert_ok(weft_features_fill(directions, NULL,
                                 weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = R,
                                                      .columns = D, .seed = seed, .matrix = 1),
                                 NULL));
    const weft_host_tensor tensors[] = {{"x", pair->x, sizeof pair->x},
                                        {"y", pair->y, sizeof pair->y},
                                        {"w", w, sizeof w},
                                        {"directions", directions, sizeof directions},
                                        {"phi", phi, sizeof phi},
                                        {"psi", psi, sizeof psi}};
    assert_ok(weft_plan_execute(plan, tensors, 6));
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
WEFT_TEST_ON_GRAPH(ends_of_the_angle, f) {
    weft_plan *plan = compile(f);
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct pair pair = random_pair(seed, 1.0F);
        memcpy(pair.y, pair.x, sizeof pair.y);
        struct estimates e = estimate(plan, &pair, seed);
        assert_true(fabs(e.hybrid / kernel(&pair) - 1.0) < 2e-6);
        assert_true(fabs(e.positive / kernel(&pair) - 1.0) > 0.01); /* it is not */
        for (int c = 0; c < D; c++) {
            pair.y[c] = -pair.x[c];
        }
        e = estimate(plan, &pair, seed);
        assert_true(fabs(e.hybrid / e.positive - 1.0) < 2e-5);
    }
    weft_plan_destroy(&plan);
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
static void sample(weft_plan *plan, struct pair *pair, struct statistics of[3]) {
    static double values[3][SEEDS];
    const double exact = kernel(pair);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct estimates e = estimate(plan, pair, seed);
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
WEFT_TEST_ON_GRAPH(mean_and_variance, f) {
    weft_plan *plan = compile(f);
    struct statistics of[3];
    struct pair pair = random_pair(100, 0.7F); /* about a right angle */
    sample(plan, &pair, of);
    assert_true(of[0].standard_error < 0.02); /* sharp enough to see a bias of 8 % */
    for (int c = 0; c < D; c++) {
        pair.y[c] = pair.x[c] + 0.1F * pair.y[c];
    }
    sample(plan, &pair, of);
    assert_true(of[0].variance < 0.2 * of[1].variance);
    for (int c = 0; c < D; c++) {
        pair.y[c] = -pair.y[c];
    }
    sample(plan, &pair, of);
    assert_true(of[0].variance < 0.2 * of[2].variance);
    weft_plan_destroy(&plan);
}
