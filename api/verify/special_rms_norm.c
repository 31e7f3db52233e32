/* SPDX-License-Identifier: MIT */
/* RMSNorm, SimpleRMSNorm and ScaleNorm where the range of float32 ends. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/bounded.h"

static const struct row {
    uint32_t rows, columns;
    float epsilon; /* not SimpleRMSNorm's */
    weft_values x, gain;
} rows[] = {
    {7, 129, 1e-12F, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {5, 300, 1e-12F, WEFT_VALUES_TINY, WEFT_VALUES_UNIT},
    {9, 7, 0.0F, WEFT_VALUES_TINY, WEFT_VALUES_UNIT},
    {5, 130, 1e-5F, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT},
    {7, 33, 1e-5F, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE},
    {40, 5, 1e-5F, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT},
    {7, 129, 1e-5F, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
    {20, 9, 1e-12F, WEFT_VALUES_NAN, WEFT_VALUES_UNIT},
    {9, 31, 1e-12F, WEFT_VALUES_UNIT, WEFT_VALUES_NAN},
    {5, 1, 0.0F, WEFT_VALUES_ZEROS, WEFT_VALUES_UNIT}, /* rows that are 0: 0/0 */
    {12, WEFT_EDGE_COUNT / 12, 1e-5F, WEFT_VALUES_EDGES, WEFT_VALUES_UNIT},
};

static void name_with_gain(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s,%s/rows=%u,d=%u,epsilon=%g", weft_values_name(row->x),
             weft_values_name(row->gain), row->rows, row->columns, (double)row->epsilon);
}

static void name_simple(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/rows=%u,d=%u,case=%u", weft_values_name(row->x),
             row->rows, row->columns, (uint32_t)(row - rows));
}

/* Σ x². Where it overflows though x is finite, nothing is sure: the formula itself stays finite. */
static weft_bounded squares_of(const double *x, uint32_t columns) {
    weft_bounded_sum sum = {0};
    bool is_finite = true;
    for (uint32_t i = 0; i < columns; i++) {
        is_finite = is_finite && isfinite(x[i]);
        weft_bounded_sum_add_product(&sum, weft_bounded_exact(x[i]), weft_bounded_exact(x[i]));
    }
    weft_bounded squares = weft_bounded_sum_end(&sum);
    return is_finite && isinf(squares.value) ? (weft_bounded){.error = INFINITY} : squares;
}

static weft_bounded mean_of(const double *x, uint32_t columns) {
    return weft_bounded_divide(squares_of(x, columns), weft_bounded_exact(columns));
}

/* The larger of a length and a number that is exact. */
static weft_bounded at_least(weft_bounded length, weft_bounded epsilon) {
    if (isnan(length.value) || isinf(length.error) || length.value - length.error > epsilon.value) {
        return length;
    }
    return length.value + length.error < epsilon.value
               ? epsilon
               : weft_bounded_near(fmax(length.value, epsilon.value), length.error);
}

typedef weft_bounded (*divisor)(const double *x, const struct row *row);

static weft_bounded divisor_of_rms(const double *x, const struct row *row) {
    weft_bounded epsilon = weft_bounded_parameter(row->epsilon);
    return weft_bounded_sqrt(weft_bounded_add(mean_of(x, row->columns), epsilon));
}

static weft_bounded divisor_of_simple(const double *x, const struct row *row) {
    return weft_bounded_add(weft_bounded_sqrt(mean_of(x, row->columns)),
                            weft_bounded_parameter(1e-8F));
}

static weft_bounded divisor_of_scale(const double *x, const struct row *row) {
    return at_least(weft_bounded_sqrt(squares_of(x, row->columns)),
                    weft_bounded_parameter(row->epsilon));
}

/* Expects x / divisor · gain[i % gain_count] of the newest output. */
static void expect(weft_case *c, const struct row *row, const double *x, divisor divisor_of,
                   const double *gain, uint32_t gain_count) {
    weft_bounded *out = weft_bounded_scratch(c, (uint64_t)row->rows * row->columns);
    for (uint64_t i = 0; out && i < (uint64_t)row->rows * row->columns; i++) {
        uint64_t first = i / row->columns * row->columns;
        out[i] = weft_bounded_divide(weft_bounded_exact(x[i]), divisor_of(x + first, row));
        if (gain_count > 0) {
            out[i] = weft_bounded_multiply(out[i],
                                           weft_bounded_exact(gain[i % row->columns % gain_count]));
        }
    }
    if (out) {
        weft_bounded_expect(c, out);
    }
}

static weft_array add_input(weft_case *c, const struct row *row) {
    return weft_case_input(c, "x", weft_shape_of(row->rows, row->columns), row->x);
}

static void build_rms(weft_case *c, const struct row *row) {
    weft_array x = add_input(c, row);
    weft_array gain = weft_case_weight(c, weft_shape_of(row->columns), row->gain);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_rms_norm(&y, c->graph, x.tensor, gain.tensor, row->epsilon));
    weft_case_output(c, "y", y);
    expect(c, row, x.value, divisor_of_rms, gain.value, row->columns);
}

WEFT_SPECIAL_TABLE(rms_norm, rows, WEFT_TOLERANCE_LINEAR, name_with_gain, build_rms);

static void build_simple(weft_case *c, const struct row *row) {
    weft_array x = add_input(c, row);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_simple_rms_norm(&y, c->graph, x.tensor));
    weft_case_output(c, "y", y);
    expect(c, row, x.value, divisor_of_simple, NULL, 0);
}

WEFT_SPECIAL_TABLE(simple_rms_norm, rows, WEFT_TOLERANCE_LINEAR, name_simple, build_simple);

static void build_scale(weft_case *c, const struct row *row) {
    weft_array x = add_input(c, row);
    weft_array gain = weft_case_weight(c, weft_shape_of(1), row->gain);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_scale_norm(&y, c->graph, x.tensor, gain.tensor, row->epsilon));
    weft_case_output(c, "y", y);
    expect(c, row, x.value, divisor_of_scale, gain.value, 1);
}

WEFT_SPECIAL_TABLE(scale_norm, rows, WEFT_TOLERANCE_LINEAR, name_with_gain, build_scale);
