/* SPDX-License-Identifier: MIT */
/* Reshapes: the same bits under another shape, of inputs, of results, and of reshapes. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape from, to;
    weft_values values;
    bool of_result; /* of a gather's result instead of an input */
    bool twice;     /* through a row in between */
} rows[] = {
    {{1, {1}}, {0, {0}}, WEFT_VALUES_UNIT, false, false},
    {{3, {2, 37, 31}}, {2, {74, 31}}, WEFT_VALUES_UNIT, false, false},
    {{2, {129, 6}}, {3, {43, 3, 6}}, WEFT_VALUES_ZEROS, false, true},
    {{4, {2, 3, 5, 7}}, {1, {210}}, WEFT_VALUES_MIXED, false, false},
    {{2, {64, 64}}, {4, {2, 32, 16, 4}}, WEFT_VALUES_LARGE, true, false},
    {{1, {1021}}, {2, {1, 1021}}, WEFT_VALUES_SMALL, true, true},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    char from[WEFT_SHAPE_TEXT_SIZE];
    char to[WEFT_SHAPE_TEXT_SIZE];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/%s/%s to %s", row->of_result ? "result" : "input",
             row->twice ? ",twice" : "", weft_values_name(row->values),
             weft_shape_text(row->from, from), weft_shape_text(row->to, to));
}

/* A tensor of the row's first shape that an op has made: token 1 of sequences of 3. */
static weft_array make_result(weft_case *c, const struct row *row, uint32_t count) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, 3, count), row->values);
    return weft_case_reshape(c, weft_case_gather(c, x, 1), row->from);
}

static void build(weft_case *c, const struct row *row) {
    const uint32_t count = (uint32_t)weft_shape_elements(row->from);
    weft_array x = row->of_result ? make_result(c, row, count)
                                  : weft_case_input(c, "x", row->from, row->values);
    if (row->twice) {
        x = weft_case_reshape(c, x, weft_shape_of(count));
    }
    weft_case_expect(c, "y", weft_case_reshape(c, x, row->to));
}

WEFT_CASE_TABLE(reshape, rows, WEFT_TOLERANCE_BITS, name_case, build);
