/* SPDX-License-Identifier: MIT */
/* Softmax attention within a band, by each implementation. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(banded_attention, x[0], x[1], x[2])
WEFT_SHEET_STEP(banded_attention, x[0], x[1], x[2])

static void define_band(const weft_sequence *s) {
    const weft_banded_attention_params *p = s->call->params;
    weft_reference_attention a = s->a;
    a.sinks = s->call->given;
    a.f16 = p->f16;
    weft_reference_softmax_attention(s->ref, s->out, s->rows, &a, p->half_width, (double)p->scale);
}

/* weft/decode.h: keys and values of the band. */
static uint32_t state_size(const weft_sizes *s, const void *params) {
    const weft_banded_attention_params *p = params;
    if (p->f16) {
        return 2 * (s->kv_heads != 0 ? s->kv_heads : s->heads) * ((s->width + 1) / 2 * 2) *
               ((p->half_width / 16 + 1) * 16);
    }
    return 2 * (s->kv_heads != 0 ? s->kv_heads : s->heads) * s->width * (p->half_width + 1);
}

enum { Q, K, V, SINKS };

#define PARAMS(...) weft_banded_attention_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

static const weft_use uses[] = {
    {.name = "a band of 1", .reads_nearby = true},
    {.name = "a band of 11, direct",
     .params = PARAMS(.half_width = 5),
     .implementation = "direct",
     .reads_nearby = true},
    {.name = "a band of 81, tiled",
     .params = PARAMS(.half_width = 40),
     .implementation = "tiled",
     .reads_nearby = true},
    {.name = "a band of all", .params = PARAMS(.half_width = 999)},
    {.name = "a causal band", .params = PARAMS(.half_width = 20, .causal = true)},
    {.name = "a causal band with sinks",
     .params = PARAMS(.half_width = 20, .causal = true),
     .with = 1 << SINKS},
    {.name = "a causal band of f16",
     .params = PARAMS(.half_width = 20, .causal = true, .f16 = true)},
};

static const weft_use steps[] = {
    {.name = "band, itself alone",
     .params = PARAMS(.causal = true),
     .sizes = {2, 40, 2, 8, .values = 8}},
    {.name = "band",
     .params = PARAMS(.causal = true, .half_width = 29),
     .sizes = {2, 200, 2, 8, .values = 8}},
    {.name = "band, odd widths",
     .params = PARAMS(.causal = true, .half_width = 64, .scale = 4.0F),
     .sizes = {3, 131, 3, 7, .values = 7}},
    {.name = "band, wide heads",
     .params = PARAMS(.causal = true, .half_width = 150),
     .sizes = {1, 300, 1, 133, .values = 133}},
    {.name = "band, grouped queries",
     .params = PARAMS(.causal = true, .half_width = 70),
     .sizes = {2, 140, 6, 8, .values = 8, .kv_heads = 2}},
    {.name = "band, one head of keys",
     .params = PARAMS(.causal = true, .half_width = 40),
     .sizes = {2, 70, 3, 5, .values = 5, .kv_heads = 1}},
    {.name = "band, longer than the sequence",
     .params = PARAMS(.causal = true, .half_width = 511, .scale = 2.5F),
     .sizes = {2, 200, 2, 16, .values = 16}},
    {.name = "band, sinks",
     .params = PARAMS(.causal = true, .half_width = 50),
     .sizes = {2, 130, 6, 8, .values = 8, .kv_heads = 2},
     .with = 1 << SINKS},
    {.name = "band, f16",
     .params = PARAMS(.causal = true, .half_width = 70, .f16 = true),
     .sizes = {2, 140, 6, 8, .values = 8, .kv_heads = 2}},
    {.name = "band, f16, odd widths and sinks",
     .params = PARAMS(.causal = true, .half_width = 37, .f16 = true),
     .sizes = {2, 130, 3, 7, .values = 7},
     .with = 1 << SINKS},
    {.name = "band, f16, many queries of wide heads",
     .params = PARAMS(.causal = true, .half_width = 299, .f16 = true),
     .sizes = {1, 150, 19, 133, .values = 133, .kv_heads = 1}},
};

static const weft_trial trials[] = {
    {INVALID, WITH(.half_width = 9), SAYS("half_width 9", "0 … 8")},
    {INVALID, WITH(.half_width = UINT32_MAX), SAYS("half_width 4294967295", "0 … 8")},
    {INVALID, WITH(.heads = 4), SAYS("heads 4", "1 … 6", "6 channels")},
    {INVALID, WITH(.heads = 12), SAYS("heads 12", "1 … 6")},
    {INVALID, WITH(.heads = 3, .kv_heads = 2), SAYS("kv_heads 2", "1 … 3", "3 heads")},
    {MISMATCH, WITH(.heads = 3, .kv_heads = 1),
     SAYS("[2, 9, 6]", "k and v with 1 heads for the 3 of q")},
    {ACCEPTED, IS(AS(K, 2, 9, 2), AS(V, 2, 9, 2)), WITH(.heads = 3, .kv_heads = 1), GIVES(2, 9, 6)},
    {INVALID, WITH(.scale = INFINITY), SAYS("scale inf", "finite")},
    {MISMATCH, IS(AS(K, 2, 8, 6), AS(V, 2, 8, 6)), SAYS("[2, 9, 6]", "[2, 8, 6]")},
    {MISMATCH, IS(AS(V, 2, 8, 6)), SAYS("v [2, 8, 6]")},
    {MISMATCH, IS(AS(Q, 9, 6), AS(K, 9, 6), AS(V, 9, 6)), SAYS("[9, 6]", "[B, n, d]")},
    {MISMATCH, IS(AS_I32(K, 2, 9, 6)), SAYS("k must be f32", "i32")},
    {INVALID, IS(AS_NOTHING(V)), SAYS("input 2")},
    {MISMATCH, IS(AS(SINKS, 2)), WITH(.heads = 3), SAYS("sinks must be [3]", "[2]")},
    {MISMATCH, IS(AS_I32(SINKS, 3)), WITH(.heads = 3), SAYS("sinks must be f32")},
    {ACCEPTED, IS(AS(SINKS, 3)), WITH(.heads = 3), GIVES(2, 9, 6)},
};

const weft_sheet weft_sheet_banded_attention = {
    WEFT_SHEET_ATTENTION(banded_attention),
    WEFT_SHEET_KV_HEADS(weft_banded_attention_params),
    .operands = {WEFT_OPERANDS_QKV, WEFT_OPTIONAL("sinks", weft_banded_attention_params, sinks,
                                                  WEFT_AXES(WEFT_AXIS_HEADS))},
    .half_width = WEFT_SHEET_FIELD(weft_banded_attention_params, half_width),
    .grows_linearly = true,
    .define = define_band,
    .step = step_banded_attention,
    .state_size = state_size,
    WEFT_SHEET_USES(uses),
    WEFT_SHEET_STEPS(steps),
    .sizes = {.batch = 2, .n = 9, .heads = 1, .width = 6},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    uint32_t batch, n, d, heads, half_width;
    bool causal;
    float scale; /* 0: the usual 1/sqrt(d/heads) */
    weft_values values;
    uint32_t kv_heads; /* 0: heads */
    bool sinks;
    bool f16;
};

static const struct row rows[] = {
    {1, 1, 1, 1, 0, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 1, 6, 2, 0, true, 0.0F, .values = WEFT_VALUES_UNIT},
    {2, 7, 8, 2, 0, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {2, 7, 8, 2, 1, true, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 37, 24, 3, 5, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 37, 24, 3, 5, true, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 37, 24, 3, 36, false, 0.0F, .values = WEFT_VALUES_UNIT}, /* full: softmax attention */
    {1, 37, 24, 3, 36, true, 0.0F, .values = WEFT_VALUES_UNIT}, /* full: causal softmax attention */
    {1, 257, 64, 1, 256, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 257, 64, 1, 256, true, 0.0F, .values = WEFT_VALUES_UNIT},
    {3, 64, 32, 8, 16, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 129, 48, 3, 15, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 129, 48, 3, 17, true, 0.0F, .values = WEFT_VALUES_UNIT},
    {2, 199, 64, 2, 30, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {2, 199, 64, 2, 64, true, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 67, 7, 7, 9, false, 0.0F, .values = WEFT_VALUES_UNIT}, /* heads of one channel */
    {1, 67, 63, 1, 20, true, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 41, 127, 1, 11, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 70, 256, 2, 33, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 71, 256, 1, 33, true, 0.0F,
     .values = WEFT_VALUES_UNIT}, /* the widest heads of usual models */
    {1, 19, 530, 2, 7, false, 0.0F, .values = WEFT_VALUES_UNIT}, /* wider still, and odd */
    {1, 1021, 16, 2, 40, false, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 1021, 16, 2, 500, true, 0.0F, .values = WEFT_VALUES_UNIT},
    {1, 83, 24, 2, 12, false, 0.75F, .values = WEFT_VALUES_UNIT},
    {1, 83, 24, 2, 12, true, -0.5F, .values = WEFT_VALUES_UNIT},
    {1, 97, 24, 2, 40, false, 0.0F, .values = WEFT_VALUES_MIXED},
    {1, 97, 24, 2, 40, true, 0.0F, .values = WEFT_VALUES_SMALL},
    {2, 97, 24, 2, 40, false, 0.0F, .values = WEFT_VALUES_ZEROS},
    {2, 97, 24, 2, 40, true, 0.0F, .values = WEFT_VALUES_EQUAL},
    {1, 131, 33, 3, 60, false, 0.0F,
     .values = WEFT_VALUES_TENS}, /* the largest score moves often */
    {1, 131, 32, 1, 60, true, 0.0F, .values = WEFT_VALUES_TENS},
    {1, 1, 2, 2, 0, false, 0.0F, .values = WEFT_VALUES_UNIT, .kv_heads = 1},
    {2, 97, 48, 6, 40, false, 0.0F, .values = WEFT_VALUES_UNIT, .kv_heads = 2},
    {2, 131, 35, 7, 130, true, 0.0F, .values = WEFT_VALUES_UNIT, .kv_heads = 1},
    {1, 67, 520, 8, 20, true, 0.75F, .values = WEFT_VALUES_UNIT, .kv_heads = 4},
    {1, 1, 2, 2, 0, true, 0.0F, .values = WEFT_VALUES_UNIT, .sinks = true},
    {2, 131, 48, 6, 40, true, 0.0F, .values = WEFT_VALUES_UNIT, .kv_heads = 2, .sinks = true},
    {1, 67, 63, 3, 66, true, 0.0F, .values = WEFT_VALUES_TENS, .sinks = true},
    {2, 97, 24, 2, 12, false, 0.0F, .values = WEFT_VALUES_MIXED, .sinks = true},
    {1, 1, 3, 1, 0, true, 0.0F, .values = WEFT_VALUES_UNIT, .f16 = true},
    {2, 131, 48, 6, 40, true, 0.0F, .values = WEFT_VALUES_UNIT, .kv_heads = 2, .f16 = true},
    {1, 97, 24, 2, 40, false, 0.0F, .values = WEFT_VALUES_MIXED, .f16 = true},
    {1, 67, 63, 3, 66, true, 0.0F, .values = WEFT_VALUES_TENS, .sinks = true, .f16 = true},
    {1, 97, 24, 2, 40, true, 0.0F, .values = WEFT_VALUES_SMALL, .f16 = true},
};

#define ROWS WEFT_COUNT(rows)

static const char *const implementations[] = {"direct", "tiled"};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/n=%u,d=%u,heads=%u,k=%u,batch=%u%s%s%s%s",
             implementations[index / ROWS], row->causal ? "causal/" : "",
             weft_values_name(row->values), row->n, row->d, row->heads, row->half_width, row->batch,
             WEFT_CASE_PART(row->scale != 0.0F, ",scale=%g", (double)row->scale),
             WEFT_CASE_PART(row->kv_heads != 0, ",kv=%u", row->kv_heads),
             row->sinks ? ",sinks" : "", row->f16 ? ",f16" : "");
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    c->implementation = implementations[index / ROWS];
    c->seed = index % ROWS; /* the same input for both */
    weft_sheet_case(c, &weft_sheet_banded_attention, row->sinks ? 1 << SINKS : 0,
                    &(weft_sizes){.batch = row->batch,
                                  .n = row->n,
                                  .heads = row->heads,
                                  .width = row->d / row->heads,
                                  .kv_heads = row->kv_heads},
                    row->values,
                    weft_banded_attention_params(.heads = row->heads, .half_width = row->half_width,
                                                 .causal = row->causal, .scale = row->scale,
                                                 .kv_heads = row->kv_heads, .f16 = row->f16));
}

WEFT_CASE_FAMILY(banded_attention, ROWS *WEFT_COUNT(implementations), WEFT_TOLERANCE_EXPONENTIAL,
                 name_case, build);
