/* SPDX-License-Identifier: MIT */
/* Softmax over any axis, and its logarithm. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    const char *name;
    weft_shape x;
    uint32_t axis;
    weft_values values;
} rows[] = {
    {"37x31/1", {2, {37, 31}}, 1, WEFT_VALUES_TENS},
    {"5x1021/1", {2, {5, 1021}}, 1, WEFT_VALUES_UNIT},
    {"3x2500/1", {2, {3, 2500}}, 1, WEFT_VALUES_TENS},
    {"3x67x5/1", {3, {3, 67, 5}}, 1, WEFT_VALUES_TENS},
    {"601x3/0", {2, {601, 3}}, 0, WEFT_VALUES_UNIT},
    {"2x131x1/1", {3, {2, 131, 1}}, 1, WEFT_VALUES_HUNDREDS},
    {"2x3x5x7/1", {4, {2, 3, 5, 7}}, 1, WEFT_VALUES_LARGE},
    {"7x1/1", {2, {7, 1}}, 1, WEFT_VALUES_UNIT},
};

#define ROW_COUNT WEFT_COUNT(rows)

static bool is_logarithm(uint32_t index) {
    return index / ROW_COUNT != 0;
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s", is_logarithm(index) ? "logarithm" : "softmax",
             weft_values_name(row->values), row->name);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_softmax_axis(c, x, row->axis, is_logarithm(index)));
}

WEFT_CASE_FAMILY(softmax_axis, 2 * ROW_COUNT, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
