/* SPDX-License-Identifier: MIT */
/* Choices between two tensors, with NumPy's broadcasting: a copy, so that every bit must be there. */
#include <stdio.h>
#include <string.h>

#include "verify/paired.h"

static const struct row {
    const char *name;
    weft_shape condition, a, b;
    weft_values values;
    bool whole; /* i32 */
} rows[] = {
    {"37x31", {2, {37, 31}}, {2, {37, 31}}, {2, {37, 31}}, WEFT_VALUES_UNIT, false},
    {"2x5x1,5x7,scalar", {3, {2, 5, 1}}, {2, {5, 7}}, {0}, WEFT_VALUES_MIXED, false},
    {"scalar,129,3x1", {0}, {1, {129}}, {2, {3, 1}}, WEFT_VALUES_ZEROS, false},
    {"1x67x67,2x67x67,scalar",
     {3, {1, 67, 67}},
     {3, {2, 67, 67}},
     {0},
     WEFT_VALUES_SUBNORMAL,
     false},
    {"131,scalar,scalar", {1, {131}}, {0}, {0}, WEFT_VALUES_UNIT, true},
    {"3x1x5,4x1,2x1x1x1", {3, {3, 1, 5}}, {2, {4, 1}}, {4, {2, 1, 1, 1}}, WEFT_VALUES_UNIT, true},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s", row->whole ? "i32" : weft_values_name(row->values),
             row->name);
}

static weft_array operand(weft_case *c, const struct row *row, const char *name, weft_shape shape) {
    return row->whole ? weft_case_indices(c, name, shape, -7, 1000)
                      : weft_case_input(c, name, shape, row->values);
}

static void build(weft_case *c, const struct row *row) {
    weft_array condition = weft_case_indices(c, "condition", row->condition, -1, 1);
    weft_array a = operand(c, row, "a", row->a);
    weft_array b = operand(c, row, "b", row->b);
    weft_array y = weft_case_where(c, condition, a, b);
    weft_case_expect(c, "y", y);
    if (row->whole) {
        return; /* its values say what its words are */
    }
    const uint64_t count = weft_shape_elements(y.shape);
    uint32_t *words = weft_reference_memory(&c->ref, count, sizeof *words);
    for (uint64_t i = 0; words && c->ref.status == WEFT_OK && i < count; i++) {
        const uint64_t at = weft_reference_place(y.shape, condition.shape, i);
        const weft_array *from = condition.value[at] != 0.0 ? &a : &b;
        memcpy(&words[i],
               (const uint8_t *)from->data + 4 * weft_reference_place(y.shape, from->shape, i),
               sizeof *words);
    }
    weft_case_expect_words(c, words);
}

WEFT_CASE_TABLE(where, rows, WEFT_TOLERANCE_BITS, name_case, build);
