/* SPDX-License-Identifier: MIT */
/* Activation functions. */
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    weft_shape x;
    weft_values values;
} rows[] = {
    {{3, {2, 37, 31}}, WEFT_VALUES_TENS}, {{2, {129, 5}}, WEFT_VALUES_UNIT},
    {{1, {1021}}, WEFT_VALUES_SMALL},     {{4, {2, 3, 5, 17}}, WEFT_VALUES_MIXED},
    {{1, {257}}, WEFT_VALUES_ZEROS},
};

#define ROW_COUNT WEFT_COUNT(rows)

static weft_activation activation_of(uint32_t index) {
    return (weft_activation)(index / ROW_COUNT);
}

/* exp overflows where MIXED goes. */
static weft_values values_of(uint32_t index) {
    weft_activation activation = activation_of(index);
    bool grows = activation == WEFT_ACTIVATION_EXP;
    weft_values values = rows[index % ROW_COUNT].values;
    return grows && values == WEFT_VALUES_MIXED ? WEFT_VALUES_TENS : values;
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/rank=%u,elements=%u",
             weft_activation_name(activation_of(index)), weft_values_name(values_of(index)),
             row->x.rank, (uint32_t)weft_shape_elements(row->x));
}

static void build(weft_case *c, uint32_t index) {
    weft_activation activation = activation_of(index);
    weft_shape shape = rows[index % ROW_COUNT].x;
    weft_array x = weft_case_input(c, "x", shape, values_of(index));
    weft_case_expect(c, "y", weft_case_activate(c, x, activation));
}

WEFT_CASE_FAMILY(activation, ROW_COUNT *WEFT_ACTIVATION_COUNT, WEFT_TOLERANCE_EXPONENTIAL,
                 name_case, build);
