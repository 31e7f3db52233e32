/* SPDX-License-Identifier: MIT */
/* The fast-weight far field, token by token. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

struct row {
    uint32_t batch, n, heads, width, values;
    weft_values kind;
    bool ones; /* β = 1: every token replaces what its key holds */
};

static void normalize(double *out, const double *x, uint32_t width) {
    double sum = 0.0;
    for (uint32_t f = 0; f < width; f++) {
        out[f] = x[f] > 0.0 ? x[f] + 1.0 : exp(x[f]);
        sum += out[f];
    }
    for (uint32_t f = 0; f < width; f++) {
        out[f] /= sum;
    }
}

struct arrays {
    const double *q, *k, *v, *beta;
};

/* S [values, width], and the features of a token's query and key. */
struct state {
    double *s, *q, *k;
};

/* docs/mixers.md, section 3: S += β (v - S k) kᵀ; y = S q. */
static void step(double *out, const struct state *state, const double *v, double beta,
                 const struct row *row) {
    for (uint32_t t = 0; t < row->values; t++) {
        double *s = state->s + (uint64_t)t * row->width;
        double held = 0.0;
        for (uint32_t f = 0; f < row->width; f++) {
            held += s[f] * state->k[f];
        }
        out[t] = 0.0;
        for (uint32_t f = 0; f < row->width; f++) {
            s[f] += beta * (v[t] - held) * state->k[f];
            out[t] += s[f] * state->q[f];
        }
    }
}

static void run_head(double *out, const struct arrays *a, const struct state *state,
                     const struct row *row, uint64_t head) {
    memset(state->s, 0, sizeof(double) * row->width * row->values);
    for (uint64_t i = 0; i < row->n; i++) {
        uint64_t at = (head / row->heads * row->n + i) * row->heads + head % row->heads;
        normalize(state->q, a->q + at * row->width, row->width);
        normalize(state->k, a->k + at * row->width, row->width);
        double beta = row->ones ? 1.0 : 1.0 / (1.0 + exp(-a->beta[at]));
        step(out + at * row->values, state, a->v + at * row->values, beta, row);
    }
}

static void reference(weft_case *c, double *out, const struct arrays *a, const struct row *row) {
    uint64_t size = (uint64_t)row->width * row->values;
    double *scratch = weft_case_scratch(c, size + 2 * (uint64_t)row->width);
    for (uint64_t head = 0; scratch != NULL && head < (uint64_t)row->batch * row->heads; head++) {
        struct state state = {.s = scratch, .q = scratch + size, .k = scratch + size + row->width};
        run_head(out, a, &state, row, head);
    }
    weft_case_scratch_free(c, scratch);
}

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

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/n=%u,d=%u,dv=%u,heads=%u,batch=%u",
             weft_values_name(row->kind), row->ones ? "-replace" : "", row->n,
             row->heads * row->width, row->heads * row->values, row->heads, row->batch);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    weft_shape shape = weft_shape_of(row->batch, row->n, row->heads * row->width);
    weft_shape values = weft_shape_of(row->batch, row->n, row->heads * row->values);
    weft_array q = weft_case_input(c, "q", shape, row->kind);
    weft_array k = weft_case_input(c, "k", shape, row->kind);
    weft_array v = weft_case_input(c, "v", values, row->kind);
    weft_array b =
        weft_case_input(c, "b", weft_shape_of(row->batch, row->n, row->heads), WEFT_VALUES_UNIT);
    weft_tensor beta = {0};
    weft_tensor y = {0};
    weft_case_check(
        c, row->ones ? weft_graph_affine(&beta, c->graph, b.tensor, 0.0F, 1.0F)
                     : weft_graph_activate(&beta, c->graph, b.tensor, WEFT_ACTIVATION_SIGMOID));
    weft_case_check(c, weft_graph_fast_weight(&y, c->graph, q.tensor, k.tensor, v.tensor, beta,
                                              weft_fast_weight_params(.heads = row->heads)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        struct arrays arrays = {.q = q.value, .k = k.value, .v = v.value, .beta = b.value};
        reference(c, expected, &arrays, row);
    }
}

const weft_case_family weft_family_fast_weight = {.name = "fast_weight",
                                                  .count = sizeof rows / sizeof rows[0],
                                                  .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                  .name_case = name_case,
                                                  .build = build};
