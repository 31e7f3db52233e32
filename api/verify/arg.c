/* SPDX-License-Identifier: MIT */
/* Indices of the largest and smallest elements. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    const char *name;
    weft_shape x;
    uint32_t axis;
    bool keep;
    weft_values values;
    bool whole; /* i32 */
} rows[] = {
    {"37x31/1", {2, {37, 31}}, 1, false, WEFT_VALUES_UNIT, false},
    {"3x67x5/1", {3, {3, 67, 5}}, 1, true, WEFT_VALUES_ZEROS, false},
    {"1021x2/0", {2, {1021, 2}}, 0, false, WEFT_VALUES_TENS, false},
    {"3x70000/1", {2, {3, 70000}}, 1, false, WEFT_VALUES_UNIT, false},
    {"7x131/1", {2, {7, 131}}, 1, false, WEFT_VALUES_EQUAL, false},
    {"2x3x1/2", {3, {2, 3, 1}}, 2, false, WEFT_VALUES_UNIT, false},
    {"5x600/1", {2, {5, 600}}, 1, false, WEFT_VALUES_NAN, false},
    {"5x131/1", {2, {5, 131}}, 1, false, WEFT_VALUES_INFINITE, false},
    {"5x131/1", {2, {5, 131}}, 1, true, WEFT_VALUES_UNIT, true},
    {"3x601x2/1", {3, {3, 601, 2}}, 1, false, WEFT_VALUES_UNIT, true},
};

#define ROW_COUNT WEFT_COUNT(rows)

static bool is_smallest(uint32_t index) {
    return index / ROW_COUNT != 0;
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s", is_smallest(index) ? "argmin" : "argmax",
             row->whole ? "i32" : weft_values_name(row->values), row->name);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    weft_array x = row->whole ? weft_case_indices(c, "x", row->x, INT32_MIN, INT32_MAX)
                              : weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_arg(c, x, row->axis, row->keep, is_smallest(index)));
}

WEFT_CASE_FAMILY(arg, 2 * ROW_COUNT, WEFT_TOLERANCE_BITS, name_case, build);
