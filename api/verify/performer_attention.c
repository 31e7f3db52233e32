/* SPDX-License-Identifier: MIT */
/* The Performer's attention with its stabilizers and without them. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(performer_attention, x[0], x[1], x[2], x[3])

static void define_performer(const weft_sequence *s) {
    const weft_performer_attention_params *p = s->call->params;
    const float usual = p->unstabilized ? 0.0F : 1e-6F;
    weft_reference_performer(s->ref, s->out, s->rows, &s->a,
                             &(weft_reference_performer_params){
                                 .w = s->call->given,
                                 .count = s->call->count,
                                 .unstabilized = p->unstabilized,
                                 .epsilon = (double)(p->epsilon > 0.0F ? p->epsilon : usual)});
}

enum { Q, K, V, W };

#define PARAMS(...) weft_performer_attention_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

/* The stabilizer of keys is of all of them, so that epsilon's share of earlier tokens may change. */
static const weft_use uses[] = {
    {.name = "Performer", .sizes.rows = 40},
    {.name = "Performer without stabilizers", WITH(.unstabilized = true), .sizes.rows = 40},
    {.name = "causal Performer", WITH(.causal = true), .tolerance = 1e-4F},
    {.name = "causal Performer without stabilizers", WITH(.causal = true, .unstabilized = true)},
};

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true},
    {MISMATCH, IS(AS(W, 2, 5, 6)), SAYS("w [2, 5, 6]")},
    {MISMATCH, IS(AS(V, 2, 5, 6)), SAYS("v [2, 5, 6]")},
    {MISMATCH, WITH(.heads = 2), SAYS("w [9, 6]", "[s, 3]", "2 heads")},
    {MISMATCH, WITH(.causal = true), SAYS("k = n")},
    {INVALID, WITH(.heads = 4), SAYS("4 heads", "6 channels")},
    EPSILONS,
};

const weft_sheet weft_sheet_performer_attention = {
    WEFT_SHEET_ATTENTION(performer_attention),
    .operands = {WEFT_OPERANDS_QKV, WEFT_OPERAND_W},
    .lengths_of = "random_features",
    .grows_linearly = true,
    .define = define_performer,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 6, .keys = 7, .values = 8, .rows = 9},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

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
    c->only_reproducible = row->kind == WEFT_VALUES_SUBNORMAL;
    weft_sheet_case(c, &weft_sheet_performer_attention, 0,
                    &(weft_sizes){row->batch, row->n, row->heads, row->width, row->m, row->values,
                                  .rows = row->features},
                    row->kind,
                    PARAMS(.heads = row->heads, .causal = row->m == 0,
                           .unstabilized = row->unstabilized, .epsilon = row->epsilon));
}

WEFT_CASE_TABLE(performer_attention, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
