/* SPDX-License-Identifier: MIT */
/* LayerNorm. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape x;
    float epsilon;
    weft_values values;
} cases[] = {
    {{1, {5}}, 1e-5F, WEFT_VALUES_UNIT},
    {{2, {1, 1}}, 1e-5F, WEFT_VALUES_UNIT},
    {{2, {3, 2}}, 1e-12F, WEFT_VALUES_UNIT},
    {{2, {65, 3}}, 1e-5F, WEFT_VALUES_UNIT},
    {{3, {2, 7, 31}}, 1e-12F, WEFT_VALUES_UNIT},
    {{3, {3, 5, 64}}, 1e-12F, WEFT_VALUES_UNIT},
    {{2, {7, 127}}, 1e-12F, WEFT_VALUES_UNIT},
    {{2, {7, 128}}, 1e-12F, WEFT_VALUES_UNIT},
    {{2, {7, 129}}, 1e-12F, WEFT_VALUES_UNIT},
    {{4, {2, 3, 5, 257}}, 1e-5F, WEFT_VALUES_UNIT},
    {{3, {2, 37, 768}}, 1e-12F, WEFT_VALUES_UNIT},
    {{2, {3, 1021}}, 1e-12F, WEFT_VALUES_UNIT},
    {{2, {2, 4099}}, 1e-5F, WEFT_VALUES_UNIT},
    {{2, {257, 16}}, 0.0F, WEFT_VALUES_UNIT},
    {{2, {65537, 2}}, 1e-5F, WEFT_VALUES_UNIT}, /* more rows than workgroups along an axis */
    {{2, {11, 100}}, 1e-12F, WEFT_VALUES_HUNDREDS},
    {{2, {11, 100}}, 1e-12F, WEFT_VALUES_LARGE},
    {{2, {11, 100}}, 1e-12F, WEFT_VALUES_SMALL},
    {{2, {11, 100}}, 1e-12F, WEFT_VALUES_MIXED},
    {{2, {11, 130}}, 1e-5F, WEFT_VALUES_ZEROS},
    {{2, {11, 130}}, 1e-12F, WEFT_VALUES_EQUAL},
    {{2, {3, 200}}, 1e-12F, WEFT_VALUES_IMPULSE},
    {{2, {3, 2048}}, 1e-12F, WEFT_VALUES_UNIT}, /* the longest row that is kept in registers */
    {{2, {3, 2049}}, 1e-12F, WEFT_VALUES_UNIT},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/rank=%u,rows=%u,d=%u,epsilon=%g",
             weft_values_name(row->values), row->x.rank, weft_case_rows(row->x),
             weft_case_columns(row->x), (double)row->epsilon);
}

static void build(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_array gamma =
        weft_case_weight(c, weft_shape_of(weft_case_columns(row->x)), WEFT_VALUES_UNIT);
    weft_array beta =
        weft_case_weight(c, weft_shape_of(weft_case_columns(row->x)), WEFT_VALUES_UNIT);
    weft_case_expect(c, "y",
                     weft_case_norm(c, x,
                                    weft_norm_params(.gamma = gamma.tensor, .beta = beta.tensor,
                                                     .epsilon = row->epsilon)));
}

WEFT_CASE_TABLE(layer_norm, cases, WEFT_TOLERANCE_LINEAR, name_case, build);
