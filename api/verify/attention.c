/* SPDX-License-Identifier: MIT */
/* Softmax attention, head by head. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(attention, x[0], x[1], x[2])
WEFT_SHEET_MIX(attention, x[0], x[1], x[2])

enum { Q, K, V, BIAS, SINKS };

#define WITH(...) .params = weft_attention_params(__VA_ARGS__)

static const weft_use uses[] = {
    {.name = "attention"},
    {.name = "causal attention", .params = weft_attention_params(.causal = true)},
    {.name = "causal attention with sinks",
     .params = weft_attention_params(.causal = true),
     .with = 1 << SINKS},
};

static const weft_trial trials[] = {
    {MISMATCH, IS(AS(BIAS, 5)), WITH(.heads = 4), SAYS("attention: bias must be", "[4, 5, 5]")},
    /* of sequences, not of heads */
    {MISMATCH, IS(AS(BIAS, 2, 5, 5)), WITH(.heads = 4),
     SAYS("attention: bias must be", "[4, 5, 5]")},
    {MISMATCH, IS(AS(BIAS, 4, 5, 6)), WITH(.heads = 4),
     SAYS("attention: bias must be", "[4, 5, 5]")},
    {MISMATCH, IS(AS_I32(BIAS, 5, 5)), WITH(.heads = 4), SAYS("attention: bias must be", "f32")},
    {INVALID, WITH(.heads = 4, .kv_heads = 3), SAYS("kv_heads 3", "1 … 4", "4 heads")},
    {INVALID, WITH(.heads = 2, .kv_heads = 4), SAYS("kv_heads 4", "1 … 2", "2 heads")},
    {MISMATCH, WITH(.heads = 4, .kv_heads = 2),
     SAYS("[2, 5, 8]", "k and v with 2 heads for the 4 of q")},
    {MISMATCH, IS(AS(K, 2, 5, 4)), WITH(.heads = 4, .kv_heads = 2), SAYS("v [2, 5, 8]")},
    {ACCEPTED, IS(AS(K, 2, 5, 4), AS(V, 2, 5, 4)), WITH(.heads = 4, .kv_heads = 2), GIVES(2, 5, 8)},
    {MISMATCH, IS(AS(K, 2, 6, 8), AS(V, 2, 6, 8)), WITH(.causal = true),
     SAYS("k [2, 6, 8]", "[B, n, d], all of them")},
    {ACCEPTED, IS(AS(K, 2, 6, 8), AS(V, 2, 6, 8)), GIVES(2, 5, 8)},
    {MISMATCH, IS(AS(SINKS, 2)), WITH(.heads = 4, .causal = true),
     SAYS("attention: sinks must be [4]", "[2]")},
    {UNSUPPORTED, IS(AS(SINKS, 4)), WITH(.heads = 4), SAYS("sinks", "causal")},
    {UNSUPPORTED, IS(AS(SINKS, 4), AS(BIAS, 5, 5)), WITH(.heads = 4, .causal = true),
     SAYS("sinks", "without a bias")},
};

const weft_sheet weft_sheet_attention = {
    WEFT_SHEET_OP(attention),
    WEFT_SHEET_HEADS(weft_attention_params),
    WEFT_SHEET_KV_HEADS(weft_attention_params),
    WEFT_SHEET_CAUSAL(weft_attention_params),
    WEFT_SHEET_LENGTHS(weft_attention_params),
    .operands = {WEFT_OPERANDS_QKV,
                 {"bias",
                  {WEFT_AXIS_TOKENS, WEFT_AXIS_KEYS},
                  .field = WEFT_SHEET_FIELD(weft_attention_params, bias),
                  .is_optional = true},
                 WEFT_OPTIONAL("sinks", weft_attention_params, sinks, WEFT_AXES(WEFT_AXIS_HEADS))},
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
    uint32_t kv_heads;  /* 0: heads */
    bool causal;
    bool sinks;
};

static const struct row rows[] = {
    {1, 1, 1, 1, 1, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {1, 7, 7, 8, 2, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {2, 37, 37, 64, 4, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {3, 64, 64, 32, 8, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {1, 129, 129, 48, 3, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {2, 5, 97, 12, 3, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {2, 97, 5, 12, 3, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {1, 100, 31, 40, 5, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {1, 257, 257, 16, 1, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {2, 33, 65, 127, 1, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {2, 128, 128, 128, 2, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {1, 31, 31, 7, 7, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {2, 19, 1, 20, 4, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {2, 1, 130, 20, 4, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {1, 37, 37, 24, 2, 0.75F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {1, 36, 40, 24, 2, -0.5F, WEFT_VALUES_UNIT, .bias_rank = 0},
    {1, 37, 41, 24, 2, 0.0F, WEFT_VALUES_MIXED, .bias_rank = 0},
    {1, 37, 41, 24, 2, 0.0F, WEFT_VALUES_SMALL, .bias_rank = 0},
    {2, 37, 41, 24, 2, 0.0F, WEFT_VALUES_ZEROS, .bias_rank = 0},
    {2, 37, 41, 24, 2, 0.0F, WEFT_VALUES_EQUAL, .bias_rank = 0},
    {1, 65, 67, 33, 3, 0.0F, WEFT_VALUES_TENS, .bias_rank = 0},
    {2, 37, 41, 24, 3, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 2},
    {2, 5, 97, 12, 3, 0.0F, WEFT_VALUES_UNIT, .bias_rank = 3},
    {2, 67, 31, 24, 2, 0.75F, WEFT_VALUES_UNIT, .bias_rank = 4},
    /* grouped queries */
    {1, 1, 1, 2, 2, 0.0F, WEFT_VALUES_UNIT, 0, .kv_heads = 1},
    {2, 37, 41, 48, 6, 0.0F, WEFT_VALUES_UNIT, 0, .kv_heads = 2},
    {3, 5, 131, 36, 12, 0.0F, WEFT_VALUES_UNIT, 3, .kv_heads = 3},
    {2, 1, 130, 64, 4, 0.0F, WEFT_VALUES_TENS, 0, .kv_heads = 1},
    /* causal: by chunks, and with a bias by scores */
    {1, 1, 1, 1, 1, 0.0F, WEFT_VALUES_UNIT, 0, .causal = true},
    {2, 67, 67, 24, 3, 0.0F, WEFT_VALUES_UNIT, 0, .causal = true},
    {1, 257, 257, 66, 6, -0.5F, WEFT_VALUES_UNIT, 0, .kv_heads = 2, .causal = true},
    {1, 1, 1, 4, 2, 0.0F, WEFT_VALUES_UNIT, 2, .causal = true},
    {2, 37, 37, 24, 3, 0.0F, WEFT_VALUES_UNIT, 3, .causal = true},
    {2, 131, 131, 28, 4, 0.0F, WEFT_VALUES_UNIT, 4, .kv_heads = 2, .causal = true},
    {2, 67, 67, 24, 6, 0.0F, WEFT_VALUES_UNIT, 0, .kv_heads = 2, .causal = true, .sinks = true},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(
        text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,m=%u,d=%u,heads=%u,batch=%u%s%s%s%s",
        row->causal ? "causal/" : "", weft_values_name(row->values), row->n, row->m, row->d,
        row->heads, row->batch, WEFT_CASE_PART(row->scale != 0.0F, ",scale=%g", (double)row->scale),
        WEFT_CASE_PART(row->bias_rank != 0, ",bias=%u", row->bias_rank),
        WEFT_CASE_PART(row->kv_heads != 0, ",kv=%u", row->kv_heads), row->sinks ? ",sinks" : "");
}

static void build(weft_case *c, const struct row *row) {
    const uint32_t kv_heads = row->kv_heads ? row->kv_heads : row->heads;
    weft_shape keys = weft_shape_of(row->batch, row->m, row->d / row->heads * kv_heads);
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_array k = weft_case_input(c, "k", keys, row->values);
    weft_array v = weft_case_input(c, "v", keys, row->values);
    weft_attention_params params = {
        .heads = row->heads, .scale = row->scale, .causal = row->causal, .kv_heads = row->kv_heads};
    if (row->bias_rank != 0) {
        const weft_shape shapes[] = {weft_shape_of(row->n, row->m),
                                     weft_shape_of(row->heads, row->n, row->m),
                                     weft_shape_of(row->batch, row->heads, row->n, row->m)};
        params.bias =
            weft_case_input(c, "bias", shapes[row->bias_rank - 2], WEFT_VALUES_TENS).tensor;
    }
    if (row->sinks) {
        params.sinks =
            weft_case_input(c, "sinks", weft_shape_of(row->heads), WEFT_VALUES_TENS).tensor;
    }
    weft_case_expect(c, "y", weft_case_attention(c, q, k, v, &params));
}

WEFT_CASE_TABLE(attention, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
