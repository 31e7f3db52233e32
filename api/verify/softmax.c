/* SPDX-License-Identifier: MIT */
/* Softmax over the last axis. */
#include <math.h>
#include <stdio.h>

#include "verify/conformance.h"

/* exp(x_i) / Σ_j exp(x_j); the largest is subtracted so that float64 does not overflow either. */
void weft_reference_softmax(double *out, const double *x, uint32_t rows, uint32_t columns) {
    for (uint32_t row = 0; row < rows; row++, x += columns, out += columns) {
        double largest = x[0];
        for (uint32_t column = 1; column < columns; column++) {
            largest = x[column] > largest ? x[column] : largest;
        }
        double sum = 0.0;
        for (uint32_t column = 0; column < columns; column++) {
            out[column] = exp(x[column] - largest);
            sum += out[column];
        }
        for (uint32_t column = 0; column < columns; column++) {
            out[column] /= sum;
        }
    }
}

static const struct row {
    weft_shape x;
    weft_values values;
} cases[] = {
    {{1, {7}}, WEFT_VALUES_UNIT},          {{2, {5, 1}}, WEFT_VALUES_UNIT},
    {{2, {129, 2}}, WEFT_VALUES_UNIT},     {{2, {37, 31}}, WEFT_VALUES_UNIT},
    {{3, {2, 3, 64}}, WEFT_VALUES_TENS},   {{2, {3, 127}}, WEFT_VALUES_TENS},
    {{2, {3, 128}}, WEFT_VALUES_TENS},     {{4, {2, 2, 3, 129}}, WEFT_VALUES_TENS},
    {{2, {3, 257}}, WEFT_VALUES_UNIT},     {{2, {2, 512}}, WEFT_VALUES_TENS},
    {{2, {65537, 3}}, WEFT_VALUES_UNIT}, /* more rows than workgroups along an axis */
    {{2, {5, 1021}}, WEFT_VALUES_UNIT},    {{2, {1, 4099}}, WEFT_VALUES_TENS},
    {{2, {7, 100}}, WEFT_VALUES_HUNDREDS}, {{2, {7, 100}}, WEFT_VALUES_LARGE},
    {{2, {7, 100}}, WEFT_VALUES_SMALL},    {{2, {7, 100}}, WEFT_VALUES_MIXED},
    {{2, {7, 100}}, WEFT_VALUES_ZEROS},    {{2, {7, 131}}, WEFT_VALUES_EQUAL},
    {{2, {2, 2048}}, WEFT_VALUES_TENS},    {{2, {2, 2049}}, WEFT_VALUES_TENS}, /* weft_rows_kept */
};

static uint32_t columns_of(const struct row *row) {
    return row->x.dim[row->x.rank - 1];
}

static uint32_t rows_of(const struct row *row) {
    return (uint32_t)weft_shape_elements(row->x) / columns_of(row);
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &cases[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/rank=%u,rows=%u,columns=%u",
             weft_values_name(row->values), row->x.rank, rows_of(row), columns_of(row));
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &cases[index];
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_softmax(&y, c->graph, x.tensor));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        weft_reference_softmax(expected, x.value, rows_of(row), columns_of(row));
    }
}

const weft_case_family weft_family_softmax = {.name = "softmax",
                                              .count = sizeof cases / sizeof cases[0],
                                              .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                              .name_case = name_case,
                                              .build = build};
