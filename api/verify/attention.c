/* SPDX-License-Identifier: MIT */
/* Softmax attention, head by head. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(attention, x[0], x[1], x[2])
WEFT_SHEET_MIX(attention, x[0], x[1], x[2])

enum { Q, K, V, BIAS };

#define WITH(...) .params = weft_attention_params(__VA_ARGS__)

static const weft_use uses[] = {{.name = "attention"}};

static const weft_trial trials[] = {
    {MISMATCH, IS(AS(BIAS, 5)), WITH(.heads = 4), SAYS("attention: bias must be", "[4, 5, 5]")},
    /* of sequences, not of heads */
    {MISMATCH, IS(AS(BIAS, 2, 5, 5)), WITH(.heads = 4),
     SAYS("attention: bias must be", "[4, 5, 5]")},
    {MISMATCH, IS(AS(BIAS, 4, 5, 6)), WITH(.heads = 4),
     SAYS("attention: bias must be", "[4, 5, 5]")},
    {MISMATCH, IS(AS_I32(BIAS, 5, 5)), WITH(.heads = 4), SAYS("attention: bias must be", "f32")},
};

const weft_sheet weft_sheet_attention = {
    WEFT_SHEET_OP(attention),
    WEFT_SHEET_HEADS(weft_attention_params),
    WEFT_SHEET_LENGTHS(weft_attention_params),
    .operands = {WEFT_OPERANDS_QKV,
                 {"bias",
                  {WEFT_AXIS_TOKENS, WEFT_AXIS_KEYS},
                  .field = WEFT_SHEET_FIELD(weft_attention_params, bias),
                  .is_optional = true}},
    .mix = mix_attention,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 8},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    uint32_t batch, n, m, d, heads;
    float scale; /* 0: the usual 1/sqrt(d/heads) */
    weft_values values;
    uint32_t bias_rank; /* 0: no bias */
};

static const struct row rows[] = {
    {1, 1, 1, 1, 1, 0.0F, WEFT_VALUES_UNIT, 0},
    {1, 7, 7, 8, 2, 0.0F, WEFT_VALUES_UNIT, 0},
    {2, 37, 37, 64, 4, 0.0F, WEFT_VALUES_UNIT, 0},
    {3, 64, 64, 32, 8, 0.0F, WEFT_VALUES_UNIT, 0},
    {1, 129, 129, 48, 3, 0.0F, WEFT_VALUES_UNIT, 0},
    {2, 5, 97, 12, 3, 0.0F, WEFT_VALUES_UNIT, 0},
    {2, 97, 5, 12, 3, 0.0F, WEFT_VALUES_UNIT, 0},
    {1, 100, 31, 40, 5, 0.0F, WEFT_VALUES_UNIT, 0},
    {1, 257, 257, 16, 1, 0.0F, WEFT_VALUES_UNIT, 0},
    {2, 33, 65, 127, 1, 0.0F, WEFT_VALUES_UNIT, 0},
    {2, 128, 128, 128, 2, 0.0F, WEFT_VALUES_UNIT, 0},
    {1, 31, 31, 7, 7, 0.0F, WEFT_VALUES_UNIT, 0},
    {2, 19, 1, 20, 4, 0.0F, WEFT_VALUES_UNIT, 0},
    {2, 1, 130, 20, 4, 0.0F, WEFT_VALUES_UNIT, 0},
    {1, 37, 37, 24, 2, 0.75F, WEFT_VALUES_UNIT, 0},
    {1, 36, 40, 24, 2, -0.5F, WEFT_VALUES_UNIT, 0},
    {1, 37, 41, 24, 2, 0.0F, WEFT_VALUES_MIXED, 0},
    {1, 37, 41, 24, 2, 0.0F, WEFT_VALUES_SMALL, 0},
    {2, 37, 41, 24, 2, 0.0F, WEFT_VALUES_ZEROS, 0},
    {2, 37, 41, 24, 2, 0.0F, WEFT_VALUES_EQUAL, 0},
    {1, 65, 67, 33, 3, 0.0F, WEFT_VALUES_TENS, 0},
    {2, 37, 41, 24, 3, 0.0F, WEFT_VALUES_UNIT, 2},
    {2, 5, 97, 12, 3, 0.0F, WEFT_VALUES_UNIT, 3},
    {2, 67, 31, 24, 2, 0.75F, WEFT_VALUES_UNIT, 4},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/n=%u,m=%u,d=%u,heads=%u,batch=%u%s%s",
             weft_values_name(row->values), row->n, row->m, row->d, row->heads, row->batch,
             WEFT_CASE_PART(row->scale != 0.0F, ",scale=%g", (double)row->scale),
             WEFT_CASE_PART(row->bias_rank != 0, ",bias=%u", row->bias_rank));
}

static void build(weft_case *c, const struct row *row) {
    weft_shape keys = weft_shape_of(row->batch, row->m, row->d);
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_array k = weft_case_input(c, "k", keys, row->values);
    weft_array v = weft_case_input(c, "v", keys, row->values);
    weft_attention_params params = {.heads = row->heads, .scale = row->scale};
    if (row->bias_rank != 0) {
        const weft_shape shapes[] = {weft_shape_of(row->n, row->m),
                                     weft_shape_of(row->heads, row->n, row->m),
                                     weft_shape_of(row->batch, row->heads, row->n, row->m)};
        params.bias =
            weft_case_input(c, "bias", shapes[row->bias_rank - 2], WEFT_VALUES_TENS).tensor;
    }
    weft_case_expect(c, "y", weft_case_attention(c, q, k, v, &params));
}

WEFT_CASE_TABLE(attention, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
