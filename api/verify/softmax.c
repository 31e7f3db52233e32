/* SPDX-License-Identifier: MIT */
/* Softmax over the last axis. */
#include <stdio.h>

#include "verify/paired.h"

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

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/rank=%u,rows=%u,columns=%u",
             weft_values_name(row->values), row->x.rank, weft_case_rows(row->x),
             weft_case_columns(row->x));
}

static void build(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_softmax(c, x));
}

WEFT_CASE_TABLE(softmax, cases, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
