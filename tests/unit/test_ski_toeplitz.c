/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * What is known of SKI-TNO without its algorithm: the Toeplitz matrix that it is with as many points as positions,
 * the error of interpolation, decay, and longer sequences. The matrix is read off with impulses: one
 * channel for each column.
 */
#include <math.h>

#include <weft/mixers.h>

#include "core/math/philox.h"
#include "support_graph.h"

/* ---- the matrix ---- */

/** A mixer of n positions whose channels all have the same RPE (2 steps + 1 values) and taps (or null). */
struct mixer {
    uint32_t n, points, steps, tap_count;
    float gamma;
    weft_interpolation interpolation;
    const float *rpe, *taps;
};

/** rows × channels, each row one value. */
static float *repeat(const float *values, uint32_t rows, uint32_t channels) {
    float *data = malloc((size_t)rows * channels * sizeof *data);
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t c = 0; c < channels; c++) {
            data[row * channels + c] = values[row];
        }
    }
    return data;
}

/** The columns columns[0 … count) of the mixer's matrix, as the channels of a result [n, count]. */
static float *matrix_columns(struct weft_test_graph *fixture, const struct mixer *mixer,
                             const uint32_t *columns, uint32_t count) {
    const uint32_t rows = 2 * mixer->steps + 1;
    const size_t size = (size_t)mixer->n * count;
    float *impulses = calloc(size, sizeof *impulses);
    float *result = malloc(size * sizeof *result);
    for (uint32_t c = 0; c < count; c++) {
        impulses[columns[c] * count + c] = 1.0F;
    }
    float *rpe = repeat(mixer->rpe, rows, count);
    float *taps = mixer->taps ? repeat(mixer->taps, mixer->tap_count, count) : NULL;
    struct weft_test_run r = weft_test_begin(fixture->device);
    weft_tensor y;
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(1, mixer->n, count), impulses);
    weft_ski_toeplitz_params params = {
        .points = mixer->points, .gamma = mixer->gamma, .interpolation = mixer->interpolation};
    params.rpe = weft_test_feed(&r, "rpe", weft_shape_of(rows, count), rpe);
    if (taps) {
        params.taps = weft_test_feed(&r, "taps", weft_shape_of(mixer->tap_count, count), taps);
    }
    assert_ok(weft_graph_ski_toeplitz(&y, r.graph, x, &params));
    weft_test_execute_to(&r, y, result);
    free(impulses);
    free(rpe);
    free(taps);
    return result;
}

static float *matrix(struct weft_test_graph *fixture, const struct mixer *mixer) {
    uint32_t *columns = malloc(mixer->n * sizeof *columns);
    for (uint32_t i = 0; i < mixer->n; i++) {
        columns[i] = i;
    }
    float *result = matrix_columns(fixture, mixer, columns, mixer->n);
    free(columns);
    return result;
}

/** k(t) = RPE(x(t)), with the C library's pow. */
static double kernel(const struct mixer *mixer, double t) {
    double x = pow((double)mixer->gamma, fabs(t));
    double at = ((t < 0.0 ? -x : x) + 1.0) * mixer->steps;
    uint32_t below = (uint32_t)at;
    below = below < 2 * mixer->steps ? below : 2 * mixer->steps - 1;
    double low = below == mixer->steps ? 0.0 : (double)mixer->rpe[below];
    double high = below + 1 == mixer->steps ? 0.0 : (double)mixer->rpe[below + 1];
    return low + (at - below) * (high - low);
}

/** With a point at each position W is the identity, whichever the degree, and A is the Toeplitz matrix. */
WEFT_TEST_ON_GRAPH(test_as_many_points_as_positions_is_toeplitz, f) {
    enum { N = 37, STEPS = 8, TAPS = 32 };
    const int counts[] = {0, 5, 16, TAPS}; /* the paper's are 32, and 16 along the axes of images */
    float rpe[2 * STEPS + 1];
    float taps[TAPS];
    weft_philox_uniform(rpe, 2 * STEPS + 1, 5, 0);
    weft_philox_uniform(taps, TAPS, 5, 1);
    for (int trial = 0; trial < 8; trial++) {
        const int count = counts[trial / 2];
        struct mixer mixer = {.n = N,
                              .points = N,
                              .steps = STEPS,
                              .gamma = 0.9F,
                              .interpolation = (weft_interpolation)(trial % 2),
                              .rpe = rpe,
                              .tap_count = (uint32_t)count,
                              .taps = count ? taps : NULL};
        float *result = matrix(f, &mixer);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                double expected = kernel(&mixer, i - j);
                const int tap = i - j + count / 2;
                if (tap >= 0 && tap < count) {
                    expected += (double)taps[tap];
                }
                assert_true(fabs((double)result[i * N + j] - expected) < 4e-7);
            }
        }
        free(result);
    }
}

/** The tap at lag 1 alone shifts by one; A is zero when the RPE is. */
WEFT_TEST_ON_GRAPH(test_taps_shift, f) {
    enum { N = 9 };
    const float zero[3] = {0};
    const float taps[] = {0.0F, 0.0F, 1.0F};
    struct mixer mixer = {
        .n = N, .points = 2, .steps = 1, .gamma = 0.5F, .rpe = zero, .tap_count = 3, .taps = taps};
    float *result = matrix(f, &mixer);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            assert_true(result[i * N + j] == (i == j + 1 ? 1.0F : 0.0F));
        }
    }
    free(result);
}

/** Lag 0 is on the + side, the middle of the grid counts as 0, and one point adds everything up. */
WEFT_TEST_ON_GRAPH(test_edges_of_the_definition, f) {
    enum { N = 6 };
    const float rpe[] = {3.0F, 1e30F, 5.0F};
    struct mixer mixer = {.n = N, .points = 1, .steps = 1, .gamma = 0.5F, .rpe = rpe};
    float *result = matrix(f, &mixer);
    for (int i = 0; i < N * N; i++) {
        assert_true(result[i] == 5.0F);
    }
    free(result);
    mixer.points = N;
    result = matrix(f, &mixer);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            float expected = i >= j ? ldexpf(5.0F, j - i) : ldexpf(3.0F, i - j);
            assert_true(result[i * N + j] == expected);
        }
    }
    free(result);
}

/* ---- the error of interpolation ---- */

/** RPE of the smooth kernel k(t) = 2 γ^|t| - γ^(2|t|), whose derivative vanishes on both sides of 0. */
static float *smooth_rpe(uint32_t steps) {
    float *rpe = malloc((2 * (size_t)steps + 1) * sizeof *rpe);
    for (uint32_t i = 0; i <= 2 * steps; i++) {
        double u = fabs((double)i - steps) / steps;
        rpe[i] = (float)(u * (2.0 - u));
    }
    return rpe;
}

/** Largest error in a column of the matrix. */
static double column_error(struct weft_test_graph *fixture, const struct mixer *mixer,
                           uint32_t column) {
    float *result = matrix_columns(fixture, mixer, &column, 1);
    double largest = 0.0;
    for (uint32_t i = 0; i < mixer->n; i++) {
        double x = pow((double)mixer->gamma, fabs((double)i - column));
        double error = fabs((double)result[i] - x * (2.0 - x));
        largest = error > largest ? error : largest;
    }
    free(result);
    return largest;
}

/**
 * Theorem 1 for linear interpolation: |W A - F| ≤ h²/8 max|k''|, which columns at inducing points show by themselves; A
 * Wᵀ adds as much again for the others. k'' = log²γ (2x - 4x²) is largest at t = 0: 2 log²γ. The grid is so fine that
 * RPE's own error, 1/(4 g²), is nothing. The error has to be near its bound, too: it shrinks with h² and not faster,
 * and for cubic interpolation it is smaller.
 */
WEFT_TEST_ON_GRAPH(test_interpolation_error, f) {
    enum { N = 193, STEPS = 8192 };
    float *rpe = smooth_rpe(STEPS);
    struct mixer mixer = {.n = N, .steps = STEPS, .gamma = 0.98F, .rpe = rpe};
    double previous = 0.0;
    for (uint32_t h = 16; h >= 2; h /= 2) {
        mixer.points = (N - 1) / h + 1;
        mixer.interpolation = WEFT_INTERPOLATION_LINEAR;
        double log_gamma = log((double)mixer.gamma);
        double bound = h * h / 8.0 * 2.0 * log_gamma * log_gamma;
        const double rounding = 1e-6;
        double at_point = 0.0;
        double elsewhere = 0.0;
        for (uint32_t column = 0; column < N; column += h / 2) {
            double error = column_error(f, &mixer, column);
            double *largest = column % h == 0 ? &at_point : &elsewhere;
            *largest = error > *largest ? error : *largest;
        }
        assert_true(at_point <= bound + rounding);
        assert_true(elsewhere <= 2.0 * bound + rounding);
        assert_true(elsewhere > 0.5 * bound);
        assert_true(previous == 0.0 || (previous / elsewhere > 3.0 && previous / elsewhere < 5.0));
        previous = elsewhere;
        mixer.interpolation = WEFT_INTERPOLATION_CUBIC;
        assert_true(column_error(f, &mixer, 5 * h + h / 2) < elsewhere);
    }
    free(rpe);
}

/** Far lags: |k(t)| ≤ γ^|t| g max|RPE(±1/g)| once γ^|t| is below 1/g, between 0 and the grid's next rows. */
WEFT_TEST_ON_GRAPH(test_decay, f) {
    enum { N = 200, STEPS = 4 };
    float rpe[2 * STEPS + 1];
    weft_philox_uniform(rpe, 2 * STEPS + 1, 6, 0);
    struct mixer mixer = {.n = N, .points = N, .steps = STEPS, .gamma = 0.9F, .rpe = rpe};
    const uint32_t column = N / 2;
    float *result = matrix_columns(f, &mixer, &column, 1);
    double slope = STEPS * fmax(fabs((double)rpe[STEPS - 1]), fabs((double)rpe[STEPS + 1]));
    uint32_t checked = 0;
    for (uint32_t i = 0; i < N; i++) {
        double x = pow(0.9, fabs((double)i - column));
        if (x < 1.0 / STEPS) {
            checked++;
            assert_true(fabs((double)result[i]) <= slope * x * (1.0 + 1e-5));
            assert_true(result[i] != 0.0F);
        }
    }
    assert_true(checked > N / 2);
    free(result);
}

/** The kernel is a function of the lag in positions: a longer sequence has the same one, and more of it. */
WEFT_TEST_ON_GRAPH(test_longer_sequences, f) {
    enum { SHORT = 64, LONG = 4 * SHORT, STEPS = 32 };
    float rpe[2 * STEPS + 1];
    weft_philox_uniform(rpe, 2 * STEPS + 1, 7, 0);
    struct mixer mixer = {.n = SHORT, .points = SHORT, .steps = STEPS, .gamma = 0.97F, .rpe = rpe};
    const uint32_t column = 10;
    float *small = matrix_columns(f, &mixer, &column, 1);
    mixer.n = LONG;
    mixer.points = LONG;
    float *large = matrix_columns(f, &mixer, &column, 1);
    for (uint32_t i = 0; i < SHORT; i++) {
        assert_true(fabs((double)small[i] - (double)large[i]) < 1e-6);
    }
    mixer.points = 0; /* the grid's, on any length */
    for (mixer.n = STEPS; mixer.n <= LONG; mixer.n *= 2) {
        float *result = matrix_columns(f, &mixer, &column, 1);
        for (uint32_t i = 0; i < mixer.n; i++) {
            assert_true(isfinite(result[i]));
        }
        free(result);
    }
    free(small);
    free(large);
}
