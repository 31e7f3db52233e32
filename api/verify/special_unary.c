/* SPDX-License-Identifier: MIT */
/* Functions of one element where the range of float32 ends. */
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/paired.h"
#include "verify/unary.h"

static const struct row {
    weft_shape x;
    weft_values values;
} rows[] = {
    {{2, {2, WEFT_EDGE_COUNT}}, WEFT_VALUES_EDGES},
    {{1, {300}}, WEFT_VALUES_TINY},
    {{1, {301}}, WEFT_VALUES_HUGE},
    {{2, {61, 5}}, WEFT_VALUES_NAN},
};

#define ROW_COUNT WEFT_COUNT(rows)

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/elements=%u",
             weft_unary_name((weft_unary)(index / ROW_COUNT)), weft_values_name(row->values),
             (uint32_t)weft_shape_elements(row->x));
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    const weft_unary op = (weft_unary)(index / ROW_COUNT);
    const float *parameters = weft_unary_parameters[op];
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_unary(c, op, x, parameters[0], parameters[1]));
    const uint64_t count = weft_shape_elements(row->x);
    weft_bounded *expected = weft_bounded_scratch(c, count);
    for (uint64_t i = 0; expected && i < count; i++) {
        expected[i] =
            weft_bounded_unary(op, x.value[i], (double)parameters[0], (double)parameters[1]);
    }
    weft_bounded_expect(c, expected);
}

WEFT_SPECIAL_FAMILY(unary, ROW_COUNT *WEFT_UNARY_FLOATS, WEFT_TOLERANCE_EXPONENTIAL, name_case,
                    build);
