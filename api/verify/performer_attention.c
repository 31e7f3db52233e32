/* SPDX-License-Identifier: MIT */
/* The Performer's attention with its stabilizers and without them. */
#include <stdio.h>

#include "verify/paired.h"

struct row {
    uint32_t batch, n, m; /* m 0: causal */
    uint32_t heads, width, values, features;
    bool unstabilized;
    float epsilon;
    weft_values kind;
};

static const struct row rows[] = {
    {1, 1, 0, 1, 1, 1, 1, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 2, 0, 1, 3, 2, 4, false, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, 16, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, 13, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 130, 0, 1, 16, 16, 65, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, 13, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 2, 6, 6, 8, true, 0.5F, WEFT_VALUES_UNIT},
    {1, 70, 0, 2, 6, 6, 8, false, 0.25F, WEFT_VALUES_UNIT},
    {1, 70, 0, 2, 6, 6, 8, false, 0.0F, WEFT_VALUES_ZEROS},
    {1, 70, 0, 2, 6, 6, 8, false, 0.0F, WEFT_VALUES_EQUAL},
    {1, 1, 1, 1, 1, 1, 1, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 7, 3, 1, 5, 3, 9, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 3, 7, 1, 5, 3, 9, false, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 256, 2, 8, 8, 16, false, 0.0F, WEFT_VALUES_UNIT},
    {3, 65, 257, 3, 7, 5, 13, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 129, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16, false, 0.125F, WEFT_VALUES_UNIT},
    {1, 33, 70, 2, 6, 6, 8, false, 0.0F, WEFT_VALUES_MIXED},
    {1, 33, 70, 2, 6, 6, 8, false, 0.0F, WEFT_VALUES_SUBNORMAL},
    {1, 33, 70, 2, 6, 6, 8, true, 0.0F, WEFT_VALUES_ZEROS},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s%s/n=%u%s,d=%u,dv=%u,s=%u,heads=%u,batch=%u",
             row->m == 0 ? "causal" : "full", weft_values_name(row->kind),
             row->unstabilized ? "-plain" : "",
             WEFT_CASE_PART(row->epsilon > 0.0F, "-epsilon=%g", (double)row->epsilon), row->n,
             WEFT_CASE_PART(row->m != 0, ",m=%u", row->m), row->heads * row->width,
             row->heads * row->values, row->features, row->heads, row->batch);
}

static void build(weft_case *c, const struct row *row) {
    uint32_t keys = row->m != 0 ? row->m : row->n;
    uint32_t d = row->heads * row->width;
    c->only_reproducible = row->kind == WEFT_VALUES_SUBNORMAL;
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, d), row->kind);
    weft_array k = weft_case_input(c, "k", weft_shape_of(row->batch, keys, d), row->kind);
    weft_array v = weft_case_input(
        c, "v", weft_shape_of(row->batch, keys, row->heads * row->values), row->kind);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), WEFT_VALUES_UNIT);
    weft_case_expect(c, "y",
                     weft_case_performer_attention(
                         c, q, k, v, w,
                         weft_performer_attention_params(.heads = row->heads, .causal = row->m == 0,
                                                         .unstabilized = row->unstabilized,
                                                         .epsilon = row->epsilon)));
}

WEFT_CASE_TABLE(performer_attention, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
