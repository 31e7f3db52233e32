/* SPDX-License-Identifier: MIT */
/* RFA: random feature attention. */
#include <stdio.h>

#include "verify/paired.h"

struct row {
    uint32_t batch, n, m; /* m 0: causal */
    uint32_t heads, width, values, features;
    float epsilon; /* 0: the default */
    weft_values kind;
};

static const struct row rows[] = {
    {1, 1, 0, 1, 1, 1, 1, 0.0F, WEFT_VALUES_UNIT},
    {1, 2, 0, 1, 3, 2, 5, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 0, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 0, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, 9, 0.0F, WEFT_VALUES_UNIT},
    {1, 130, 0, 1, 64, 64, 64, 0.0F, WEFT_VALUES_UNIT},
    {1, 521, 0, 1, 12, 20, 8, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 1, 131, 3, 129, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 13, 2, 3, 6, 0.0F, WEFT_VALUES_TENS},
    {1, 70, 0, 2, 1, 3, 6, 0.0F, WEFT_VALUES_ZEROS},
    {1, 100, 0, 2, 8, 8, 16, 0.0F, WEFT_VALUES_EQUAL},
    {1, 100, 0, 2, 8, 8, 16, 40.0F, WEFT_VALUES_UNIT},
    {1, 100, 0, 1, 9, 4, 16, 0.0F, WEFT_VALUES_MIXED},
    {1, 100, 0, 1, 8, 8, 16, 0.0F, WEFT_VALUES_SMALL},
    {1, 1, 1, 1, 1, 1, 1, 0.0F, WEFT_VALUES_UNIT},
    {1, 7, 3, 1, 5, 3, 8, 0.0F, WEFT_VALUES_UNIT},
    {1, 3, 7, 1, 5, 3, 8, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 255, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 256, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {3, 65, 257, 3, 7, 5, 9, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 513, 1, 64, 64, 64, 0.0F, WEFT_VALUES_UNIT},
    {1, 5, 1009, 2, 12, 20, 8, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16, 0.0F, WEFT_VALUES_TENS},
    {1, 33, 300, 2, 1, 8, 16, 0.0F, WEFT_VALUES_ZEROS},
    {1, 33, 300, 2, 8, 8, 16, 1000.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16, 0.0F, WEFT_VALUES_LARGE},
    {1, 33, 300, 2, 8, 8, 257, 0.0F, WEFT_VALUES_UNIT},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/n=%u%s,d=%u,dv=%u,s=%u,heads=%u,batch=%u",
             row->m == 0 ? "causal" : "full", weft_values_name(row->kind),
             row->epsilon > 0.0F ? "-guarded" : "", row->n,
             WEFT_CASE_PART(row->m != 0, ",m=%u", row->m), row->heads * row->width,
             row->heads * row->values, row->features, row->heads, row->batch);
}

static void build(weft_case *c, const struct row *row) {
    uint32_t keys = row->m != 0 ? row->m : row->n;
    uint32_t d = row->heads * row->width;
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, d), row->kind);
    weft_array k = weft_case_input(c, "k", weft_shape_of(row->batch, keys, d), row->kind);
    weft_array v = weft_case_input(
        c, "v", weft_shape_of(row->batch, keys, row->heads * row->values), row->kind);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), WEFT_VALUES_UNIT);
    weft_case_expect(c, "y",
                     weft_case_rfa_attention(c, q, k, v, w,
                                             weft_rfa_attention_params(.heads = row->heads,
                                                                       .causal = row->m == 0,
                                                                       .epsilon = row->epsilon)));
}

WEFT_CASE_TABLE(rfa_attention, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
