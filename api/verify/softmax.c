/* SPDX-License-Identifier: MIT */
/* Softmax over the last axis. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape x;
    weft_values values;
    bool side; /* by the kernel that makes eight rows side by side */
} cases[] = {
    {{1, {7}}, .values = WEFT_VALUES_UNIT},
    {{2, {5, 1}}, .values = WEFT_VALUES_UNIT},
    {{2, {129, 2}}, .values = WEFT_VALUES_UNIT},
    {{2, {37, 31}}, .values = WEFT_VALUES_UNIT},
    {{3, {2, 3, 64}}, .values = WEFT_VALUES_TENS},
    {{2, {3, 127}}, .values = WEFT_VALUES_TENS},
    {{2, {3, 128}}, .values = WEFT_VALUES_TENS},
    {{4, {2, 2, 3, 129}}, .values = WEFT_VALUES_TENS},
    {{2, {3, 257}}, .values = WEFT_VALUES_UNIT},
    {{2, {2, 512}}, .values = WEFT_VALUES_TENS},
    {{2, {65537, 3}}, .values = WEFT_VALUES_UNIT}, /* more rows than workgroups along an axis */
    {{2, {5, 1021}}, .values = WEFT_VALUES_UNIT},
    {{2, {1, 4099}}, .values = WEFT_VALUES_TENS},
    {{2, {7, 100}}, .values = WEFT_VALUES_HUNDREDS},
    {{2, {7, 100}}, .values = WEFT_VALUES_LARGE},
    {{2, {7, 100}}, .values = WEFT_VALUES_SMALL},
    {{2, {7, 100}}, .values = WEFT_VALUES_MIXED},
    {{2, {7, 100}}, .values = WEFT_VALUES_ZEROS},
    {{2, {7, 131}}, .values = WEFT_VALUES_EQUAL},
    {{2, {2, 2048}}, .values = WEFT_VALUES_TENS},
    {{2, {2, 2049}}, .values = WEFT_VALUES_TENS}, /* weft_rows_kept */
    {{2, {9, 1}}, .values = WEFT_VALUES_UNIT, .side = true},
    {{2, {37, 131}}, .values = WEFT_VALUES_TENS, .side = true},
    {{2, {70, 512}}, .values = WEFT_VALUES_TENS, .side = true},
    {{2, {7, 100}}, .values = WEFT_VALUES_LARGE, .side = true},
    {{2, {2, 4099}}, .values = WEFT_VALUES_TENS, .side = true},
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
