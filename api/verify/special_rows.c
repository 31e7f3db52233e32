/* SPDX-License-Identifier: MIT */
/* LayerNorm and softmax. */
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/paired.h"

/* ---- LayerNorm ---- */

static const struct norm_row {
    uint32_t rows, columns;
    float epsilon;
    weft_values x, gamma, beta;
} norm_rows[] = {
    {7, 129, 1e-12F, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {5, 300, 1e-12F, WEFT_VALUES_TINY, WEFT_VALUES_UNIT, WEFT_VALUES_TINY},
    {9, 7, 0.0F, WEFT_VALUES_TINY, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {5, 130, 1e-5F, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {7, 33, 1e-5F, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE, WEFT_VALUES_HUGE},
    {40, 5, 1e-5F, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {7, 129, 1e-5F, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE, WEFT_VALUES_NAN},
    {20, 9, 1e-12F, WEFT_VALUES_NAN, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {6, 31, 0.0F, WEFT_VALUES_EQUAL, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {6, 31, 1e-40F, WEFT_VALUES_EQUAL, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {12, WEFT_EDGE_COUNT / 12, 1e-5F, WEFT_VALUES_EDGES, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
};

static void name_norm(char text[WEFT_CASE_NAME_SIZE], const struct norm_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s,%s,%s/rows=%u,d=%u,epsilon=%g",
             weft_values_name(row->x), weft_values_name(row->gamma), weft_values_name(row->beta),
             row->rows, row->columns, (double)row->epsilon);
}

static void build_norm(weft_case *c, const struct norm_row *row) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->rows, row->columns), row->x);
    weft_array gamma = weft_case_weight(c, weft_shape_of(row->columns), row->gamma);
    weft_array beta = weft_case_weight(c, weft_shape_of(row->columns), row->beta);
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_layer_norm(&y, c->graph, x.tensor, gamma.tensor, beta.tensor, row->epsilon));
    weft_case_output(c, "y", y);
    weft_bounded *out = weft_bounded_of(c, x.value, (uint64_t)row->rows * row->columns);
    weft_bounded *factors = weft_bounded_of(c, gamma.value, row->columns);
    weft_bounded *offsets = weft_bounded_of(c, beta.value, row->columns);
    if (c->ref.status == WEFT_OK) {
        weft_bounded_layer_norm(out, out, factors, offsets, row->rows, row->columns, row->epsilon);
    }
    weft_bounded_expect(c, out);
}

WEFT_SPECIAL_TABLE(layer_norm, norm_rows, WEFT_TOLERANCE_LINEAR, name_norm, build_norm);

/* ---- softmax ---- */

static const struct softmax_row {
    uint32_t rows, columns;
    weft_values values;
    bool side; /* by the kernel that makes eight rows side by side */
} softmax_rows[] = {
    {7, 129, .values = WEFT_VALUES_SUBNORMAL},
    {3, 300, .values = WEFT_VALUES_TINY},
    {9, 31, .values = WEFT_VALUES_HUGE},
    {60, 5, .values = WEFT_VALUES_INFINITE},
    {60, 3, .values = WEFT_VALUES_MASKED}, /* some rows all -infinity */
    {5, 300, .values = WEFT_VALUES_MASKED},
    {20, 9, .values = WEFT_VALUES_NAN},
    {12, WEFT_EDGE_COUNT / 12, .values = WEFT_VALUES_EDGES},
    {60, 5, .values = WEFT_VALUES_INFINITE, .side = true},
    {60, 3, .values = WEFT_VALUES_MASKED, .side = true},
    {5, 300, .values = WEFT_VALUES_MASKED, .side = true},
    {20, 9, .values = WEFT_VALUES_NAN, .side = true},
    {9, 131, .values = WEFT_VALUES_NAN, .side = true},
    {12, WEFT_EDGE_COUNT / 12, .values = WEFT_VALUES_EDGES, .side = true},
};

static void name_softmax(char text[WEFT_CASE_NAME_SIZE], const struct softmax_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/rows=%u,columns=%u", row->side ? "side/" : "",
             weft_values_name(row->values), row->rows, row->columns);
}

static void build_softmax(weft_case *c, const struct softmax_row *row) {
    c->implementation = row->side ? "side" : NULL;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->rows, row->columns), row->values);
    weft_case_expect(c, "y", weft_case_softmax(c, x));
    weft_bounded *out = weft_bounded_of(c, x.value, (uint64_t)row->rows * row->columns);
    if (c->ref.status == WEFT_OK) {
        weft_bounded_softmax(out, out, row->rows, row->columns);
    }
    weft_bounded_expect(c, out);
}

WEFT_SPECIAL_TABLE(softmax, softmax_rows, WEFT_TOLERANCE_EXPONENTIAL, name_softmax, build_softmax);
