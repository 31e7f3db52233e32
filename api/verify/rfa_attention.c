/* SPDX-License-Identifier: MIT */
/* RFA: random feature attention. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(rfa_attention, x[0], x[1], x[2], x[3])

static void define_rfa(const weft_sequence *s) {
    const weft_rfa_attention_params *p = s->call->params;
    weft_reference_rfa(s->ref, s->out, s->rows, &s->a, s->call->given, s->call->count,
                       (double)p->epsilon);
}

enum { Q, K, V, W };

#define PARAMS(...) weft_rfa_attention_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

static const weft_use uses[] = {{.name = "RFA", .sizes.rows = 40},
                                {.name = "causal RFA", WITH(.causal = true)}};

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 5, 8)},
    {MISMATCH, IS(AS(Q, 5, 6)), SAYS("q [5, 6]", "k [2, 7, 6]")},
    {MISMATCH, IS(AS(K, 2, 7, 8)), SAYS("q [2, 5, 6]", "k [2, 7, 8]")},
    {MISMATCH, IS(AS(V, 2, 5, 6)), SAYS("k [2, 7, 6]", "v [2, 5, 6]")},
    {MISMATCH, IS(AS(W, 2, 7, 8)), SAYS("w [2, 7, 8]")},
    {MISMATCH, IS(AS_I32(V, 2, 7, 8)), SAYS("v must be f32")},
    {MISMATCH, WITH(.heads = 2), SAYS("w [9, 6]", "[s, 3]", "2 heads")},
    {MISMATCH, WITH(.causal = true), SAYS("m = n")},
    {INVALID, WITH(.heads = 3), SAYS("3 heads", "6 and 8")},
    EPSILONS,
    {INVALID, IS(AS_UNKNOWN(W)), SAYS("99")},
};

const weft_sheet weft_sheet_rfa_attention = {
    WEFT_SHEET_ATTENTION(rfa_attention),
    .operands = {WEFT_OPERANDS_QKV, WEFT_OPERAND_W},
    .lengths_of = "linear_attention",
    .grows_linearly = true,
    .define = define_rfa,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 6, .keys = 7, .values = 8, .rows = 9},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

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
    weft_sheet_case(c, &weft_sheet_rfa_attention, 0,
                    &(weft_sizes){row->batch, row->n, row->heads, row->width, row->m, row->values,
                                  .rows = row->features},
                    row->kind,
                    PARAMS(.heads = row->heads, .causal = row->m == 0, .epsilon = row->epsilon));
}

WEFT_CASE_TABLE(rfa_attention, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
