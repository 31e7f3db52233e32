/* SPDX-License-Identifier: MIT */
/* Operators with NumPy's broadcasting, of f32 and of i32. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    const char *name;
    weft_shape a, b;
} rows[] = {
    {"37x31,31", {2, {37, 31}}, {1, {31}}},
    {"31,37x31", {1, {31}}, {2, {37, 31}}},
    {"scalar,129x3", {0}, {2, {129, 3}}},
    {"scalar,scalar", {0}, {0}},
    {"2x5x1,1x5x7", {3, {2, 5, 1}}, {3, {1, 5, 7}}},
    {"131x1,1x67", {2, {131, 1}}, {2, {1, 67}}},
    {"3x1x5x1x7,2x1x4x1", {5, {3, 1, 5, 1, 7}}, {4, {2, 1, 4, 1}}},
    {"2x1x2x1x2x1x2x1,1x3x1x2x1x3x1x2",
     {8, {2, 1, 2, 1, 2, 1, 2, 1}},
     {8, {1, 3, 1, 2, 1, 3, 1, 2}}},
    {"1x1x4,3x1x1", {3, {1, 1, 4}}, {3, {3, 1, 1}}},
};

#define ROW_COUNT WEFT_COUNT(rows)

/* f32 has the operators up to the comparisons. */
enum { FLOATS = ROW_COUNT * WEFT_BINARY_LOGICAL_AND };

static bool is_whole(uint32_t index) {
    return index >= FLOATS;
}

static weft_binary op_of(uint32_t index) {
    return (weft_binary)(index % FLOATS / ROW_COUNT);
}

static weft_binary whole_op_of(uint32_t index) {
    return (weft_binary)((index - FLOATS) / ROW_COUNT);
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const bool whole = is_whole(index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s",
             weft_binary_name(whole ? whole_op_of(index) : op_of(index)), whole ? "i32" : "f32",
             rows[index % ROW_COUNT].name);
}

/* Small numbers, so that many are equal and many 0; large ones for what wraps around. */
static weft_array whole_input(weft_case *c, const char *name, weft_shape shape, weft_binary op) {
    const bool small = op >= WEFT_BINARY_EQUAL || op == WEFT_BINARY_POWER;
    const bool bits = op >= WEFT_BINARY_BITWISE_AND;
    const int32_t most = bits ? INT32_MAX : small ? 3 : name[0] == 'a' ? INT32_MAX : 70000;
    return weft_case_indices(c, name, shape, -most - 1, most);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    if (is_whole(index)) {
        const weft_binary op = whole_op_of(index);
        weft_array a = whole_input(c, "a", row->a, op);
        weft_array b = whole_input(c, "b", row->b, op);
        weft_case_expect(c, "y", weft_case_binary(c, op, a, b));
        return;
    }
    c->tolerance = op_of(index) == WEFT_BINARY_POWER ? WEFT_TOLERANCE_EXPONENTIAL : c->tolerance;
    weft_array a = weft_case_input(c, "a", row->a, WEFT_VALUES_TENS);
    weft_array b = weft_case_input(c, "b", row->b, WEFT_VALUES_UNIT);
    weft_case_expect(c, "y", weft_case_binary(c, op_of(index), a, b));
}

WEFT_CASE_FAMILY(broadcast, FLOATS + ROW_COUNT * WEFT_BINARY_COUNT, WEFT_TOLERANCE_LINEAR,
                 name_case, build);
