/* SPDX-License-Identifier: MIT */
/* The token at one position of each sequence: a copy, so that every bit must be there. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    uint32_t batch, n, d, position;
    weft_values values;
} rows[] = {
    {1, 1, 1, 0, WEFT_VALUES_UNIT},       {3, 7, 31, 0, WEFT_VALUES_UNIT},
    {3, 7, 31, 6, WEFT_VALUES_MIXED},     {2, 129, 64, 100, WEFT_VALUES_ZEROS},
    {5, 3, 257, 1, WEFT_VALUES_LARGE},    {1, 37, 1021, 36, WEFT_VALUES_SMALL},
    {130, 2, 3, 1, WEFT_VALUES_HUNDREDS},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/n=%u,d=%u,position=%u,batch=%u",
             weft_values_name(row->values), row->n, row->d, row->position, row->batch);
}

static void build(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_case_expect(c, "y", weft_case_gather(c, x, row->position));
}

WEFT_CASE_TABLE(gather, rows, WEFT_TOLERANCE_BITS, name_case, build);
