/* SPDX-License-Identifier: MIT */
/* Linear attention over given features. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(linear_attention, x[0], x[1], x[2])
WEFT_SHEET_MIX(linear_attention, x[0], x[1], x[2])
WEFT_SHEET_STEP(linear_attention, x[0], x[1], x[2])

static uint32_t state_size(const weft_sizes *s, const void *params) {
    (void)params;
    return weft_far_state_size(s, s->width);
}

enum { Q, K, V };

#define PARAMS(...) weft_linear_attention_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

static const weft_use uses[] = {
    {.name = "linear attention"},
    {.name = "causal linear attention", .params = PARAMS(.causal = true)}};

static const weft_use steps[] = {
    {.name = "linear", .params = PARAMS(.causal = true), .sizes = {2, 200, 2, 8, .values = 8}},
    {.name = "linear, one channel",
     .params = PARAMS(.causal = true),
     .sizes = {1, 130, 1, 1, .values = 1}},
    {.name = "linear, odd widths",
     .params = PARAMS(.causal = true),
     .sizes = {3, 131, 3, 7, .values = 5}},
    {.name = "linear, many features",
     .params = PARAMS(.causal = true),
     .sizes = {1, 130, 2, 130, .values = 12}},
    {.name = "linear, many values",
     .params = PARAMS(.causal = true),
     .sizes = {1, 130, 1, 5, .values = 131}},
    {.name = "linear, guarded",
     .params = PARAMS(.causal = true, .epsilon = 40.0F),
     .sizes = {2, 140, 2, 4, .values = 4}},
};

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 5, 8)},
    {MISMATCH, IS(AS(Q, 5, 6)), SAYS("[5, 6]", "[2, 7, 6]")},
    {MISMATCH, IS(AS(K, 2, 7, 8)), SAYS("[2, 5, 6]", "[2, 7, 8]")},
    {MISMATCH, IS(AS_I32(V, 2, 7, 8)), SAYS("v must be f32")},
    {MISMATCH, WITH(.causal = true), SAYS("k = n")},
    {INVALID, WITH(.heads = 3), SAYS("3 heads", "6 features", "8 values")},
    EPSILONS,
};

const weft_sheet weft_sheet_linear_attention = {
    WEFT_SHEET_ATTENTION(linear_attention),
    .operands = {{"q",
                  {WEFT_AXIS_BATCH, WEFT_AXIS_TOKENS, WEFT_AXIS_CHANNELS},
                  .range = WEFT_RANGE_POSITIVE},
                 {"k",
                  {WEFT_AXIS_BATCH, WEFT_AXIS_KEYS, WEFT_AXIS_CHANNELS},
                  .range = WEFT_RANGE_POSITIVE},
                 WEFT_OPERAND_V},
    .grows_linearly = true,
    .mix = mix_linear_attention,
    .step = step_linear_attention,
    .state_size = state_size,
    WEFT_SHEET_USES(uses),
    WEFT_SHEET_STEPS(steps),
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 6, .keys = 7, .values = 8},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    uint32_t batch, n, keys; /* keys 0: causal, as many as queries */
    uint32_t heads, features, values;
    float shift;   /* added to the features: above 1 makes them positive */
    float epsilon; /* where they are not, large enough to replace most denominators */
    weft_values kind;
};

#define SHIFT 1.25F

static const struct row rows[] = {
    /* causal: around the ends of chunks of 64 */
    {1, 1, 0, 1, 1, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 2, 0, 1, 3, 2, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 127, 0, 1, 64, 64, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 128, 0, 1, 32, 16, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 0, 2, 12, 20, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 257, 0, 1, 16, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 509, 0, 2, 4, 4, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 1201, 0, 1, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    /* causal: wide heads, more features than a partial sum, more values than a workgroup */
    {1, 70, 0, 1, 130, 4, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 1, 5, 131, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 131, 0, 1, 256, 12, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 66, 0, 13, 2, 3, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    /* causal: values and features of other kinds */
    {1, 100, 0, 2, 8, 8, 16.5F, 0.0F, WEFT_VALUES_TENS},
    {1, 100, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_ZEROS},
    {1, 100, 0, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_EQUAL},
    {1, 100, 0, 2, 8, 8, 0.0F, 1e4F, WEFT_VALUES_UNIT},
    {1, 131, 0, 1, 9, 7, 0.0F, 1e4F, WEFT_VALUES_UNIT},
    {1, 100, 0, 2, 8, 8, 0.0F, 1e12F, WEFT_VALUES_MIXED},
    {1, 130, 0, 1, 4, 4, SHIFT, 0.0F, WEFT_VALUES_SMALL},
    /* bidirectional: around the ends of chunks of 256 keys and of 64 queries */
    {1, 1, 1, 1, 1, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 7, 3, 1, 5, 3, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 255, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 256, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 257, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {3, 37, 97, 3, 7, 5, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 513, 1, 64, 64, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 5, 1009, 2, 12, 20, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 257, 2, 1, 16, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 31, 70, 1, 130, 4, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 31, 70, 1, 5, 131, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16.5F, 0.0F, WEFT_VALUES_TENS},
    {1, 33, 300, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_EQUAL},
    {1, 33, 300, 2, 8, 8, 0.0F, 1e4F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 0.0F, 1e12F, WEFT_VALUES_MIXED},
    {1, 33, 2500, 1, 4, 4, SHIFT, 0.0F, WEFT_VALUES_UNIT},
};

/* By the kernels for GPUs, in tiles of 64 tokens, 64 features and 64 values, and 8 terms at a time. */
static const struct row tiled_rows[] = {
    {1, 1, 0, 1, 1, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 131, 0, 1, 64, 64, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 150, 0, 1, 132, 68, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 150, 0, 1, 67, 131, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 100, 0, 2, 8, 8, 0.0F, 1e12F, WEFT_VALUES_MIXED},
    {1, 1, 1, 1, 1, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {3, 37, 97, 3, 7, 5, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 65, 513, 1, 68, 68, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 31, 70, 1, 130, 7, SHIFT, 0.0F, WEFT_VALUES_UNIT},
};

#define ROWS       WEFT_COUNT(rows)
#define TILED_ROWS WEFT_COUNT(tiled_rows)

static const struct row *row_at(uint32_t index) {
    return index < ROWS ? &rows[index] : &tiled_rows[(index - ROWS) % TILED_ROWS];
}

/* Null: what is chosen. */
static const char *implementation_at(uint32_t index) {
    return index < ROWS ? NULL : index < ROWS + TILED_ROWS ? "tiled" : "wide";
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = row_at(index);
    const char *implementation = implementation_at(index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/%s%s/n=%u%s,m=%u,d=%u,heads=%u,batch=%u",
             implementation ? implementation : "", implementation ? "/" : "",
             row->keys == 0 ? "causal" : "full", weft_values_name(row->kind),
             row->epsilon > 0.0F ? "-guarded" : "", row->n,
             WEFT_CASE_PART(row->keys != 0, ",k=%u", row->keys), row->features, row->values,
             row->heads, row->batch);
}

static weft_array features(weft_case *c, const char *name, uint32_t tokens, const struct row *row) {
    weft_shape shape = weft_shape_of(row->batch, tokens, row->heads * row->features);
    weft_array x = weft_case_input(c, name, shape, row->kind);
    return row->shift != 0.0F ? weft_case_affine(c, x, 1.0F, row->shift) : x;
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = row_at(index);
    c->implementation = implementation_at(index);
    uint32_t keys = row->keys != 0 ? row->keys : row->n;
    weft_array phi = features(c, "q", row->n, row);
    weft_array psi = features(c, "k", keys, row);
    weft_array v = weft_case_input(
        c, "v", weft_shape_of(row->batch, keys, row->heads * row->values), row->kind);
    weft_case_expect(c, "y",
                     weft_case_linear_attention(
                         c, phi, psi, v,
                         weft_linear_attention_params(.heads = row->heads, .causal = row->keys == 0,
                                                      .epsilon = row->epsilon)));
}

WEFT_CASE_FAMILY(linear_attention, ROWS + 2 * TILED_ROWS, WEFT_TOLERANCE_LINEAR, name_case, build);
