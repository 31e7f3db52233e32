/* SPDX-License-Identifier: MIT */
/* Softmax over the last axis. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape x;
    weft_values values;
    bool side; /* by the kernel that makes eight rows side by side */
} cases[] = {
    {{1, {7}}, WEFT_VALUES_UNIT, false},
    {{2, {5, 1}}, WEFT_VALUES_UNIT, false},
    {{2, {129, 2}}, WEFT_VALUES_UNIT, false},
    {{2, {37, 31}}, WEFT_VALUES_UNIT, false},
    {{3, {2, 3, 64}}, WEFT_VALUES_TENS, false},
    {{2, {3, 127}}, WEFT_VALUES_TENS, false},
    {{2, {3, 128}}, WEFT_VALUES_TENS, false},
    {{4, {2, 2, 3, 129}}, WEFT_VALUES_TENS, false},
    {{2, {3, 257}}, WEFT_VALUES_UNIT, false},
    {{2, {2, 512}}, WEFT_VALUES_TENS, false},
    {{2, {65537, 3}}, WEFT_VALUES_UNIT, false}, /* more rows than workgroups along an axis */
    {{2, {5, 1021}}, WEFT_VALUES_UNIT, false},
    {{2, {1, 4099}}, WEFT_VALUES_TENS, false},
    {{2, {7, 100}}, WEFT_VALUES_HUNDREDS, false},
    {{2, {7, 100}}, WEFT_VALUES_LARGE, false},
    {{2, {7, 100}}, WEFT_VALUES_SMALL, false},
    {{2, {7, 100}}, WEFT_VALUES_MIXED, false},
    {{2, {7, 100}}, WEFT_VALUES_ZEROS, false},
    {{2, {7, 131}}, WEFT_VALUES_EQUAL, false},
    {{2, {2, 2048}}, WEFT_VALUES_TENS, false},
    {{2, {2, 2049}}, WEFT_VALUES_TENS, false}, /* weft_rows_kept */
    {{2, {9, 1}}, WEFT_VALUES_UNIT, true},
    {{2, {37, 131}}, WEFT_VALUES_TENS, true},
    {{2, {70, 512}}, WEFT_VALUES_TENS, true},
    {{2, {7, 100}}, WEFT_VALUES_LARGE, true},
    {{2, {2, 4099}}, WEFT_VALUES_TENS, true},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/rank=%u,rows=%u,columns=%u", row->side ? "side/" : "",
             weft_values_name(row->values), row->x.rank, weft_case_rows(row->x),
             weft_case_columns(row->x));
}

static void build(weft_case *c, const struct row *row) {
    c->implementation = row->side ? "side" : NULL;
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_softmax(c, x));
}

WEFT_CASE_TABLE(softmax, cases, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
