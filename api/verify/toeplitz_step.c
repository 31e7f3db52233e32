/* SPDX-License-Identifier: MIT */
/* The causal Toeplitz operator token by token, and the coefficients that it takes for a frequency response. */
#include <math.h>
#include <stdio.h>

#include "verify/paired.h"
#include "verify/token_steps.h"

#define PI 3.14159265358979323846

/* ---- steps ---- */

struct row {
    uint32_t batch, n, d, reach;
    uint32_t prompt;  /* tokens of the first step; 0: 1 */
    uint32_t shorter; /* and how many each sequence lacks of the one before it */
    bool decays;
    weft_values kind;
};

static const struct row rows[] = {
    {1, 1, 1, 1, .kind = WEFT_VALUES_UNIT},
    {2, 9, 24, 9, .kind = WEFT_VALUES_UNIT},
    {2, 5, 131, 7, .decays = true, .kind = WEFT_VALUES_UNIT},
    {1, 67, 3, 67, .decays = true, .kind = WEFT_VALUES_UNIT},
    {1, 131, 16, 140, .kind = WEFT_VALUES_MIXED},
    {2, 17, 24, 19, .prompt = 13, .kind = WEFT_VALUES_UNIT},
    {1, 70, 5, 70, .prompt = 62, .decays = true, .kind = WEFT_VALUES_UNIT},
    {1, 1100, 17, 1103, .prompt = 1090, .kind = WEFT_VALUES_UNIT},
    {2, 9, 24, 9, .prompt = 5, .kind = WEFT_VALUES_SUBNORMAL},
    {3, 15, 7, 16, .prompt = 12, .shorter = 5, .kind = WEFT_VALUES_UNIT},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,d=%u,reach=%u,batch=%u%s%s",
             row->decays ? "decay/" : "", weft_values_name(row->kind), row->n, row->d, row->reach,
             row->batch, WEFT_CASE_PART(row->prompt != 0, ",prompt=%u", row->prompt),
             WEFT_CASE_PART(row->shorter != 0, ",shorter=%u", row->shorter));
}

struct step_call {
    weft_tensor coefficients;
    const weft_toeplitz_params *params;
};

static weft_status add_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                            const weft_step *step, const void *user) {
    const struct step_call *call = user;
    return weft_graph_toeplitz_step(y, graph, x[0], call->coefficients, step, call->params);
}

/* From 1 downwards, a little less for each channel. */
static weft_array decays_of(weft_case *c, uint32_t d) {
    float *gamma = weft_reference_memory(&c->ref, d, sizeof *gamma);
    for (uint32_t i = 0; gamma && i < d; i++) {
        gamma[i] = 1.0F - (float)i / (float)(8 * d);
    }
    return gamma ? weft_case_weight_of(c, weft_shape_of(d), gamma) : (weft_array){.value = NULL};
}

static void build(weft_case *c, const struct row *row) {
    const weft_array x =
        weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->kind);
    const weft_array t = weft_case_weight(c, weft_shape_of(row->reach, row->d), WEFT_VALUES_UNIT);
    const weft_array none = {.value = NULL};
    const weft_array decay = row->decays ? decays_of(c, row->d) : none;
    weft_case_state(c, "state", weft_shape_of(row->batch, row->reach * row->d));
    const weft_toeplitz_params params = {.causal = true, .decay = decay.tensor};
    c->only_values = true;
    const weft_array whole = weft_case_toeplitz(c, x, t, &params);
    c->only_values = false;
    const struct step_call call = {t.tensor, &params};
    weft_case_expect_steps(c, &x, 1, whole,
                           (weft_token_cuts){.prompt = row->prompt, .shorter = row->shorter},
                           add_step, &call);
}

WEFT_CASE_TABLE(toeplitz_step, rows, WEFT_TOLERANCE_LINEAR, name_case, build);

/* ---- coefficients of a response ---- */

struct taps_row {
    uint32_t lags, d;
    bool given; /* the response is an input, and not a constant */
    weft_values kind;
};

static const struct taps_row taps_rows[] = {
    {1, 1, false, WEFT_VALUES_UNIT},   {3, 5, true, WEFT_VALUES_UNIT},
    {31, 37, false, WEFT_VALUES_UNIT}, {64, 33, true, WEFT_VALUES_MIXED},
    {521, 3, true, WEFT_VALUES_UNIT},  {64, 33, false, WEFT_VALUES_SUBNORMAL},
};

static void name_taps(char text[WEFT_CASE_NAME_SIZE], const struct taps_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/lags=%u,d=%u", row->given ? "given" : "constant",
             weft_values_name(row->kind), row->lags, row->d);
}

/* The even kernel (R_0 + (-1)^k R_N + 2 Σ_m R_m cos(π m k / N)) / 2N, all lags but 0 doubled. */
static double tap(const double *response, uint32_t lags, uint32_t d, uint32_t channel, uint32_t k) {
    double sum = response[channel];
    sum += (k % 2 == 0 ? 1.0 : -1.0) * response[(uint64_t)lags * d + channel];
    for (uint32_t m = 1; m < lags; m++) {
        const double angle = PI * (double)((uint64_t)m * k % ((uint64_t)2 * lags)) / lags;
        sum += 2.0 * response[(uint64_t)m * d + channel] * cos(angle);
    }
    return sum / (2.0 * lags) * (k == 0 ? 1.0 : 2.0);
}

static void build_taps(weft_case *c, const struct taps_row *row) {
    const weft_shape shape = weft_shape_of(row->lags + 1, row->d);
    const weft_array response = row->given ? weft_case_input(c, "response", shape, row->kind)
                                           : weft_case_weight(c, shape, row->kind);
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_toeplitz_fd_taps(&tensor, c->graph, response.tensor));
    const weft_array made =
        weft_case_made(c, status, tensor, weft_shape_of(row->lags, row->d), false, &out);
    for (uint64_t i = 0; out && i < (uint64_t)row->lags * row->d; i++) {
        out[i] =
            tap(response.value, row->lags, row->d, (uint32_t)(i % row->d), (uint32_t)(i / row->d));
    }
    weft_case_expect(c, "taps", made);
}

WEFT_CASE_TABLE(toeplitz_fd_taps, taps_rows, WEFT_TOLERANCE_LINEAR, name_taps, build_taps);
