/* SPDX-License-Identifier: MIT */
/* Reductions over axes, of f32 and of i32, with and without lengths. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    const char *name;
    weft_shape x;
    weft_reduce_params params; /* without lengths */
    weft_values values;
    bool whole;   /* i32 */
    bool lengths; /* of axis 1 */
} rows[] = {
    {"37x31/1", {2, {37, 31}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_UNIT, false, false},
    {"5x1021/1", {2, {5, 1021}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_TENS, false, false},
    {"131x64/1", {2, {131, 64}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_UNIT, false, false},
    {"1x4099/all", {2, {1, 4099}}, {.keep_axes = true}, WEFT_VALUES_UNIT, false, false},
    {"3x67x5/1", {3, {3, 67, 5}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_UNIT, false, false},
    {"601x3/0",
     {2, {601, 3}},
     {.axes = {0}, .axis_count = 1, .keep_axes = true},
     WEFT_VALUES_UNIT,
     false,
     false},
    {"2x3x5x7/1,3",
     {4, {2, 3, 5, 7}},
     {.axes = {3, 1}, .axis_count = 2},
     WEFT_VALUES_UNIT,
     false,
     false},
    {"2x3x5x129/0,2,3",
     {4, {2, 3, 5, 129}},
     {.axes = {0, 2, 3}, .axis_count = 3, .keep_axes = true},
     WEFT_VALUES_UNIT,
     false,
     false},
    {"7x1x3/1", {3, {7, 1, 3}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_UNIT, false, false},
    {"scalar/all", {0}, {.axis_count = 0}, WEFT_VALUES_UNIT, false, false},
    {"2x33000/1", {2, {2, 33000}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_UNIT, false, false},
    {"3x7x5/lengths,1",
     {3, {3, 7, 5}},
     {.axes = {1}, .axis_count = 1},
     WEFT_VALUES_UNIT,
     false,
     true},
    {"3x67x9/lengths,1,2",
     {3, {3, 67, 9}},
     {.axes = {1, 2}, .axis_count = 2},
     WEFT_VALUES_UNIT,
     false,
     true},
    {"2x13x3x5/lengths,1,3",
     {4, {2, 13, 3, 5}},
     {.axes = {1, 3}, .axis_count = 2, .keep_axes = true},
     WEFT_VALUES_UNIT,
     false,
     true},
    {"5x131/1", {2, {5, 131}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_NAN, false, false},
    {"67x61/0", {2, {67, 61}}, {.axes = {0}, .axis_count = 1}, WEFT_VALUES_NAN, false, false},
    {"9x61/1", {2, {9, 61}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_INFINITE, false, false},
    {"7x129/1", {2, {7, 129}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_MASKED, false, false},
    {"37x31/1", {2, {37, 31}}, {.axes = {1}, .axis_count = 1}, WEFT_VALUES_UNIT, true, false},
    {"7x601x2/0,1",
     {3, {7, 601, 2}},
     {.axes = {0, 1}, .axis_count = 2},
     WEFT_VALUES_UNIT,
     true,
     false},
    {"3x7x5/lengths,1",
     {3, {3, 7, 5}},
     {.axes = {1}, .axis_count = 1},
     WEFT_VALUES_UNIT,
     true,
     true},
};

#define ROW_COUNT WEFT_COUNT(rows)

static weft_reduction op_of(uint32_t index) {
    return (weft_reduction)(index / ROW_COUNT);
}

/* i32 has no mean: the row is a sum again, of what f32 has. */
static bool is_whole(uint32_t index) {
    return rows[index % ROW_COUNT].whole && op_of(index) != WEFT_REDUCTION_MEAN;
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s%s", weft_reduction_name(op_of(index)),
             is_whole(index) ? "i32" : weft_values_name(row->values), row->name,
             row->whole && !is_whole(index) ? ",again" : "");
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    weft_array x = is_whole(index) ? weft_case_indices(c, "x", row->x, -40000, 40000)
                                   : weft_case_input(c, "x", row->x, row->values);
    weft_reduce_params params = row->params;
    c->only_reproducible = row->values > WEFT_VALUES_IMPULSE;
    if (row->lengths) {
        const weft_shape batch = {.rank = 1, .dim = {row->x.dim[0]}};
        params.lengths = weft_case_indices(c, "lengths", batch, 1, (int32_t)row->x.dim[1]).tensor;
    }
    weft_case_expect(c, "y", weft_case_reduce(c, op_of(index), x, &params));
}

WEFT_CASE_FAMILY(reduce, ROW_COUNT *WEFT_REDUCTION_COUNT, WEFT_TOLERANCE_LINEAR, name_case, build);
