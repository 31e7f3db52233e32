/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/*
 * Toeplitz operators at other lengths than their kernel was made for: coefficients of more lags than needed, and the
 * frequency response of one kernel on grids of several sizes. (test_ski_toeplitz.c has those of the time warp.)
 */
#include <math.h>

#include "core/math/philox.h"
#include "support_reference.h"
#include "support_sheet.h"

#define PI 3.14159265358979323846

/** An operator on one sequence of n elements and one channel. */
static void run(struct weft_test_graph *f, bool causal, uint32_t n, const char *implementation,
                uint32_t reach, float *kernel, float *x, float *y) {
    const bool is_fd = implementation == NULL;
    const struct weft_test_mix mix = {
        .sheet = is_fd ? &weft_sheet_toeplitz_fd : &weft_sheet_toeplitz,
        .sizes = {1, n, 1, 1, .reach = reach},
        .params = is_fd ? (const void *)weft_toeplitz_fd_params(.causal = causal)
                        : (const void *)weft_toeplitz_params(.causal = causal),
        .implementation = implementation,
        .x = {x, kernel},
        .feeds_weights = true};
    weft_test_mix_run(f->device, &mix, y);
}

#define LONGEST 512

/* ---- coefficients ---- */

/** One tensor of coefficients for LONGEST elements serves all lengths: the lags beyond are not used. */
static void check_coefficients(struct weft_test_graph *f, const char *implementation, bool causal) {
    const uint32_t lengths[] = {1, 7, 64, 200, LONGEST};
    float t[2 * LONGEST - 1];
    float x[LONGEST];
    float y[LONGEST];
    double expected[LONGEST];
    const uint32_t zero = causal ? 0 : LONGEST - 1;
    weft_philox_uniform(t, 2 * LONGEST - 1, 3, 0);
    weft_philox_uniform(x, LONGEST, 3, 1);
    for (uint32_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const uint32_t n = lengths[k];
        run(f, causal, n, implementation, LONGEST, t, x, y);
        for (uint32_t i = 0; i < n; i++) {
            expected[i] = 0.0;
            for (uint32_t j = 0; j < (causal ? i + 1 : n); j++) {
                expected[i] += (double)t[zero + i - j] * (double)x[j];
            }
        }
        weft_test_expect_near("y", y, expected, n, 1e-6);
    }
}

WEFT_TEST_ON_GRAPH(test_coefficients, f) {
    check_coefficients(f, "direct", false);
    check_coefficients(f, "direct", true);
    check_coefficients(f, "fft", false);
    check_coefficients(f, "fft", true);
}

/* ---- frequencies ---- */

#define REACH 24 /* lags of the kernel: below half of the coarsest grid */

/** k(l) of lags -(REACH - 1) … REACH - 1. */
static double kernel_at(int32_t lag) {
    double size = pow(0.8, abs(lag));
    return abs(lag) >= REACH ? 0.0 : size * cos(0.7 * lag + 0.4);
}

/**
 * R(ω) = Σ k(l) exp(-iωl) on a grid of N + 1 frequencies: real and imaginary parts, or of the causal kernel the real
 * parts alone.
 */
static float *response_of(uint32_t grid, bool causal) {
    const uint32_t columns = causal ? 1 : 2;
    float *response = calloc((size_t)(grid + 1) * columns, sizeof *response);
    assert_non_null(response);
    for (uint32_t m = 0; m <= grid; m++) {
        double real = 0.0;
        double imaginary = 0.0;
        for (int32_t lag = causal ? 0 : 1 - REACH; lag < REACH; lag++) {
            real += kernel_at(lag) * cos(PI * m / grid * lag);
            imaginary -= kernel_at(lag) * sin(PI * m / grid * lag);
        }
        response[(size_t)m * columns] = (float)real;
        if (!causal) {
            response[(size_t)m * columns + 1] = (float)imaginary;
        }
    }
    return response;
}

/** A finer grid of one response is the same kernel: the same results, and those of longer sequences. */
static void check_frequencies(struct weft_test_graph *f, bool causal) {
    float x[LONGEST];
    float y[LONGEST];
    double expected[LONGEST];
    weft_philox_uniform(x, LONGEST, 3, 2);
    for (uint32_t grid = 64; grid <= LONGEST; grid *= 2) {
        float *response = response_of(grid, causal);
        for (uint32_t n = 64; n <= grid; n *= 2) {
            run(f, causal, n, NULL, grid, response, x, y);
            for (int32_t i = 0; i < (int32_t)n; i++) {
                expected[i] = 0.0;
                for (int32_t j = 0; j < (causal ? i + 1 : (int32_t)n); j++) {
                    expected[i] += kernel_at(i - j) * (double)x[j];
                }
            }
            weft_test_expect_near("y", y, expected, n, 1e-6);
        }
        free(response);
    }
}

WEFT_TEST_ON_GRAPH(test_frequencies, f) {
    check_frequencies(f, false);
    check_frequencies(f, true);
}
