/* SPDX-License-Identifier: MIT */
/* scale · x + offset. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape x;
    float scale, offset;
    weft_values values;
} rows[] = {
    {{0, {0}}, 2.5F, 1.0F, WEFT_VALUES_UNIT},
    {{1, {1}}, 1.0F, 0.0F, WEFT_VALUES_UNIT},
    {{1, {1021}}, -0.3F, 0.7F, WEFT_VALUES_UNIT},
    {{2, {37, 31}}, 0.0F, 0.7F, WEFT_VALUES_UNIT},
    {{3, {2, 129, 5}}, 1.7F, -100.0F, WEFT_VALUES_TENS},
    {{4, {2, 3, 5, 64}}, 3.0F, 0.0F, WEFT_VALUES_LARGE},
    {{1, {128}}, 0.1F, 0.0F, WEFT_VALUES_SMALL},
    {{2, {127, 3}}, 0.1F, 1e-3F, WEFT_VALUES_MIXED},
    {{1, {300}}, -1.0F, 0.0F, WEFT_VALUES_ZEROS},
    {{3, {3, 40, 257}}, 0.9F, 0.05F, WEFT_VALUES_UNIT},
    {{2, {2050, 4100}}, 2.5F, -0.5F, WEFT_VALUES_UNIT}, /* more than 65535 workgroups of 128 */
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/rank=%u,elements=%u,scale=%g,offset=%g",
             weft_values_name(row->values), row->x.rank, (uint32_t)weft_shape_elements(row->x),
             (double)row->scale, (double)row->offset);
}

static void build(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_affine(c, x, row->scale, row->offset));
}

WEFT_CASE_TABLE(affine, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
