/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Discretely-induced random features on a device: what they estimate, and the ends of float32's range. */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"

/* One head: x [n, width], w [s, width], coefficients [s]. */
struct problem {
    uint32_t n, width, s;
    float *x, *w, *coefficients;
    float scale;
    weft_stabilizer stabilizer;
};

/* out [n, s]. */
static void run(struct weft_test_graph *f, const struct problem *p, float *out) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(1, p->n, p->width), p->x);
    weft_tensor w = weft_test_feed(&r, "w", weft_shape_of(p->s, p->width), p->w);
    weft_tensor c = weft_test_feed(&r, "c", weft_shape_of(p->s), p->coefficients);
    assert_ok(weft_graph_discrete_features(
        &y, r.graph, x, w, c,
        weft_discrete_features_params(.scale = p->scale, .stabilizer = p->stabilizer)));
    weft_test_execute_to(&r, y, out);
}

/* ---- what they estimate ---- */

#define D       4
#define SAMPLES 65536

struct statistics {
    double bias, standard_error, variance; /* relative to the kernel */
};

/* Each row of w is an estimate of exp(xᵀy) of its own; xy is x [D] and then y [D]. */
static struct statistics sample(struct weft_test_graph *f, weft_features_params law, float *xy) {
    float *w = malloc(sizeof *w * SAMPLES * D);
    float *c = malloc(sizeof *c * SAMPLES);
    float *out = malloc(sizeof *out * 2 * SAMPLES);
    law.rows = SAMPLES;
    law.columns = D;
    law.seed = 1;
    assert_ok(weft_features_fill(w, c, &law, NULL));
    for (uint32_t i = 0; i < SAMPLES; i++) {
        c[i] = sqrtf(c[i]);
    }
    const struct problem p = {
        .n = 2, .width = D, .s = SAMPLES, .x = xy, .w = w, .coefficients = c, .scale = 1.0F};
    run(f, &p, out);
    double product = 0.0;
    for (int i = 0; i < D; i++) {
        product += (double)xy[i] * (double)xy[D + i];
    }
    double mean = 0.0;
    double square = 0.0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const double value =
            SAMPLES * (double)out[i] * (double)out[SAMPLES + i] / exp(product) - 1.0;
        mean += value / SAMPLES;
        square += value * value / SAMPLES;
    }
    free(w);
    free(c);
    free(out);
    const double variance = square - mean * mean;
    return (struct statistics){mean, sqrt(variance / SAMPLES), variance};
}

WEFT_TEST_ON_GRAPH(products_have_the_kernel_as_mean, f) {
    const weft_features_params laws[] = {
        {.kind = WEFT_FEATURES_POISSON, .rate = 0.25F},
        {.kind = WEFT_FEATURES_POISSON, .rate = 0.5F},
        {.kind = WEFT_FEATURES_GEOMETRIC, .rate = 0.5F},
        {.kind = WEFT_FEATURES_GEOMETRIC, .rate = 0.75F},
    };
    for (uint64_t stream = 0; stream < 3; stream++) {
        float xy[2 * D];
        weft_philox_uniform(xy, 2 * D, 9, stream);
        for (int i = 0; i < 2 * D; i++) {
            xy[i] *= 0.5F;
        }
        for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
            const struct statistics s = sample(f, laws[i], xy);
            assert_true(s.standard_error < 0.03); /* sharp enough to see a bias of 12 % */
            assert_true(fabs(s.bias) < 4.0 * s.standard_error);
        }
    }
}

/* exp(λ d + Σ x_l² y_l² / λ) is the mean of the square, least at λ = √(mean of x_l² y_l²). */
WEFT_TEST_ON_GRAPH(the_least_variance_of_poisson, f) {
    float xy[2 * D] = {0.6F, -0.9F, 0.7F, 0.8F, 0.8F, 0.5F, -0.9F, 0.6F};
    double product = 0.0;
    double squares = 0.0;
    for (int i = 0; i < D; i++) {
        const double term = (double)xy[i] * (double)xy[D + i];
        product += term;
        squares += term * term;
    }
    const double best = sqrt(squares / D);
    const double factors[] = {1.0, 0.6, 1.8};
    double least = 0.0;
    for (int i = 0; i < 3; i++) {
        const double rate = (double)(float)(factors[i] * best);
        const double expected = exp(rate * D + squares / rate - 2.0 * product) - 1.0;
        const struct statistics s = sample(
            f, (weft_features_params){.kind = WEFT_FEATURES_POISSON, .rate = (float)rate}, xy);
        assert_true(fabs(s.variance / expected - 1.0) < 0.15);
        least = i == 0 ? s.variance : least;
        assert_true(s.variance >= least);
    }
}

/* ---- the ends of the range ---- */

#define INF INFINITY

WEFT_TEST_ON_GRAPH(powers_at_the_ends_of_the_range, f) {
    const struct {
        float x[2], power[2], coefficient, expected;
    } cases[] = {
        {{0.0F, 3.0F}, {0.0F, 2.0F}, 1.0F, 9.0F},
        {{0.0F, 3.0F}, {1.0F, 2.0F}, 1.0F, 0.0F},
        {{1e-40F, 3.0F}, {1.0F, 2.0F}, 1.0F, 0.0F}, /* a subnormal is 0 */
        {{-2.0F, 3.0F}, {3.0F, -0.0F}, 0.5F, -4.0F},
        {{0x1p-100F, 0x1p100F}, {7.0F, 7.0F}, 3.0F, 3.0F}, /* neither vanishes on the way */
        {{0x1p-60F, 2.0F}, {1023.0F, 1023.0F}, INF, NAN},
        {{2.0F, 1.0F}, {127.0F, 1.0F}, 1.5F, 0x1.8p127F},
        {{-2.0F, 1.0F}, {127.0F, 0.0F}, 2.0F, -INF},
        {{-2.0F, 1.0F}, {128.0F, 0.0F}, 1.0F, INF},
        {{0.5F, 1.0F}, {126.0F, 0.0F}, 1.0F, 0x1p-126F},
        {{0.5F, 1.0F}, {127.0F, 0.0F}, 1.5F, 0.0F},
        {{0.5F, 1.0F}, {1023.0F, 0.0F}, 1.0F, 0.0F},
        {{INF, 2.0F}, {0.0F, 1.0F}, 1.0F, 2.0F},
        {{INF, 2.0F}, {1.0F, 1.0F}, 1.0F, NAN},
        {{NAN, 2.0F}, {0.0F, 1.0F}, 1.0F, 2.0F},
        {{NAN, 0.0F}, {2.0F, 1.0F}, 1.0F, NAN},
        {{2.0F, 2.0F}, {0.5F, 1.0F}, 1.0F, NAN},
        {{2.0F, 2.0F}, {-1.0F, 1.0F}, 1.0F, NAN},
        {{1.0F, 1.0F}, {1024.0F, 1.0F}, 1.0F, NAN},
        {{1.0F, 1.0F}, {NAN, 1.0F}, 1.0F, NAN},
        {{1.0F, 1.0F}, {1.0F, 1.0F}, 0.0F, 0.0F},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float x[2] = {cases[i].x[0], cases[i].x[1]};
        float w[2] = {cases[i].power[0], cases[i].power[1]};
        float c = cases[i].coefficient;
        float found;
        const struct problem p = {
            .n = 1, .width = 2, .s = 1, .x = x, .w = w, .coefficients = &c, .scale = 1.0F};
        run(f, &p, &found);
        if (isnan(cases[i].expected)) {
            assert_true(isnan(found));
        } else {
            assert_true(found == cases[i].expected);
        }
    }
}

/* A stabilizer divides by a power of two: where plain features are in range, significands stay as they are. */
WEFT_TEST_ON_GRAPH(stabilizers_divide_by_powers_of_two, fixture) {
    enum { N = 5, S = 9 };
    float x[N * D];
    float w[S * D];
    float c[S];
    float out[3][N * S];
    weft_philox_uniform(x, N * D, 9, 20);
    assert_ok(weft_features_fill(
        w, c, weft_features_params(.kind = WEFT_FEATURES_POISSON, .rows = S, .columns = D), NULL));
    struct problem p = {.n = N, .width = D, .s = S, .x = x, .w = w, .coefficients = c};
    for (int k = 0; k < WEFT_STABILIZER_COUNT; k++) {
        p.stabilizer = (weft_stabilizer)k;
        run(fixture, &p, out[k]);
    }
    float largest_key = 0.0F;
    for (int i = 0; i < N; i++) {
        float largest = 0.0F;
        for (int f = 0; f < S; f++) {
            const float plain = out[0][i * S + f];
            const float ratio = out[WEFT_STABILIZER_QUERY][i * S] / out[0][i * S];
            int exponent;
            assert_true(frexpf(ratio, &exponent) == 0.5F);
            assert_true(out[WEFT_STABILIZER_QUERY][i * S + f] == plain * ratio);
            assert_true(out[WEFT_STABILIZER_KEY][i * S + f] ==
                        plain * (out[WEFT_STABILIZER_KEY][0] / out[0][0]));
            largest = fmaxf(largest, fabsf(out[WEFT_STABILIZER_QUERY][i * S + f]));
            largest_key = fmaxf(largest_key, fabsf(out[WEFT_STABILIZER_KEY][i * S + f]));
        }
        assert_true(largest >= 1.0F && largest < 2.0F);
    }
    assert_true(largest_key >= 1.0F && largest_key < 2.0F);
    /* Where plain ones are not, stabilized ones are. */
    for (int i = 0; i < N * D; i++) {
        x[i] *= 0x1p100F;
    }
    run(fixture, &p, out[0]);
    for (int i = 0; i < N * S; i++) {
        assert_true(fabsf(out[0][i]) < 2.0F);
    }
}
