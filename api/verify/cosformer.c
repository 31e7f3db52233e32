/* SPDX-License-Identifier: MIT */
/* cosFormer, causal and not. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(cosformer, x[0], x[1], x[2])
WEFT_SHEET_STEP(cosformer, x[0], x[1], x[2])

static void define_cosformer(const weft_sequence *s) {
    const weft_cosformer_params *p = s->call->params;
    weft_reference_cosformer(s->ref, s->out, s->rows, &s->a, p->length, (double)p->epsilon);
}

static uint32_t state_size(const weft_sizes *s, const void *params) {
    (void)params;
    return weft_far_state_size(s, 2 * s->width);
}

enum { Q, K, V };

#define PARAMS(...) weft_cosformer_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

static const weft_use uses[] = {
    {.name = "cosFormer", .params = PARAMS(.length = 1 << 20)},
    {.name = "causal cosFormer", .params = PARAMS(.length = 1 << 20, .causal = true)},
};

static const weft_use steps[] = {
    {.name = "cosformer",
     .params = PARAMS(.length = 200, .causal = true, .epsilon = 1e-6F),
     .sizes = {2, 200, 2, 8, .values = 8}},
    {.name = "cosformer, longer",
     .params = PARAMS(.length = 1000, .causal = true, .epsilon = 1e-6F),
     .sizes = {1, 130, 3, 5, .values = 7}},
};

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 5, 8)},
    {MISMATCH, IS(AS(Q, 5, 6)), SAYS("[5, 6]", "[2, 7, 6]")},
    {MISMATCH, IS(AS(K, 2, 7, 8)), SAYS("[2, 5, 6]", "[2, 7, 8]")},
    {MISMATCH, IS(AS(V, 2, 5, 6)), SAYS("[2, 7, 6]", "[2, 5, 6]")},
    {MISMATCH, IS(AS_I32(V, 2, 7, 8)), SAYS("v must be f32")},
    {MISMATCH, WITH(.causal = true), SAYS("m = n")},
    {INVALID, IS(AS_UNKNOWN(K)), SAYS("99")},
    {INVALID, WITH(.heads = 3), SAYS("3 heads", "6 and 8")},
    {INVALID, WITH(.length = 6), SAYS("length 6", "7 tokens")},
    {INVALID, IS(AS(Q, 2, 7, 6), AS(K, 2, 5, 6), AS(V, 2, 5, 6)), WITH(.length = 6),
     SAYS("length 6", "7 tokens")},
    EPSILONS,
    {ACCEPTED, WITH(.length = 7)},
    /* Otherwise a sequence's weights would depend on the longest of its batch. */
    {INVALID, IS(AS_I32(WEFT_LENGTHS, 2)), WITH(.length = 0),
     SAYS("cosformer: with lengths, length must be given", "at least 7")},
};

const weft_sheet weft_sheet_cosformer = {
    WEFT_SHEET_ATTENTION(cosformer),
    .operands = {WEFT_OPERANDS_QKV},
    .grows_linearly = true,
    .define = define_cosformer,
    .step = step_cosformer,
    .state_size = state_size,
    WEFT_SHEET_USES(uses),
    WEFT_SHEET_STEPS(steps),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 6, .keys = 7, .values = 8},
    .usual = PARAMS(.length = 9), /* which lengths want */
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    uint32_t batch, n, m; /* m 0: causal */
    uint32_t heads, width, values;
    uint32_t length; /* M; 0: the longer of n and m */
    float epsilon;
    weft_values kind;
};

static const struct row rows[] = {
    /* causal: around the ends of chunks of 64 */
    {1, 1, 0, 1, 1, 1, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 2, 0, 1, 3, 2, 0, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 0, 2, 8, 8, 0, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 0, 2, 8, 8, 0, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 130, 0, 1, 64, 64, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 521, 0, 2, 12, 20, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 2, 8, 8, 98, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 2, 8, 8, 4096, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 2, 8, 8, UINT32_MAX, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 1, 131, 3, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 13, 2, 3, 0, 0.0F, WEFT_VALUES_TENS},
    {1, 100, 0, 2, 8, 8, 0, 0.0F, WEFT_VALUES_ZEROS},
    {1, 100, 0, 2, 8, 8, 0, 0.0F, WEFT_VALUES_EQUAL},
    {1, 100, 0, 2, 8, 8, 0, 20.0F, WEFT_VALUES_UNIT},
    {1, 100, 0, 1, 9, 4, 0, 0.0F, WEFT_VALUES_MIXED},
    /* bidirectional: around the ends of chunks of 256 keys and of 64 queries */
    {1, 1, 1, 1, 1, 1, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 7, 3, 1, 5, 3, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 3, 7, 1, 5, 3, 0, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 255, 2, 8, 8, 0, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 256, 2, 8, 8, 0, 0.0F, WEFT_VALUES_UNIT},
    {3, 65, 257, 3, 7, 5, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 257, 2, 1, 16, 1, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 513, 1, 64, 64, 0, 0.0F, WEFT_VALUES_UNIT},
    {1, 5, 1009, 2, 12, 20, 1010, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 97, 2, 8, 8, 1024, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 97, 2, 8, 8, UINT32_MAX, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 0, 0.0F, WEFT_VALUES_TENS},
    {1, 33, 300, 2, 8, 8, 0, 0.0F, WEFT_VALUES_ZEROS},
    {1, 33, 300, 2, 8, 8, 0, 100.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 0, 0.0F, WEFT_VALUES_EQUAL},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/n=%u%s%s,d=%u,dv=%u,heads=%u,batch=%u",
             row->m == 0 ? "causal" : "full", weft_values_name(row->kind),
             row->epsilon > 0.0F ? "-guarded" : "", row->n,
             WEFT_CASE_PART(row->m != 0, ",m=%u", row->m),
             WEFT_CASE_PART(row->length != 0, ",M=%u", row->length), row->heads * row->width,
             row->heads * row->values, row->heads, row->batch);
}

static void build(weft_case *c, const struct row *row) {
    weft_sheet_case(
        c, &weft_sheet_cosformer, 0,
        &(weft_sizes){row->batch, row->n, row->heads, row->width, row->m, .values = row->values},
        row->kind,
        weft_cosformer_params(.heads = row->heads, .causal = row->m == 0, .length = row->length,
                              .epsilon = row->epsilon));
}

WEFT_CASE_TABLE(cosformer, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
