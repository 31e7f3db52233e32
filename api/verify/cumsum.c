/* SPDX-License-Identifier: MIT */
/* Cumulative sums, of f32 and of i32. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    const char *name;
    weft_shape x;
    uint32_t axis;
    bool whole; /* i32 */
} rows[] = {
    {"37x31/1", {2, {37, 31}}, 1, false},      {"3x128x5/1", {3, {3, 128, 5}}, 1, false},
    {"3x129x5/1", {3, {3, 129, 5}}, 1, false}, {"601x3/0", {2, {601, 3}}, 0, false},
    {"9000/0", {1, {9000}}, 0, false},         {"2x1x7/1", {3, {2, 1, 7}}, 1, false},
    {"5x131/1", {2, {5, 131}}, 1, true},       {"2x8300x3/1", {3, {2, 8300, 3}}, 1, true},
};

#define ROW_COUNT WEFT_COUNT(rows)

static bool is_exclusive(uint32_t index) {
    return (index / ROW_COUNT & 1) != 0;
}

static bool is_reverse(uint32_t index) {
    return (index / ROW_COUNT & 2) != 0;
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s%s", row->whole ? "i32" : "f32", row->name,
             is_exclusive(index) ? ",exclusive" : "", is_reverse(index) ? ",reverse" : "");
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    weft_array x = row->whole ? weft_case_indices(c, "x", row->x, INT32_MIN / 64, INT32_MAX / 8)
                              : weft_case_input(c, "x", row->x, WEFT_VALUES_UNIT);
    weft_case_expect(c, "y",
                     weft_case_cumsum(c, x, row->axis, is_exclusive(index), is_reverse(index)));
}

WEFT_CASE_FAMILY(cumsum, 4 * ROW_COUNT, WEFT_TOLERANCE_LINEAR, name_case, build);
