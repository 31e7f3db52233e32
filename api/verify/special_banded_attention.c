/* SPDX-License-Identifier: MIT */
/* Banded attention where the range of float32 ends; what lies outside a band must not matter. */
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/sheet.h"

static const struct row {
    uint32_t n, d, heads, half_width;
    bool causal;
    weft_values q, k, v;
} rows[] = {
    {37, 12, 3, 9, false, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {41, 8, 2, 20, false, WEFT_VALUES_TINY, WEFT_VALUES_TINY, WEFT_VALUES_TINY},
    {41, 8, 2, 20, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_TINY},
    {37, 8, 2, 18, false, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {50, 8, 2, 49, false, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE},
    {50, 8, 2, 20, true, WEFT_VALUES_TENS, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE},
    {67, 4, 2, 3, false, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT},
    {67, 4, 2, 2, false, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
    {67, 4, 2, 5, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
    {67, 4, 2, 3, false, WEFT_VALUES_NAN, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {67, 4, 2, 2, true, WEFT_VALUES_UNIT, WEFT_VALUES_NAN, WEFT_VALUES_UNIT},
    {67, 4, 2, 2, false, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_NAN},
    {67, 3, 3, 1, false, WEFT_VALUES_EQUAL, WEFT_VALUES_MASKED, WEFT_VALUES_UNIT}, /* -inf alone */
    {67, 3, 3, 17, true, WEFT_VALUES_EQUAL, WEFT_VALUES_MASKED, WEFT_VALUES_UNIT},
};

#define ROWS WEFT_COUNT(rows)

static const char *const implementations[] = {"direct", "tiled"};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s,%s,%s/n=%u,d=%u,heads=%u,k=%u",
             implementations[index / ROWS], row->causal ? "causal/" : "", weft_values_name(row->q),
             weft_values_name(row->k), weft_values_name(row->v), row->n, row->d, row->heads,
             row->half_width);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    weft_shape shape = weft_shape_of(1, row->n, row->d);
    c->implementation = implementations[index / ROWS];
    c->seed = index % ROWS; /* the same input for both */
    weft_array arrays[3];
    arrays[0] = weft_case_input(c, "q", shape, row->q);
    arrays[1] = weft_case_input(c, "k", shape, row->k);
    arrays[2] = weft_case_input(c, "v", shape, row->v);
    weft_case_expect(
        c, "y",
        WEFT_MIX(c, banded_attention,
                 weft_banded_attention_params(.heads = row->heads, .causal = row->causal,
                                              .half_width = row->half_width),
                 arrays[0], arrays[1], arrays[2]));
    weft_bounded_expect_attention(c, arrays,
                                  &(weft_bounded_band){.n = row->n,
                                                       .m = row->n,
                                                       .d = row->d,
                                                       .heads = row->heads,
                                                       .banded = true,
                                                       .causal = row->causal,
                                                       .half_width = row->half_width});
}

WEFT_SPECIAL_FAMILY(banded_attention, ROWS *WEFT_COUNT(implementations), WEFT_TOLERANCE_EXPONENTIAL,
                    name_case, build);
