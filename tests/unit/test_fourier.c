/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* What is known of FNet's Fourier sublayer without computing it: by each implementation. */
#include <math.h>

#include <weft/mixers.h>

#include "core/math/philox.h"
#include "support_graph.h"

static const char *const implementations[] = {"fft", "matrix", "fft_matrix"};

#define WAYS ((uint32_t)(sizeof implementations / sizeof implementations[0]))

/** Even and odd lengths, a prime one, and one that is several workgroups. */
static const struct size { uint32_t n, d; } sizes[] = {{8, 6}, {7, 12}, {31, 5}, {130, 64}};

#define SIZES ((uint32_t)(sizeof sizes / sizeof sizes[0]))

/** y = Re F_n x F_d of one sequence, in memory of its own. */
static float *transform(struct weft_test_graph *f, const char *implementation, uint32_t n,
                        uint32_t d, const float *x) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor out;
    weft_tensor in = weft_test_feed(&r, "x", weft_shape_of(1, n, d), x);
    assert_ok(weft_graph_fourier(&out, r.graph, in));
    float *y = malloc(sizeof *y * n * d);
    assert_non_null(y);
    weft_test_take(&r, "y", out, y);
    weft_test_execute(&r, implementation);
    return y;
}

static float *uniform(uint64_t count, uint64_t stream) {
    return weft_test_uniform(count, 11, stream);
}

static double norm(const float *x, uint64_t count) {
    double squares = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        squares += (double)x[i] * (double)x[i];
    }
    return sqrt(squares);
}

/** docs/mixers.md, section 6: an impulse at (0, 0) gives ones, a constant c gives c n d at (0, 0) and zeros. */
static void check_by_hand(struct weft_test_graph *f, const char *implementation, struct size size) {
    const uint64_t count = (uint64_t)size.n * size.d;
    const float constant = 0.375F;
    float *x = calloc(count, sizeof *x);
    assert_non_null(x);
    x[0] = 1.0F;
    float *y = transform(f, implementation, size.n, size.d, x);
    for (uint64_t i = 0; i < count; i++) {
        assert_true(fabsf(y[i] - 1.0F) <= 1e-6F);
        x[i] = constant;
    }
    free(y);
    y = transform(f, implementation, size.n, size.d, x);
    const double sum = (double)constant * (double)count;
    assert_true(fabs((double)y[0] - sum) <= 1e-6 * sum);
    for (uint64_t i = 1; i < count; i++) {
        assert_true(fabs((double)y[i]) <= 1e-6 * sum);
    }
    free(y);
    free(x);
}

WEFT_TEST_ON_GRAPH(test_impulse_and_constant, f) {
    for (uint32_t i = 0; i < WAYS * SIZES; i++) {
        check_by_hand(f, implementations[i % WAYS], sizes[i / WAYS]);
    }
}

/** Real input: y[s, d - k] = y[(n - s) mod n, k]. What is computed of one half has to hold for the other. */
WEFT_TEST_ON_GRAPH(test_symmetry, f) {
    for (uint32_t i = 0; i < WAYS * SIZES; i++) {
        const uint32_t n = sizes[i / WAYS].n;
        const uint32_t d = sizes[i / WAYS].d;
        float *x = uniform((uint64_t)n * d, i);
        float *y = transform(f, implementations[i % WAYS], n, d, x);
        const double allowed = 1e-6 * norm(y, (uint64_t)n * d) / sqrt((double)n * d);
        for (uint32_t s = 0; s < n; s++) {
            for (uint32_t k = 1; k < d; k++) {
                double difference = (double)y[s * d + d - k] - (double)y[(n - s) % n * d + k];
                assert_true(fabs(difference) <= 4.0 * allowed);
            }
        }
        free(x);
        free(y);
    }
}

/** The first row and column of sums: Σ over one axis, then the transform along the other. */
WEFT_TEST_ON_GRAPH(test_sums, f) {
    for (uint32_t i = 0; i < WAYS * SIZES; i++) {
        const uint32_t n = sizes[i / WAYS].n;
        const uint32_t d = sizes[i / WAYS].d;
        float *x = uniform((uint64_t)n * d, 20 + i);
        float *y = transform(f, implementations[i % WAYS], n, d, x);
        double all = 0.0;
        double first = 0.0; /* Σ over s of y[s, 0] = n Σ_c x[0, c] */
        double row = 0.0;
        for (uint64_t j = 0; j < (uint64_t)n * d; j++) {
            all += (double)x[j];
            row += j < d ? (double)x[j] : 0.0;
        }
        for (uint32_t s = 0; s < n; s++) {
            first += (double)y[(uint64_t)s * d];
        }
        const double allowed = 1e-6 * norm(y, (uint64_t)n * d);
        assert_true(fabs((double)y[0] - all) <= allowed);
        assert_true(fabs(first - n * row) <= allowed * sqrt(n));
        free(x);
        free(y);
    }
}

/** There is no mask: a sequence with a zero behind it is another one. */
WEFT_TEST_ON_GRAPH(test_padding_changes_the_result, f) {
    enum { N = 9, D = 4 };
    float *x = uniform(N * D, 40);
    float padded[(N + 1) * D] = {0};
    memcpy(padded, x, sizeof(float) * N * D);
    for (uint32_t i = 0; i < WAYS; i++) {
        float *y = transform(f, implementations[i], N, D, x);
        float *longer = transform(f, implementations[i], N + 1, D, padded);
        double difference = 0.0;
        for (uint32_t j = 0; j < N * D; j++) {
            difference = fmax(difference, fabs((double)y[j] - (double)longer[j]));
        }
        assert_true(difference > 0.1);
        /* The sum of all is the same. */
        assert_true(fabs((double)y[0] - (double)longer[0]) < 1e-5);
        free(y);
        free(longer);
    }
    free(x);
}
