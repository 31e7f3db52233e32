/* SPDX-License-Identifier: MIT */
/* Functions of one element, of f32 and of i32. */
#include "verify/unary.h"

#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape x;
    weft_values values;
} rows[] = {
    {{3, {2, 37, 31}}, WEFT_VALUES_TENS},
    {{2, {129, 5}}, WEFT_VALUES_UNIT},
    {{4, {2, 3, 5, 17}}, WEFT_VALUES_SMALL},
    {{1, {1}}, WEFT_VALUES_UNIT},
};

static const weft_unary whole[] = {WEFT_UNARY_NEG,         WEFT_UNARY_ABS,
                                   WEFT_UNARY_SIGN,        WEFT_UNARY_SQUARE,
                                   WEFT_UNARY_LOGICAL_NOT, WEFT_UNARY_BITWISE_NOT};

#define ROW_COUNT WEFT_COUNT(rows)

enum { FLOATS = ROW_COUNT * WEFT_UNARY_FLOATS };

static weft_unary op_of(uint32_t index) {
    return index < FLOATS ? (weft_unary)(index / ROW_COUNT) : whole[(index - FLOATS) / ROW_COUNT];
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/rank=%u,elements=%u", weft_unary_name(op_of(index)),
             index < FLOATS ? weft_values_name(row->values) : "i32", row->x.rank,
             (uint32_t)weft_shape_elements(row->x));
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    const weft_unary op = op_of(index);
    if (index >= FLOATS) {
        const int32_t most = op == WEFT_UNARY_LOGICAL_NOT ? 1 : INT32_MAX;
        weft_array x = weft_case_indices(c, "x", row->x, -most - 1, most);
        weft_case_expect(c, "y", weft_case_unary(c, op, x, 0.0F, 0.0F));
        return;
    }
    const float *parameters = weft_unary_parameters[op];
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_unary(c, op, x, parameters[0], parameters[1]));
}

WEFT_CASE_FAMILY(unary, FLOATS + ROW_COUNT * WEFT_COUNT(whole), WEFT_TOLERANCE_EXPONENTIAL,
                 name_case, build);
