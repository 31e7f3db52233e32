/* SPDX-License-Identifier: MIT */
/* SADERF's change of variables. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    uint32_t batch, n, m, d;
    weft_values kind, other;
} rows[] = {
    {1, 1, 1, 1, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {2, 17, 5, 8, WEFT_VALUES_UNIT, WEFT_VALUES_TENS},
    {1, 255, 256, 3, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {3, 257, 131, 7, WEFT_VALUES_HUNDREDS, WEFT_VALUES_UNIT},
    {1, 1009, 2, 5, WEFT_VALUES_UNIT, WEFT_VALUES_MIXED},
    {2, 3, 600, 131, WEFT_VALUES_TENS, WEFT_VALUES_UNIT},
    {1, 4, 4, 300, WEFT_VALUES_ZEROS, WEFT_VALUES_ZEROS},
    {1, 9, 7, 12, WEFT_VALUES_UNIT, WEFT_VALUES_IMPULSE},
    {1, 9, 7, 12, WEFT_VALUES_LARGE, WEFT_VALUES_SMALL},
    {1, 9, 7, 12, WEFT_VALUES_SMALL, WEFT_VALUES_LARGE},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s,%s/n=%u,m=%u,d=%u,batch=%u",
             weft_values_name(row->kind), weft_values_name(row->other), row->n, row->m, row->d,
             row->batch);
}

static void build(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->kind);
    weft_array other =
        weft_case_input(c, "other", weft_shape_of(row->batch, row->m, row->d), row->other);
    weft_case_expect(c, "y", weft_case_balance_channels(c, x, other));
}

WEFT_CASE_TABLE(balance_channels, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
