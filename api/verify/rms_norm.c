/* SPDX-License-Identifier: MIT */
/* The norms that divide by a length: RMSNorm, SimpleRMSNorm and ScaleNorm, on the same shapes. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape x;
    float epsilon;
    weft_values values;
    bool has_gain; /* RMSNorm's */
    bool side;     /* by the kernel that makes eight rows side by side */
} rows[] = {
    {{1, {5}}, 1e-5F, WEFT_VALUES_UNIT, .has_gain = true},
    {{2, {1, 1}}, 1e-5F, WEFT_VALUES_UNIT, .has_gain = true},
    {{2, {3, 2}}, 1e-12F, WEFT_VALUES_UNIT, .has_gain = false},
    {{3, {2, 7, 31}}, 1e-6F, WEFT_VALUES_UNIT, .has_gain = true},
    {{3, {3, 5, 64}}, 1e-6F, WEFT_VALUES_UNIT, .has_gain = true},
    {{2, {7, 127}}, 1e-6F, WEFT_VALUES_UNIT, .has_gain = false},
    {{2, {7, 129}}, 1e-6F, WEFT_VALUES_UNIT, .has_gain = true},
    {{3, {2, 37, 768}}, 1e-6F, WEFT_VALUES_UNIT, .has_gain = true},
    {{2, {3, 1021}}, 0.25F, WEFT_VALUES_UNIT, .has_gain = true}, /* an epsilon that counts */
    {{2, {2, 4099}}, 1e-5F, WEFT_VALUES_UNIT, .has_gain = true},
    /* more rows than workgroups along an axis */
    {{2, {65537, 2}}, 1e-5F, WEFT_VALUES_UNIT, .has_gain = true},
    {{2, {11, 100}}, 1e-12F, WEFT_VALUES_HUNDREDS, .has_gain = true},
    {{2, {11, 100}}, 1e-12F, WEFT_VALUES_LARGE, .has_gain = true},
    {{2, {11, 100}}, 0.0F, WEFT_VALUES_SMALL, .has_gain = true},
    {{2, {11, 100}}, 1e-6F, WEFT_VALUES_MIXED, .has_gain = true},
    {{2, {11, 130}}, 1e-5F, WEFT_VALUES_ZEROS, .has_gain = true},
    {{2, {11, 130}}, 64.0F, WEFT_VALUES_EQUAL, .has_gain = true}, /* more than the length */
    {{2, {3, 200}}, 1e-12F, WEFT_VALUES_IMPULSE, .has_gain = true},
    {{2, {9, 1}}, 1e-5F, WEFT_VALUES_UNIT, .has_gain = false, .side = true},
    {{2, {37, 131}}, 1e-6F, WEFT_VALUES_UNIT, .has_gain = true, .side = true},
    {{2, {70, 768}}, 1e-6F, WEFT_VALUES_UNIT, .has_gain = true, .side = true},
    {{2, {11, 100}}, 1e-6F, WEFT_VALUES_MIXED, .has_gain = true, .side = true},
    {{2, {2, 4099}}, 1e-5F, WEFT_VALUES_UNIT, .has_gain = true, .side = true},
};

/* `more`: what only some of the norms have. */
static void name_row(char text[WEFT_CASE_NAME_SIZE], const struct row *row, const char *more) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/rank=%u,rows=%u,d=%u%s", row->side ? "side/" : "",
             weft_values_name(row->values), row->x.rank, weft_case_rows(row->x),
             weft_case_columns(row->x), more);
}

/* ---- RMSNorm: Zhang and Sennrich, 2019, equation (4) ---- */

static void name_rms(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    char more[WEFT_CASE_PART_SIZE];
    name_row(text, row,
             weft_case_part(more, ",epsilon=%g%s", (double)row->epsilon,
                            row->has_gain ? "" : ",no gain"));
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
    name_row(text, row, "");
}

static void build_simple(weft_case *c, const struct row *row) {
    c->implementation = row->side ? "side" : NULL;
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_norm(c, x, weft_norm_params(.kind = WEFT_NORM_SIMPLE_RMS)));
}

WEFT_CASE_TABLE(simple_rms_norm, rows, WEFT_TOLERANCE_LINEAR, name_simple, build_simple);

/* ---- ScaleNorm: Nguyen and Salazar, 2019, equation (5) ---- */

static void name_scale(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    char more[WEFT_CASE_PART_SIZE];
    name_row(text, row, weft_case_part(more, ",epsilon=%g", (double)row->epsilon));
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
