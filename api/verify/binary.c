/* SPDX-License-Identifier: MIT */
/* Elementwise operators, with b repeated over a's leading axes. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape a, b;
    weft_values values;
} rows[] = {
    {{3, {2, 37, 31}}, {3, {2, 37, 31}}, WEFT_VALUES_UNIT},
    {{3, {3, 5, 129}}, {1, {129}}, WEFT_VALUES_UNIT},
    {{3, {3, 7, 64}}, {2, {7, 64}}, WEFT_VALUES_MIXED},
    {{4, {2, 3, 5, 7}}, {3, {3, 5, 7}}, WEFT_VALUES_LARGE},
    {{1, {1021}}, {1, {1021}}, WEFT_VALUES_SMALL},
    {{2, {19, 17}}, {0, {0}}, WEFT_VALUES_UNIT},
    {{1, {1}}, {1, {1}}, WEFT_VALUES_UNIT},
};

#define ROW_COUNT WEFT_COUNT(rows)

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/a-rank=%u,b-rank=%u,a-elements=%u,b-elements=%u",
             weft_binary_name((weft_binary)(index / ROW_COUNT)), weft_values_name(row->values),
             row->a.rank, row->b.rank, (uint32_t)weft_shape_elements(row->a),
             (uint32_t)weft_shape_elements(row->b));
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    weft_binary op = (weft_binary)(index / ROW_COUNT);
    c->tolerance = op == WEFT_BINARY_POWER ? WEFT_TOLERANCE_EXPONENTIAL : c->tolerance;
    weft_array a = weft_case_input(c, "a", row->a, row->values);
    weft_array b = weft_case_input(c, "b", row->b, row->values);
    weft_case_expect(c, "y", weft_case_binary(c, op, a, b));
}

WEFT_CASE_FAMILY(binary, ROW_COUNT *WEFT_BINARY_LOGICAL_AND, WEFT_TOLERANCE_LINEAR, name_case,
                 build);
