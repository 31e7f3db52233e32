/* SPDX-License-Identifier: MIT */
/* The fast-weight far field. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(fast_weight, x[0], x[1], x[2], x[3])
WEFT_SHEET_STEP(fast_weight, x[0], x[1], x[2], x[3])

static void define_fast_weight(const weft_sequence *s) {
    weft_reference_fast_weight(s->ref, s->out, s->rows, &s->a,
                               s->call->given + (uint64_t)s->batch * s->a.n * s->a.heads);
}

/* weft/decode.h: the weights, and what a chunk of 128 tokens needs. */
static uint32_t state_size(const weft_sizes *s, const void *params) {
    (void)params;
    return s->heads * (s->width * (s->width + 2 * s->values) + 128 * (s->width + s->values));
}

enum { Q, K, V, BETA };

static const weft_use uses[] = {{.name = "fast weights"}};

static const weft_use steps[] = {
    {.name = "fast weight", .sizes = {2, 200, 2, 8, .values = 8}},
    {.name = "fast weight, odd widths", .sizes = {2, 193, 3, 7, .values = 5}},
    {.name = "fast weight, 128 columns of state", .sizes = {1, 130, 1, 128, .values = 20}},
    {.name = "fast weight, wide", .sizes = {1, 130, 1, 300, .values = 6}},
    {.name = "fast weight, many values", .sizes = {1, 130, 2, 5, .values = 131}},
};

static const weft_trial trials[] = {
    {ACCEPTED, IS(AS(V, 2, 5, 1026)), GIVES(2, 5, 1026)},
    {MISMATCH, IS(AS(K, 2, 5, 1026)), SAYS("[2, 5, 6]", "[2, 5, 1026]")},
    {MISMATCH, .without_params = true, SAYS("beta", "[2, 5, 1]", "[2, 5, 2]")},
    {INVALID, .params = weft_fast_weight_params(.heads = 4), SAYS("4 heads", "6")},
    {UNSUPPORTED, IS(AS(Q, 2, 5, 1026), AS(K, 2, 5, 1026)), SAYS("513", "512")},
};

const weft_sheet weft_sheet_fast_weight = {
    WEFT_SHEET_OP(fast_weight),
    WEFT_SHEET_HEADS(weft_fast_weight_params),
    .operands = {WEFT_OPERANDS_QKV,
                 {"beta",
                  {WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_HEADS},
                  .range = WEFT_RANGE_UNIT}},
    .is_causal = true,
    .grows_linearly = true,
    .define = define_fast_weight,
    .step = step_fast_weight,
    .state_size = state_size,
    WEFT_SHEET_USES(uses),
    WEFT_SHEET_STEPS(steps),
    .sizes = {.batch = 2, .n = 5, .heads = 2, .width = 3},
    .usual = weft_fast_weight_params(.heads = 2),
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    uint32_t batch, n, heads, width, values;
    weft_values kind;
    bool ones; /* β = 1: every token replaces what its key holds */
};

static const struct row rows[] = {
    {1, 1, 1, 1, 1, WEFT_VALUES_UNIT, false},     {1, 2, 1, 1, 1, WEFT_VALUES_UNIT, false},
    {1, 7, 2, 3, 5, WEFT_VALUES_UNIT, false},     {2, 8, 2, 4, 4, WEFT_VALUES_UNIT, false},
    {1, 9, 1, 4, 4, WEFT_VALUES_UNIT, false},     {2, 63, 2, 8, 8, WEFT_VALUES_UNIT, false},
    {2, 64, 2, 8, 8, WEFT_VALUES_UNIT, false},    {2, 65, 2, 8, 8, WEFT_VALUES_UNIT, false},
    {1, 97, 3, 7, 5, WEFT_VALUES_UNIT, false},    {1, 127, 1, 64, 64, WEFT_VALUES_UNIT, false},
    {1, 128, 1, 32, 16, WEFT_VALUES_UNIT, false}, {1, 129, 2, 12, 20, WEFT_VALUES_UNIT, false},
    {1, 257, 1, 16, 1, WEFT_VALUES_UNIT, false},  {1, 509, 2, 4, 4, WEFT_VALUES_UNIT, false},
    {1, 1201, 1, 8, 8, WEFT_VALUES_UNIT, false},  {1, 130, 1, 1, 4, WEFT_VALUES_UNIT, false},
    {1, 70, 1, 130, 4, WEFT_VALUES_UNIT, false},  {1, 70, 1, 5, 131, WEFT_VALUES_UNIT, false},
    {1, 131, 1, 256, 9, WEFT_VALUES_UNIT, false}, {1, 67, 1, 257, 6, WEFT_VALUES_UNIT, false},
    {1, 66, 1, 512, 4, WEFT_VALUES_UNIT, false},  {1, 66, 13, 2, 3, WEFT_VALUES_UNIT, false},
    {1, 193, 2, 8, 8, WEFT_VALUES_TENS, false},   {1, 193, 2, 8, 8, WEFT_VALUES_ZEROS, false},
    {1, 193, 2, 8, 8, WEFT_VALUES_EQUAL, false},  {1, 193, 2, 8, 8, WEFT_VALUES_SMALL, false},
    {1, 193, 2, 8, 8, WEFT_VALUES_MIXED, false},  {1, 193, 2, 8, 8, WEFT_VALUES_UNIT, true},
    {1, 131, 1, 33, 17, WEFT_VALUES_UNIT, true},  {1, 131, 1, 4, 4, WEFT_VALUES_TENS, true},
    {1, 1, 1, 16, 16, WEFT_VALUES_UNIT, true},    {3, 37, 5, 6, 6, WEFT_VALUES_UNIT, false},
};

/* By the kernels for GPUs, in tiles of 64 tokens, 64 features and 64 values, and 8 terms at a time. */
static const struct row tiled_rows[] = {
    {1, 1, 1, 1, 1, WEFT_VALUES_UNIT, false},      {2, 65, 2, 8, 8, WEFT_VALUES_UNIT, false},
    {1, 97, 3, 7, 5, WEFT_VALUES_UNIT, false},     {1, 131, 1, 64, 64, WEFT_VALUES_UNIT, false},
    {1, 150, 1, 132, 68, WEFT_VALUES_UNIT, false}, {1, 193, 2, 8, 8, WEFT_VALUES_MIXED, false},
    {1, 70, 1, 5, 131, WEFT_VALUES_UNIT, false},   {1, 131, 1, 33, 17, WEFT_VALUES_UNIT, true},
};

#define ROWS WEFT_COUNT(rows)

static const struct row *row_at(uint32_t index) {
    return index < ROWS ? &rows[index] : &tiled_rows[index - ROWS];
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = row_at(index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/n=%u,d=%u,dv=%u,heads=%u,batch=%u",
             index < ROWS ? "" : "tiled/", weft_values_name(row->kind), row->ones ? "-replace" : "",
             row->n, row->heads * row->width, row->heads * row->values, row->heads, row->batch);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = row_at(index);
    c->implementation = index < ROWS ? NULL : "tiled";
    weft_shape shape = weft_shape_of(row->batch, row->n, row->heads * row->width);
    weft_shape values = weft_shape_of(row->batch, row->n, row->heads * row->values);
    weft_array q = weft_case_input(c, "q", shape, row->kind);
    weft_array k = weft_case_input(c, "k", shape, row->kind);
    weft_array v = weft_case_input(c, "v", values, row->kind);
    weft_array b =
        weft_case_input(c, "b", weft_shape_of(row->batch, row->n, row->heads), WEFT_VALUES_UNIT);
    weft_array beta = row->ones ? weft_case_affine(c, b, 0.0F, 1.0F)
                                : weft_case_activate(c, b, WEFT_ACTIVATION_SIGMOID);
    weft_case_expect(
        c, "y",
        WEFT_MIX(c, fast_weight, weft_fast_weight_params(.heads = row->heads), q, k, v, beta));
}

WEFT_CASE_FAMILY(fast_weight, ROWS + WEFT_COUNT(tiled_rows), WEFT_TOLERANCE_EXPONENTIAL, name_case,
                 build);
