/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* FLT's features on a device: what they estimate, accuracy of large phases, and values by hand. */
#include <math.h>

#include <weft/flt.h>
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"

#define PI 3.14159265358979323846

/* One sequence and head whose x is one channel of zeros. */
struct problem {
    weft_flt_side side;
    uint32_t n, r, l;
    const float *positions; /* [n, l]; null: token numbers */
    const float *frequencies, *weights;
    const float *phases; /* null: none */
};

/* out [n, 1 + 2r] */
static void run(struct weft_test_graph *f, const struct problem *p, float *out) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    float *zeros = calloc(p->n, sizeof *zeros);
    assert_non_null(zeros);
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(1, p->n, 1), zeros);
    weft_tensor frequencies =
        weft_test_feed(&r, "frequencies", weft_shape_of(p->r, p->l), p->frequencies);
    weft_tensor weights = weft_test_feed(&r, "weights", weft_shape_of(p->r), p->weights);
    weft_flt_features_params params = {.side = p->side};
    if (p->positions) {
        params.positions = weft_test_feed(&r, "positions", weft_shape_of(p->n, p->l), p->positions);
    }
    if (p->phases) {
        params.phases = weft_test_feed(&r, "phases", weft_shape_of(p->r), p->phases);
    }
    assert_ok(weft_graph_flt_features(&y, r.graph, x, frequencies, weights, &params));
    weft_test_execute_to(&r, y, out);
    free(zeros);
}

/* N̂_ij: the product of two tokens' features. */
static double product(const float *q, const float *k, uint32_t r) {
    double sum = 0.0;
    for (uint32_t i = 1; i < 1 + 2 * r; i++) {
        sum += (double)q[i] * (double)k[i];
    }
    return sum;
}

/* Quarter turns and signs, exactly: cos and sin of 0, 1/4, 1/2, 3/4, and whole turns more. */
WEFT_TEST_ON_GRAPH(test_quarter_turns, f) {
    const float frequency = 0.25F;
    const float weights[2] = {4.0F, -4.0F};
    const float positions[6] = {0.0F, 1.0F, 2.0F, 3.0F, 16777212.0F, -1.0F};
    static const float cosines[6] = {2.0F, 0.0F, -2.0F, 0.0F, 2.0F, 0.0F};
    static const float sines[6] = {0.0F, 2.0F, 0.0F, -2.0F, 0.0F, -2.0F};
    for (weft_flt_side side = WEFT_FLT_QUERY; side <= WEFT_FLT_KEY; side++) {
        for (int negative = 0; negative < 2; negative++) {
            float y[6][3];
            const float sign = negative && side == WEFT_FLT_KEY ? -1.0F : 1.0F;
            run(f,
                &(struct problem){.side = side,
                                  .n = 6,
                                  .r = 1,
                                  .l = 1,
                                  .positions = positions,
                                  .frequencies = &frequency,
                                  .weights = &weights[negative]},
                y[0]);
            for (int i = 0; i < 6; i++) {
                assert_true(y[i][0] == 0.0F);
                assert_true(y[i][1] == sign * cosines[i]);
                assert_true(y[i][2] == sign * sines[i]);
            }
        }
    }
}

WEFT_TEST_ON_GRAPH(test_phases_turn_the_query, f) {
    const float frequency = 0.25F;
    const float weight = 1.0F;
    const float phase = 0.5F;
    float y[2][3];
    run(f,
        &(struct problem){.n = 2,
                          .r = 1,
                          .l = 1,
                          .frequencies = &frequency,
                          .weights = &weight,
                          .phases = &phase},
        y[0]);
    assert_true(y[0][1] == -1.0F && y[0][2] == 0.0F);
    assert_true(y[1][1] == 0.0F && y[1][2] == -1.0F);
}

/* The stated error, 1.5e-7, at all magnitudes of positions in three dimensions. */
WEFT_TEST_ON_GRAPH(test_large_positions, f) {
    enum { N = 64, COUNT = 1024, L = 3 };
    float positions[N * L];
    float *frequencies = malloc(sizeof(float) * COUNT * L);
    float *weights = malloc(sizeof(float) * COUNT);
    float *y = malloc(sizeof(float) * N * (1 + 2 * COUNT));
    assert_true(frequencies && weights && y);
    weft_philox_uniform(positions, (size_t)N * L, 7, 0);
    weft_philox_uniform(frequencies, (size_t)COUNT * L, 7, 1);
    for (int i = 0; i < N * L; i++) {
        positions[i] = ldexpf(positions[i], i / L - 8); /* up to 2^55 */
    }
    for (int k = 0; k < COUNT; k++) {
        weights[k] = 1.0F; /* the amplitude is 1/32 */
    }
    run(f,
        &(struct problem){.n = N,
                          .r = COUNT,
                          .l = L,
                          .positions = positions,
                          .frequencies = frequencies,
                          .weights = weights},
        y);
    double worst = 0.0;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < COUNT; k++) {
            double turns = 0.0; /* float64 holds each product, so that each remainder is exact */
            for (int j = 0; j < L; j++) {
                turns +=
                    remainder((double)positions[i * L + j] * (double)frequencies[k * L + j], 1.0);
            }
            const float *token = y + (size_t)i * (1 + 2 * COUNT) + 1;
            worst = fmax(worst, fabs(32.0 * (double)token[k] - cos(2.0 * PI * turns)));
            worst = fmax(worst, fabs(32.0 * (double)token[COUNT + k] - sin(2.0 * PI * turns)));
        }
    }
    if (!(worst < 1.5e-7)) {
        fail_msg("an error of %g", worst);
    }
    free(frequencies);
    free(weights);
    free(y);
}

/* Only differences of positions count: a translation by a whole multiple of every period changes no bit. */
WEFT_TEST_ON_GRAPH(test_translation, f) {
    const float frequencies[4] = {0.125F, 0.375F, 0.0625F, 1.25F};
    const float weights[4] = {1.0F, -2.0F, 0.5F, 3.0F};
    const float here[3] = {0.0F, 1.0F, 5.5F};
    const float there[3] = {1048576.0F, 1048577.0F, 1048581.5F};
    struct problem p = {
        .n = 3, .r = 4, .l = 1, .positions = here, .frequencies = frequencies, .weights = weights};
    float y[2][3 * 9];
    run(f, &p, y[0]);
    p.positions = there;
    run(f, &p, y[1]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
}

/* Host draws into device features: N̂ is near f with the deviation that Theorem A.3 allows. */
static void estimate(struct weft_test_graph *f, weft_flt_kind kind, uint32_t l) {
    enum { N = 9, COUNT = 4096 };
    const float widths[1] = {kind == WEFT_FLT_GAUSSIAN_MIXTURE ? 0.5F : 1.5F};
    float positions[N * 3];
    float *frequencies = malloc(sizeof(float) * COUNT * l);
    float *weights = malloc(sizeof(float) * COUNT);
    float *y[2];
    const weft_flt_params *params = weft_flt_params(.kind = kind, .count = COUNT, .dimensions = l,
                                                    .widths = widths, .seed = 11);
    assert_ok(weft_flt_fill(frequencies, weights, params, &f->host.host));
    weft_philox_uniform(positions, (size_t)N * l, 3, l);
    struct problem p = {.n = N,
                        .r = COUNT,
                        .l = l,
                        .positions = positions,
                        .frequencies = frequencies,
                        .weights = weights};
    for (int side = 0; side < 2; side++) {
        p.side = (weft_flt_side)side;
        y[side] = malloc(sizeof(float) * N * (1 + 2 * COUNT));
        run(f, &p, y[side]);
    }
    const double volume = pow(sqrt(2.0 * PI), l);
    const double c = kind == WEFT_FLT_GAUSSIAN_MIXTURE ? volume : 1.0;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < N; j++) {
            double square = 0.0;
            for (uint32_t d = 0; d < l; d++) {
                square += pow((double)positions[i * l + d] - (double)positions[j * l + d], 2);
            }
            const double expected = kind == WEFT_FLT_GAUSSIAN_MIXTURE
                                        ? volume * pow(0.5, l) * exp(-0.5 * PI * PI * square)
                                        : exp(-square / 4.5);
            const double made = product(y[0] + (size_t)i * (1 + 2 * COUNT),
                                        y[1] + (size_t)j * (1 + 2 * COUNT), COUNT);
            const double deviation = sqrt(fmax(c * c - expected * expected, 0.0) / COUNT);
            assert_true(fabs(made - expected) <= 4.0 * deviation + 1e-5);
        }
    }
    free(frequencies);
    free(weights);
    free(y[0]);
    free(y[1]);
}

WEFT_TEST_ON_GRAPH(test_estimates, f) {
    for (uint32_t l = 1; l <= 3; l++) {
        estimate(f, WEFT_FLT_GAUSSIAN_MIXTURE, l);
        estimate(f, WEFT_FLT_GAUSSIAN_KERNEL, l);
    }
}
