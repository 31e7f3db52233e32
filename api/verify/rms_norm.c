/* SPDX-License-Identifier: MIT */
/* The norms that divide by a length: RMSNorm, SimpleRMSNorm and ScaleNorm, on the same shapes. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape x;
    float epsilon;
    bool has_gain; /* RMSNorm's */
    weft_values values;
    bool side; /* by the kernel that makes eight rows side by side */
} rows[] = {
    {{1, {5}}, 1e-5F, true, WEFT_VALUES_UNIT, false},
    {{2, {1, 1}}, 1e-5F, true, WEFT_VALUES_UNIT, false},
    {{2, {3, 2}}, 1e-12F, false, WEFT_VALUES_UNIT, false},
    {{3, {2, 7, 31}}, 1e-6F, true, WEFT_VALUES_UNIT, false},
    {{3, {3, 5, 64}}, 1e-6F, true, WEFT_VALUES_UNIT, false},
    {{2, {7, 127}}, 1e-6F, false, WEFT_VALUES_UNIT, false},
    {{2, {7, 129}}, 1e-6F, true, WEFT_VALUES_UNIT, false},
    {{3, {2, 37, 768}}, 1e-6F, true, WEFT_VALUES_UNIT, false},
    {{2, {3, 1021}}, 0.25F, true, WEFT_VALUES_UNIT, false}, /* an epsilon that counts */
    {{2, {2, 4099}}, 1e-5F, true, WEFT_VALUES_UNIT, false},
    {{2, {65537, 2}},
     1e-5F,
     true,
     WEFT_VALUES_UNIT,
     false}, /* more rows than workgroups along an axis */
    {{2, {11, 100}}, 1e-12F, true, WEFT_VALUES_HUNDREDS, false},
    {{2, {11, 100}}, 1e-12F, true, WEFT_VALUES_LARGE, false},
    {{2, {11, 100}}, 0.0F, true, WEFT_VALUES_SMALL, false},
    {{2, {11, 100}}, 1e-6F, true, WEFT_VALUES_MIXED, false},
    {{2, {11, 130}}, 1e-5F, true, WEFT_VALUES_ZEROS, false},
    {{2, {11, 130}}, 64.0F, true, WEFT_VALUES_EQUAL, false}, /* more than the length */
    {{2, {3, 200}}, 1e-12F, true, WEFT_VALUES_IMPULSE, false},
    {{2, {9, 1}}, 1e-5F, false, WEFT_VALUES_UNIT, true},
    {{2, {37, 131}}, 1e-6F, true, WEFT_VALUES_UNIT, true},
    {{2, {70, 768}}, 1e-6F, true, WEFT_VALUES_UNIT, true},
    {{2, {11, 100}}, 1e-6F, true, WEFT_VALUES_MIXED, true},
    {{2, {2, 4099}}, 1e-5F, true, WEFT_VALUES_UNIT, true},
};

static void name_with(char text[WEFT_CASE_NAME_SIZE], const struct row *row, bool epsilon,
                      bool gain) {
    int used = snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/rank=%u,rows=%u,d=%u",
                        row->side ? "side/" : "", weft_values_name(row->values), row->x.rank,
                        weft_case_rows(row->x), weft_case_columns(row->x));
    if (epsilon) {
        used += snprintf(text + used, (size_t)(WEFT_CASE_NAME_SIZE - used), ",epsilon=%g",
                         (double)row->epsilon);
    }
    if (gain && !row->has_gain) {
        snprintf(text + used, (size_t)(WEFT_CASE_NAME_SIZE - used), ",no gain");
    }
}

/* ---- RMSNorm: Zhang and Sennrich, 2019, equation (4) ---- */

static void name_rms(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    name_with(text, row, true, true);
}

static void build_rms(weft_case *c, const struct row *row) {
    c->implementation = row->side ? "side" : NULL;
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_array gain =
        weft_case_optional_weight(c, row->has_gain, weft_shape_of(weft_case_columns(row->x)));
    weft_case_expect(c, "y",
                     weft_case_norm(c, x,
                                    weft_norm_params(.kind = WEFT_NORM_RMS, .gamma = gain.tensor,
                                                     .epsilon = row->epsilon)));
}

WEFT_CASE_TABLE(rms_norm, rows, WEFT_TOLERANCE_LINEAR, name_rms, build_rms);

/* ---- SimpleRMSNorm ---- */

static void name_simple(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    name_with(text, row, false, false);
}

static void build_simple(weft_case *c, const struct row *row) {
    c->implementation = row->side ? "side" : NULL;
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_norm(c, x, weft_norm_params(.kind = WEFT_NORM_SIMPLE_RMS)));
}

WEFT_CASE_TABLE(simple_rms_norm, rows, WEFT_TOLERANCE_LINEAR, name_simple, build_simple);

/* ---- ScaleNorm: Nguyen and Salazar, 2019, equation (5) ---- */

static void name_scale(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    name_with(text, row, true, false);
}

static void build_scale(weft_case *c, const struct row *row) {
    c->implementation = row->side ? "side" : NULL;
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_array gain = weft_case_weight(c, weft_shape_of(1), WEFT_VALUES_UNIT);
    weft_case_expect(c, "y",
                     weft_case_norm(c, x,
                                    weft_norm_params(.kind = WEFT_NORM_SCALE, .gamma = gain.tensor,
                                                     .epsilon = row->epsilon)));
}

WEFT_CASE_TABLE(scale_norm, rows, WEFT_TOLERANCE_LINEAR, name_scale, build_scale);
