/* SPDX-License-Identifier: MIT */
/* Sparse plus low-rank Toeplitz mixing, with W, A and the taps' matrix written out. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

struct row {
    uint32_t n, d, batch;
    uint32_t points; /* r; 0: the grid's g */
    uint32_t steps;  /* g */
    uint32_t taps;   /* m; 0: none */
    float gamma;
    weft_interpolation interpolation;
    weft_values values;
};

static uint32_t points_of(const struct row *row) {
    return row->points ? row->points : row->steps;
}

/* RPE(x(t)) of one channel, whose values are d apart; the middle of the grid is 0. */
static double kernel(double t, const double *rpe, const struct row *row) {
    double warped = pow((double)row->gamma, fabs(t));
    double at = ((t < 0.0 ? -warped : warped) + 1.0) * row->steps;
    uint32_t below = (uint32_t)at;
    below = below < 2 * row->steps ? below : 2 * row->steps - 1;
    double part = at - below;
    double low = below == row->steps ? 0.0 : rpe[(uint64_t)below * row->d];
    double high = below + 1 == row->steps ? 0.0 : rpe[(uint64_t)(below + 1) * row->d];
    return (1.0 - part) * low + part * high;
}

/* W [n, r]: row i has Lagrange's polynomials through the points around i, taken at i. */
static void fill_weights(double *weights, const struct row *row) {
    uint32_t points = points_of(row);
    uint32_t degree = row->interpolation == WEFT_INTERPOLATION_CUBIC ? 3 : 1;
    degree = degree < points ? degree : points - 1;
    double spacing = points > 1 ? (row->n - 1.0) / (points - 1.0) : 1.0;
    for (uint32_t i = 0; i < row->n; i++) {
        double at = points > 1 ? i / spacing : 0.0;
        int64_t first = (int64_t)at - (degree == 3 ? 1 : 0);
        int64_t last_first = (int64_t)points - 1 - degree;
        first = first < 0 ? 0 : first > last_first ? last_first : first;
        for (int64_t k = first; k <= first + degree; k++) {
            double weight = 1.0;
            for (int64_t other = first; other <= first + degree; other++) {
                weight *= other == k ? 1.0 : (at - (double)other) / (double)(k - other);
            }
            weights[(uint64_t)i * points + (uint64_t)k] = weight;
        }
    }
}

struct matrices {
    double *w;     /* [n, r] */
    double *a;     /* [r, r], of one channel */
    double *taps;  /* [n, n], of one channel */
    double *z, *v; /* [r] */
};

static void fill_channel(const struct matrices *matrices, const double *rpe, const double *taps,
                         const struct row *row) {
    uint64_t points = points_of(row);
    double spacing = points > 1 ? (row->n - 1.0) / ((double)points - 1.0) : 1.0;
    for (uint64_t i = 0; i < points; i++) {
        for (uint64_t j = 0; j < points; j++) {
            double steps = (double)i - (double)j;
            matrices->a[i * points + j] = kernel(steps * spacing, rpe, row);
        }
    }
    int64_t half = row->taps / 2;
    for (int64_t i = 0; taps != NULL && i < row->n; i++) {
        for (int64_t j = 0; j < row->n; j++) {
            int64_t lag = i - j;
            bool reached = lag >= -half && lag <= half;
            matrices->taps[i * row->n + j] = reached ? taps[(uint64_t)(lag + half) * row->d] : 0.0;
        }
    }
}

/* One channel of one sequence; its elements are d apart. */
static void mix(double *out, const double *x, const struct matrices *m, const struct row *row) {
    uint64_t points = points_of(row);
    uint64_t d = row->d;
    for (uint64_t k = 0; k < points; k++) {
        m->z[k] = 0.0;
        for (uint64_t i = 0; i < row->n; i++) {
            m->z[k] += m->w[i * points + k] * x[i * d];
        }
    }
    for (uint64_t k = 0; k < points; k++) {
        m->v[k] = 0.0;
        for (uint64_t l = 0; l < points; l++) {
            m->v[k] += m->a[k * points + l] * m->z[l];
        }
    }
    for (uint64_t i = 0; i < row->n; i++) {
        double sum = 0.0;
        for (uint64_t k = 0; k < points; k++) {
            sum += m->w[i * points + k] * m->v[k];
        }
        for (uint64_t j = 0; m->taps != NULL && j < row->n; j++) {
            sum += m->taps[i * row->n + j] * x[j * d];
        }
        out[i * d] = sum;
    }
}

static void reference(weft_case *c, double *out, const double *x, const double *rpe,
                      const double *taps, const struct row *row) {
    uint64_t points = points_of(row);
    struct matrices m = {.w = weft_case_scratch(c, row->n * points),
                         .a = weft_case_scratch(c, points * points),
                         .taps = row->taps ? weft_case_scratch(c, (uint64_t)row->n * row->n) : NULL,
                         .z = weft_case_scratch(c, points),
                         .v = weft_case_scratch(c, points)};
    if (c->status == WEFT_OK) {
        fill_weights(m.w, row);
    }
    for (uint32_t channel = 0; c->status == WEFT_OK && channel < row->d; channel++) {
        fill_channel(&m, rpe + channel, taps ? taps + channel : NULL, row);
        for (uint64_t b = 0; b < row->batch; b++) {
            uint64_t at = b * row->n * row->d + channel;
            mix(out + at, x + at, &m, row);
        }
    }
    weft_case_scratch_free(c, m.w);
    weft_case_scratch_free(c, m.a);
    weft_case_scratch_free(c, m.taps);
    weft_case_scratch_free(c, m.z);
    weft_case_scratch_free(c, m.v);
}

#define LINEAR WEFT_INTERPOLATION_LINEAR
#define CUBIC  WEFT_INTERPOLATION_CUBIC

/* n, d, batch, points, steps, taps, gamma. The reference costs about d (r² + 2 n r + n²). */
#define BOTH(values, ...)            \
    {__VA_ARGS__, LINEAR, values}, { \
        __VA_ARGS__, CUBIC, values   \
    }
#define UNIT(...) BOTH(WEFT_VALUES_UNIT, __VA_ARGS__)

static const struct row rows[] = {
    UNIT(1, 1, 1, 0, 1, 0, 0.9F),
    UNIT(1, 5, 2, 1, 3, 1, 0.5F),
    UNIT(2, 3, 2, 1, 2, 3, 0.9F),
    UNIT(2, 4, 1, 2, 1, 7, 1.0F),
    UNIT(3, 2, 3, 2, 2, 1, 0.75F),
    UNIT(3, 7, 1, 3, 4, 5, 0.9F),
    UNIT(4, 8, 2, 4, 4, 3, 0.99F),
    UNIT(5, 1, 1, 3, 8, 0, 0.9F),
    UNIT(7, 64, 2, 4, 16, 9, 0.9F),
    UNIT(31, 37, 2, 31, 31, 0, 0.95F), /* r = n: W is the identity */
    UNIT(64, 65, 1, 64, 64, 33, 0.99F),
    UNIT(100, 6, 3, 12, 12, 5, 0.99F), /* inducing points on positions: h = 9 */
    UNIT(97, 12, 2, 13, 64, 31, 0.9F),
    UNIT(127, 3, 1, 17, 17, 129, 0.999F),
    UNIT(128, 64, 1, 0, 64, 33, 0.99F),
    UNIT(129, 66, 2, 1, 8, 0, 0.99F),
    UNIT(257, 16, 1, 2, 8, 515, 0.5F), /* more taps than lags */
    UNIT(509, 5, 2, 64, 64, 15, 0.99F),
    UNIT(512, 8, 1, 511, 128, 0, 0.999F),
    UNIT(521, 130, 1, 9, 9, 0, 1.0F),
    UNIT(1021, 4, 1, 65, 16, 63, 0.998F),
    UNIT(1024, 2, 1, 0, 1024, 0, 0.999F),
    UNIT(2049, 3, 1, 3, 64, 0, 0.99F), /* several segments of a stretch */
    UNIT(5000, 4, 2, 5, 32, 0, 0.9999F),
    BOTH(WEFT_VALUES_EQUAL, 100, 12, 1, 10, 10, 7, 0.9F),
    BOTH(WEFT_VALUES_IMPULSE, 65, 12, 2, 9, 16, 5, 0.9F),
    BOTH(WEFT_VALUES_LARGE, 97, 12, 1, 13, 13, 5, 0.95F),
    BOTH(WEFT_VALUES_SMALL, 97, 12, 1, 13, 13, 5, 0.95F),
    BOTH(WEFT_VALUES_MIXED, 130, 20, 2, 21, 21, 9, 0.98F),
    BOTH(WEFT_VALUES_ZEROS, 130, 20, 1, 21, 21, 9, 0.98F),
    /* Only in reproducible mode: */
    BOTH(WEFT_VALUES_SUBNORMAL, 97, 12, 1, 13, 13, 5, 0.95F),
    BOTH(WEFT_VALUES_TINY, 97, 12, 1, 13, 13, 5, 0.95F),
    BOTH(WEFT_VALUES_NAN, 20, 17, 1, 5, 5, 3, 0.95F),
    BOTH(WEFT_VALUES_INFINITE, 97, 12, 1, 13, 13, 5, 0.95F),
    BOTH(WEFT_VALUES_HUGE, 97, 12, 1, 13, 13, 5, 0.95F),
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,d=%u,r=%u,g=%u,m=%u,gamma=%g,batch=%u",
             row->interpolation == CUBIC ? "cubic" : "linear", weft_values_name(row->values),
             row->n, row->d, points_of(row), row->steps, row->taps, (double)row->gamma, row->batch);
}

/* Sums that overflow, and differences of infinities: only that all drivers make the same of them. */
static void leave_open(weft_case *c, const struct row *row) {
    double *allowed = weft_case_allowed(c);
    for (uint64_t i = 0; allowed != NULL && i < (uint64_t)row->batch * row->n * row->d; i++) {
        allowed[i] = INFINITY;
    }
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    weft_shape shape = weft_shape_of(row->batch, row->n, row->d);
    weft_array x = weft_case_input(c, "x", shape, row->values);
    weft_array rpe =
        weft_case_weight(c, weft_shape_of(2 * row->steps + 1, row->d), WEFT_VALUES_UNIT);
    weft_array taps = {0};
    if (row->taps) {
        taps = weft_case_weight(c, weft_shape_of(row->taps, row->d), WEFT_VALUES_UNIT);
    }
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_ski_toeplitz(
                           &y, c->graph, x.tensor,
                           weft_ski_toeplitz_params(.rpe = rpe.tensor, .taps = taps.tensor,
                                                    .points = row->points, .gamma = row->gamma,
                                                    .interpolation = row->interpolation)));
    c->only_reproducible = row->values >= WEFT_VALUES_SUBNORMAL;
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL &&
        (row->values == WEFT_VALUES_INFINITE || row->values == WEFT_VALUES_HUGE)) {
        leave_open(c, row);
    } else if (expected != NULL) {
        reference(c, expected, x.value, rpe.value, taps.value, row);
    }
}

const weft_case_family weft_family_ski_toeplitz = {.name = "ski_toeplitz",
                                                   .count = sizeof rows / sizeof rows[0],
                                                   .tolerance = WEFT_TOLERANCE_LINEAR,
                                                   .name_case = name_case,
                                                   .build = build};
