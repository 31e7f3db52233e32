/* SPDX-License-Identifier: MIT */
/* Kernelized attention with relative positions. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(toeplitz_attention, x[0], x[1], x[2], x[3])

static void define_relative(const weft_sequence *s) {
    const weft_toeplitz_attention_params *p = s->call->params;
    const weft_reference_features phi = weft_features_of(s, s->call->q, s->a.q);
    const weft_reference_features psi = weft_features_of(s, s->call->k, s->a.k);
    const weft_reference_weighing own = weft_reference_weighing_of(&s->a, (double)p->epsilon);
    const uint32_t rows = s->call->count;
    weft_reference_toeplitz_attention(s->ref, s->out, s->rows, &phi, &psi, &own, s->call->given,
                                      s->call->causal ? rows : (rows + 1) / 2);
}

enum { Q, K, V, BIAS };

#define PARAMS(...) weft_toeplitz_attention_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

/* The largest weight is that of all lags of a sequence; by transforms what comes before changes by rounding. */
static const weft_use uses[] = {
    {.name = "relative positions", .implementation = "direct", .longest = 1},
    {.name = "causal relative positions",
     WITH(.causal = true),
     .implementation = "direct",
     .longest = 1},
    {.name = "relative positions by transforms", .implementation = "fft", .longest = 1},
    {.name = "causal relative positions by transforms",
     WITH(.causal = true),
     .implementation = "fft",
     .longest = 1,
     .tolerance = 2e-5F},
};

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 5, 8)},
    {MISMATCH, IS(AS(K, 2, 7, 6)), SAYS("k_features [2, 7, 6]")},
    {MISMATCH, IS(AS(V, 2, 7, 6)), SAYS("v [2, 7, 6]")},
    {MISMATCH, IS(AS(Q, 9, 1), AS(K, 9, 1)), SAYS("q_features [9, 1]")},
    {MISMATCH, IS(AS(BIAS, 10, 1)), SAYS("bias [10, 1]", "[2m - 1, 1] with m >= 5")},
    {MISMATCH, IS(AS(Q, 2, 7, 6), AS(K, 2, 7, 6), AS(V, 2, 7, 6)), SAYS("bias [9, 1]", "m >= 7")},
    {MISMATCH, WITH(.heads = 2), SAYS("bias [9, 1]", "[2m - 1, 2]")},
    {MISMATCH, IS(AS(BIAS, 2, 5, 6)), SAYS("bias [2, 5, 6]")},
    {MISMATCH, IS(AS_I32(BIAS, 9, 1)), SAYS("bias must be f32")},
    {INVALID, IS(AS_NOTHING(BIAS)), SAYS("input 3")},
    {INVALID, IS(AS(BIAS, 9, 3)), WITH(.heads = 3), SAYS("3 heads", "6 features and 8 values")},
    {INVALID, IS(AS(BIAS, 9, 3)), WITH(.epsilon = -1.0F), SAYS("epsilon -1")},
    {INVALID, IS(AS(BIAS, 9, 3)), WITH(.epsilon = NAN), SAYS("epsilon nan")},
    {INVALID, IS(AS(BIAS, 9, 3)), WITH(.epsilon = INFINITY), SAYS("epsilon inf")},
};

const weft_sheet weft_sheet_toeplitz_attention = {
    WEFT_SHEET_ATTENTION(toeplitz_attention),
    .operands = {WEFT_OPERANDS_FEATURES, WEFT_WEIGHT("bias", WEFT_AXIS_LAGS, WEFT_AXIS_HEADS)},
    .lengths_of = "mask",
    .define = define_relative,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 6, .values = 8},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    const char *implementation; /* null: the usual choice */
    bool causal;
    uint32_t batch, n, heads, features, values;
    uint32_t reach; /* lags that the bias has to each side; 0: n */
    bool random;    /* positive random features; otherwise the inputs' squares */
    float epsilon;
    weft_values bias;
};

static const struct row rows[] = {
    {"direct", false, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 1, 2, 1, 3, 2, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 2, 31, 2, 4, 4, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 2, 64, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 1, 97, 1, 67, 66, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 1, 257, 2, 8, 8, 300, false, 0.0F, WEFT_VALUES_TENS},
    {"direct", false, 1, 100, 2, 8, 8, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 1, 100, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_MASKED},
    {"direct", false, 1, 100, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_EQUAL},
    {"direct", false, 1, 60, 2, 8, 8, 0, false, 1000.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 2, 1, 3, 2, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 2, 31, 2, 4, 4, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 2, 64, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 97, 1, 67, 66, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 257, 2, 8, 8, 300, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 100, 2, 8, 8, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 100, 13, 2, 1, 0, false, 0.0F, WEFT_VALUES_EQUAL},
    {"fft", false, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 1, 2, 1, 3, 2, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 2, 31, 2, 4, 4, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 1, 257, 2, 8, 8, 300, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 1, 100, 2, 8, 8, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 1, 100, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_EQUAL},
    {"fft", false, 1, 60, 2, 8, 8, 0, false, 1000.0F, WEFT_VALUES_UNIT},
    {"fft", true, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 2, 31, 2, 4, 4, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 1, 257, 2, 8, 8, 300, true, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 1, 100, 13, 2, 1, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 2, 521, 2, 16, 3, 0, true, 0.0F, WEFT_VALUES_UNIT},
    /* of the values too: flushed on every device alike */
    {"direct", false, 1, 65, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_SUBNORMAL},
    {"fft", true, 1, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_SUBNORMAL},
    /* on both sides of where the usual choice changes */
    {NULL, false, 1, 61, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {NULL, false, 1, 521, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    /* by the kernel for GPUs: around the ends of its blocks of 64 queries, 32 keys, 16 features and 64 values */
    {"tiled", false, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"tiled", false, 2, 64, 2, 16, 8, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"tiled", false, 1, 131, 1, 68, 68, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"tiled", false, 1, 100, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_MASKED},
    {"tiled", true, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"tiled", true, 1, 257, 2, 8, 8, 300, true, 0.0F, WEFT_VALUES_UNIT},
    {"tiled", true, 1, 131, 1, 68, 68, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"tiled", true, 1, 97, 1, 67, 66, 0, false, 0.0F, WEFT_VALUES_UNIT},
};

#define WIDTH 6 /* of a head, for random features */

/* Features that are not negative. */
static weft_array add_features(weft_case *c, const char *name, const struct row *row,
                               weft_array w) {
    const uint32_t width = row->heads * (row->random ? WIDTH : row->features);
    weft_array x =
        weft_case_input(c, name, weft_shape_of(row->batch, row->n, width), WEFT_VALUES_UNIT);
    return row->random ? weft_case_random_features(
                             c, x, w,
                             weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE,
                                                         .heads = row->heads))
                       : weft_case_binary(c, WEFT_BINARY_MULTIPLY, x, x);
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s%s%s/n=%u%s,m=%u,dv=%u,heads=%u,batch=%u",
             row->implementation ? row->implementation : "chosen", row->causal ? "causal" : "full",
             row->random ? "random-" : "", weft_values_name(row->bias),
             row->epsilon > 0.0F ? "-guarded" : "", row->n,
             WEFT_CASE_PART(row->reach != 0, ",reach=%u", row->reach), row->features,
             row->heads * row->values, row->heads, row->batch);
}

static void build(weft_case *c, const struct row *row) {
    uint32_t reach = row->reach != 0 ? row->reach : row->n;
    weft_values kind =
        row->bias == WEFT_VALUES_SUBNORMAL ? WEFT_VALUES_SUBNORMAL : WEFT_VALUES_UNIT;
    c->implementation = row->implementation;
    c->only_reproducible = kind == WEFT_VALUES_SUBNORMAL;
    weft_array w = weft_case_optional_weight(c, row->random, weft_shape_of(row->features, WIDTH));
    weft_array phi = add_features(c, "q", row, w);
    weft_array psi = add_features(c, "k", row, w);
    weft_array v =
        weft_case_input(c, "v", weft_shape_of(row->batch, row->n, row->heads * row->values), kind);
    weft_array bias = weft_case_weight(
        c, weft_shape_of(row->causal ? reach : 2 * reach - 1, row->heads), row->bias);
    weft_case_expect(
        c, "y",
        WEFT_MIX(c, toeplitz_attention,
                 weft_toeplitz_attention_params(.heads = row->heads, .causal = row->causal,
                                                .epsilon = row->epsilon),
                 phi, psi, v, bias));
}

WEFT_CASE_TABLE(toeplitz_attention, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
