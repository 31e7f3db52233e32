/* SPDX-License-Identifier: MIT */
/* Short filters along the tokens by their definition, and their steps. */
#include <stdio.h>

#include "verify/token_steps.h"
#include "verify/trials.h"

WEFT_SHEET_CALL(conv1d, x[0], x[1])

/* y[i, c] = Σ_t weight[c, t] x[i + t - before, c] + bias[c] of one sequence. */
static void define(double *y, weft_shape shape, const double *x, weft_array weight,
                   const double *bias, bool causal) {
    const uint32_t n = shape.dim[1];
    const uint32_t d = shape.dim[2];
    const uint32_t taps = weight.shape.dim[1];
    const int64_t before = causal ? taps - 1 : (taps - 1) / 2;
    for (uint64_t at = 0; at < (uint64_t)n * d; at++) {
        const uint32_t c = (uint32_t)(at % d);
        y[at] = bias ? bias[c] : 0.0;
        for (uint32_t t = 0; t < taps; t++) {
            const int64_t i = (int64_t)(at / d) + t - before;
            if (i >= 0 && i < n) {
                y[at] += weight.value[(uint64_t)c * taps + t] * x[(uint64_t)i * d + c];
            }
        }
    }
}

/* Mixes all sequences. */
static weft_array mix_conv1d(weft_case *c, const weft_array *x, const void *params) {
    const weft_conv1d_params *p = params;
    const weft_array bias = weft_case_find(c, p->bias);
    const uint64_t size = (uint64_t)x[0].shape.dim[1] * x[0].shape.dim[2];
    weft_tensor tensor = {0};
    double *y;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_conv1d(&tensor, c->graph, x[0].tensor, x[1].tensor, params));
    const weft_array made = weft_case_made(c, status, tensor, x[0].shape, false, &y);
    for (uint32_t b = 0; y && b < x[0].shape.dim[0]; b++) {
        define(y + b * size, x[0].shape, x[0].value + b * size, x[1], bias.value, p->causal);
    }
    return made;
}

enum { X, WEIGHT, BIAS };

#define PARAMS(...) weft_conv1d_params(__VA_ARGS__)
#define WITH(...)   .params = PARAMS(__VA_ARGS__)

static const weft_use uses[] = {
    {.name = "a short filter", .reads_nearby = true},
    {.name = "a short causal filter", WITH(.causal = true)},
};

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 9, 6)},
    {ACCEPTED, IS(AS(BIAS, 6)), WITH(.causal = true), GIVES(2, 9, 6)},
    {MISMATCH, IS(AS(X, 9, 6)), SAYS("x must be", "[9, 6]")},
    {MISMATCH, IS(AS(WEIGHT, 6)), SAYS("weight must be", "[d, taps]", "[6]")},
    {MISMATCH, IS(AS(WEIGHT, 5, 4)), SAYS("weight must be [6, taps], not [5, 4]")},
    {MISMATCH, IS(AS(BIAS, 5)), SAYS("bias must be [6], not [5]")},
    {MISMATCH, IS(AS_I32(X, 2, 9, 6)), SAYS("x must be", "i32")},
    {INVALID, IS(AS_NOTHING(WEIGHT)), SAYS("input 1")},
};

const weft_sheet weft_sheet_conv1d = {
    WEFT_SHEET_OP(conv1d),
    WEFT_SHEET_CAUSAL(weft_conv1d_params),
    WEFT_SHEET_LENGTHS(weft_conv1d_params),
    .operands = {WEFT_OPERAND_X, WEFT_WEIGHT("weight", WEFT_AXIS_CHANNELS, WEFT_AXIS_TAPS),
                 WEFT_OPTIONAL("bias", weft_conv1d_params, bias, WEFT_AXES(WEFT_AXIS_CHANNELS),
                               .is_weight = true)},
    .grows_linearly = true,
    .mix = mix_conv1d,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 2, .n = 9, .heads = 1, .width = 6},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    uint32_t batch, n, d, taps;
    bool causal, has_bias;
    weft_values kind;
    uint32_t prompt;  /* of steps: tokens of the first one; 0: 1 */
    uint32_t shorter; /* and how many each sequence lacks of the one before it */
};

static const struct row rows[] = {
    {1, 1, 1, 1, false, false, .kind = WEFT_VALUES_UNIT},
    {1, 1, 1, 4, true, true, .kind = WEFT_VALUES_UNIT},
    {2, 37, 24, 3, false, false, .kind = WEFT_VALUES_UNIT},
    {2, 37, 24, 4, false, true, .kind = WEFT_VALUES_UNIT},
    {2, 37, 24, 4, true, true, .kind = WEFT_VALUES_UNIT},
    {3, 3, 131, 7, true, false, .kind = WEFT_VALUES_UNIT},
    {3, 3, 131, 7, false, true, .kind = WEFT_VALUES_UNIT},
    {1, 1021, 3, 128, true, true, .kind = WEFT_VALUES_UNIT},
    {1, 257, 65, 31, false, false, .kind = WEFT_VALUES_UNIT},
    {2, 37, 24, 4, true, true, .kind = WEFT_VALUES_MIXED},
    {2, 37, 24, 4, true, true, .kind = WEFT_VALUES_ZEROS},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,d=%u,taps=%u,batch=%u%s%s%s",
             row->causal ? "causal/" : "", weft_values_name(row->kind), row->n, row->d, row->taps,
             row->batch, row->has_bias ? ",bias" : "",
             WEFT_CASE_PART(row->prompt != 0, ",prompt=%u", row->prompt),
             WEFT_CASE_PART(row->shorter != 0, ",shorter=%u", row->shorter));
}

static void build(weft_case *c, const struct row *row) {
    const weft_array x[] = {
        weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->kind),
        weft_case_weight(c, weft_shape_of(row->d, row->taps), WEFT_VALUES_UNIT)};
    const weft_array bias = weft_case_optional_weight(c, row->has_bias, weft_shape_of(row->d));
    weft_case_expect(c, "y", mix_conv1d(c, x, PARAMS(.bias = bias.tensor, .causal = row->causal)));
}

WEFT_CASE_TABLE(conv1d, rows, WEFT_TOLERANCE_LINEAR, name_case, build);

/* ---- steps ---- */

static const struct row step_rows[] = {
    {1, 1, 1, 1, true, false, .kind = WEFT_VALUES_UNIT},
    {2, 9, 24, 4, true, true, .kind = WEFT_VALUES_UNIT},
    {1, 12, 7, 1, true, true, .kind = WEFT_VALUES_UNIT},
    {2, 7, 131, 2, true, false, .kind = WEFT_VALUES_UNIT},
    {1, 40, 5, 31, true, false, .kind = WEFT_VALUES_UNIT},
    {2, 17, 24, 4, true, true, .kind = WEFT_VALUES_UNIT, .prompt = 13},
    {1, 9, 7, 8, true, false, .kind = WEFT_VALUES_UNIT, .prompt = 3},
    {3, 15, 7, 4, true, true, .kind = WEFT_VALUES_UNIT, .prompt = 12, .shorter = 5},
};

struct step_call {
    weft_tensor weight;
    const weft_conv1d_params *params;
};

static weft_status add_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                            const weft_step *step, const void *user) {
    const struct step_call *call = user;
    return weft_graph_conv1d_step(y, graph, x[0], call->weight, step, call->params);
}

static void build_steps(weft_case *c, const struct row *row) {
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->d);
    const weft_array x[] = {
        weft_case_input(c, "x", shape, row->kind),
        weft_case_weight(c, weft_shape_of(row->d, row->taps), WEFT_VALUES_UNIT)};
    const weft_array bias = weft_case_optional_weight(c, row->has_bias, weft_shape_of(row->d));
    const uint32_t ring = row->taps > 1 ? row->taps - 1 : 1;
    weft_case_state(c, "state", weft_shape_of(row->batch, ring * row->d));
    const weft_conv1d_params params = {.bias = bias.tensor, .causal = true};
    c->only_values = true;
    const weft_array whole = mix_conv1d(c, x, &params);
    c->only_values = false;
    const struct step_call call = {x[1].tensor, &params};
    weft_case_expect_steps(c, x, 1, whole,
                           (weft_token_cuts){.prompt = row->prompt, .shorter = row->shorter},
                           add_step, &call);
}

WEFT_CASE_TABLE(conv1d_step, step_rows, WEFT_TOLERANCE_LINEAR, name_case, build_steps);
