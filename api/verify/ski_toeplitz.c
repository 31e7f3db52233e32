/* SPDX-License-Identifier: MIT */
/* Sparse plus low-rank Toeplitz mixing. */
#include <math.h>
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(ski_toeplitz, x[0])
WEFT_SHEET_MIX(ski_toeplitz, x[0])

enum { X, RPE, TAPS };

#define WITH(...) .params = weft_ski_toeplitz_params(__VA_ARGS__)

static const weft_use uses[] = {
    {.name = "SKI", WITH(.points = 64, .gamma = 0.99F), .sizes.rows = 32, .with = 1 << TAPS},
};

static const weft_trial trials[] = {
    {ACCEPTED, GIVES(2, 10, 6)},
    {INVALID, WITH(.gamma = 0.0F), SAYS("gamma", "above 0", "at most 1")},
    {INVALID, WITH(.gamma = -0.5F), SAYS("gamma", "above 0", "at most 1")},
    {INVALID, WITH(.gamma = 1.0001F), SAYS("gamma", "above 0", "at most 1")},
    {INVALID, WITH(.gamma = 1e-45F), SAYS("gamma", "above 0", "at most 1")},
    {INVALID, WITH(.gamma = NAN), SAYS("gamma", "above 0", "at most 1")},
    {INVALID, WITH(.gamma = INFINITY), SAYS("gamma", "above 0", "at most 1")},
    {INVALID, WITH(.points = 11, .gamma = 0.9F), SAYS("points 11", "n = 10")},
    {INVALID, WITH(.interpolation = WEFT_INTERPOLATION_COUNT, .gamma = 0.9F),
     SAYS("interpolation 2", "0 … 1")},
    {INVALID, .without_params = true, SAYS("weft_graph_ski_toeplitz")},
    /* The grid's points are too many for a short sequence. */
    {INVALID, IS(AS(X, 1, 3, 6)), SAYS("points 4", "n = 3")},
    {ACCEPTED, IS(AS(TAPS, 5, 6))},
    {ACCEPTED, IS(AS(TAPS, 4, 6))},
    {MISMATCH, IS(AS(RPE, 8, 6), AS(TAPS, 5, 6)), SAYS("rpe", "[8, 6]", "2g + 1")},
    {MISMATCH, IS(AS(RPE, 1, 6), AS(TAPS, 5, 6)), SAYS("rpe", "[1, 6]", "2g + 1")},
    {MISMATCH, IS(AS(RPE, 9, 5), AS(TAPS, 5, 6)), SAYS("rpe", "[9, 5]", "2g + 1")},
    {MISMATCH, IS(AS(RPE, 54), AS(TAPS, 5, 6)), SAYS("rpe", "[54]", "2g + 1")},
    {MISMATCH, IS(AS(TAPS, 5, 3)), SAYS("taps", "[5, 3]")},
    {MISMATCH, IS(AS(X, 9, 6), AS(TAPS, 5, 6)), SAYS("x", "[9, 6]", "[B, n, d]")},
    {INVALID, IS(AS_NOTHING(RPE), AS(TAPS, 5, 6)), SAYS("input 1")},
    /* Positions are counted in 24 bits and their products with points in 32. */
    {ACCEPTED, IS(AS(X, 1, 1 << 24, 1), AS(RPE, 9, 1))},
    {UNSUPPORTED, IS(AS(X, 1, (1 << 24) + 1, 1), AS(RPE, 9, 1)), SAYS("16777217", "16777216")},
    /* 256 (2^24 - 1) = 2^32 - 256 */
    {ACCEPTED, IS(AS(X, 1, 1 << 24, 1), AS(RPE, 9, 1)), WITH(.points = 257, .gamma = 0.9F)},
    {UNSUPPORTED, IS(AS(X, 1, 1 << 24, 1), AS(RPE, 9, 1)), WITH(.points = 258, .gamma = 0.9F),
     SAYS("258 points", "4294967295")},
};

const weft_sheet weft_sheet_ski_toeplitz = {
    WEFT_SHEET_OP(ski_toeplitz),
    .operands = {WEFT_OPERAND_X,
                 {.name = "rpe",
                  .axes = {WEFT_AXIS_ODD_ROWS, WEFT_AXIS_CHANNELS},
                  .is_weight = true,
                  .field = WEFT_SHEET_FIELD(weft_ski_toeplitz_params, rpe)},
                 WEFT_OPTIONAL("taps", weft_ski_toeplitz_params, taps,
                               WEFT_AXES(WEFT_AXIS_TAPS, WEFT_AXIS_CHANNELS), .is_weight = true)},
    .grows_linearly = true,
    .mix = mix_ski_toeplitz,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 10, .heads = 1, .width = 6, .rows = 4},
    .usual = weft_ski_toeplitz_params(.gamma = 0.9F),
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

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

#define LINEAR WEFT_INTERPOLATION_LINEAR
#define CUBIC  WEFT_INTERPOLATION_CUBIC

/* n, d, batch, points, steps, taps, gamma. */
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

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,d=%u,r=%u,g=%u,m=%u,gamma=%g,batch=%u",
             row->interpolation == CUBIC ? "cubic" : "linear", weft_values_name(row->values),
             row->n, row->d, points_of(row), row->steps, row->taps, (double)row->gamma, row->batch);
}

/* Sums that overflow, and differences of infinities: only that all drivers make the same of them. */
static void leave_open(weft_case *c, const struct row *row) {
    double *allowed = weft_case_allowed(c);
    for (uint64_t i = 0; allowed && i < (uint64_t)row->batch * row->n * row->d; i++) {
        allowed[i] = INFINITY;
    }
}

static void build(weft_case *c, const struct row *row) {
    weft_shape shape = weft_shape_of(row->batch, row->n, row->d);
    weft_array x = weft_case_input(c, "x", shape, row->values);
    weft_array rpe =
        weft_case_weight(c, weft_shape_of(2 * row->steps + 1, row->d), WEFT_VALUES_UNIT);
    weft_array taps = weft_case_optional_weight(c, row->taps > 0, weft_shape_of(row->taps, row->d));
    c->only_reproducible = row->values >= WEFT_VALUES_SUBNORMAL;
    weft_case_expect(
        c, "y",
        weft_case_ski_toeplitz(c, x,
                               weft_ski_toeplitz_params(.rpe = rpe.tensor, .taps = taps.tensor,
                                                        .points = row->points, .gamma = row->gamma,
                                                        .interpolation = row->interpolation)));
    if (row->values == WEFT_VALUES_INFINITE || row->values == WEFT_VALUES_HUGE) {
        leave_open(c, row);
    }
}

WEFT_CASE_TABLE(ski_toeplitz, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
