/* SPDX-License-Identifier: MIT */
/* Learned weight matrices: mixtures Σ_c n + μ_c and generators of noise, and random features with them. */
#include <stdio.h>

#include "verify/trials.h"

static weft_status call_gmm_weights(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                    const void *params) {
    (void)params;
    return weft_graph_gmm_weights(y, graph, x[0], x[1], x[2]);
}

WEFT_SHEET_CALL(dgm_weights, x[0])

enum { NOISE, SIGMA, MU };

static const weft_trial mixture_trials[] = {
    {INVALID, IS(AS(SIGMA, 5, 4), AS(MU, 5, 4)), SAYS("5 components", "12 rows")},
    {MISMATCH, IS(AS(MU, 5, 4)), SAYS("sigma [3, 4]", "mu [5, 4]", "[C, d]")},
    {MISMATCH, IS(AS(SIGMA, 3, 4, 4), AS(MU, 3, 5)), SAYS("mu [3, 5]")},
    {MISMATCH, IS(AS(SIGMA, 4, 4)), SAYS("sigma [4, 4]")},
    {MISMATCH, IS(AS(NOISE, 12)), SAYS("noise [12]", "[s, d]")},
    {MISMATCH, IS(AS(MU, 12)), SAYS("mu [12]")},
    {MISMATCH, IS(AS_I32(NOISE, 12, 4)), SAYS("noise must be f32")},
    {INVALID, IS(AS_NOTHING(SIGMA)), SAYS("")},
    {ACCEPTED, IS(AS(SIGMA, 3, 4, 4)), GIVES(12, 4)},
};

#define GENERATOR(...) .params = weft_dgm_weights_params(__VA_ARGS__)

static const weft_trial generator_trials[] = {
    {INVALID, GENERATOR(.layers = 0), SAYS("layers 0", "1 … 8")},
    {INVALID, GENERATOR(.layers = 9), SAYS("layers 9", "1 … 8")},
    {INVALID, GENERATOR(.layers = 1, .activation = WEFT_ACTIVATION_COUNT),
     SAYS("activation 9", "0 … 8")},
    {MISMATCH, IS(AS(1, 4, 4), AS(2, 3, 5)), GENERATOR(.layers = 2), SAYS("[3, 5]")},
    {INVALID, .without_params = true, SAYS("params is null")},
};

const weft_sheet weft_sheet_gmm_weights = {
    .name = "gmm_weights",
    .operands = {WEFT_INPUT("noise", .shape = {2, {12, 4}}),
                 WEFT_INPUT("sigma", .shape = {2, {3, 4}}), WEFT_INPUT("mu", .shape = {2, {3, 4}})},
    .call = call_gmm_weights,
    WEFT_SHEET_TRIALS(mixture_trials),
};

const weft_sheet weft_sheet_dgm_weights = {
    WEFT_SHEET_OP(dgm_weights),
    .operands = {WEFT_INPUT("noise", .shape = {2, {12, 4}}),
                 WEFT_OPTIONAL("first", weft_dgm_weights_params, weight[0], .shape = {0}),
                 WEFT_OPTIONAL("second", weft_dgm_weights_params, weight[1], .shape = {0})},
    WEFT_SHEET_TRIALS(generator_trials),
};

/* ---- cases ---- */

/* ---- mixtures ---- */

static const struct mixture_row {
    uint32_t components, each, d; /* each: rows of a component */
    bool full;
    uint32_t tokens; /* 0: the matrix alone; else PosRF of so many tokens with it */
} mixtures[] = {
    {1, 1, 1, false, 0},  {1, 1, 1, true, 0},    {2, 8, 8, false, 0},  {2, 8, 8, true, 0},
    {3, 7, 5, false, 0},  {3, 7, 5, true, 0},    {16, 1, 8, false, 0}, {16, 1, 8, true, 0},
    {1, 131, 3, true, 0}, {5, 33, 67, false, 0}, {4, 40, 64, true, 0}, {3, 7, 5, true, 17},
    {4, 8, 8, false, 9},
};

/* ---- generators ---- */

static const struct generator_row {
    uint32_t s, layers;
    uint32_t width[4]; /* of the noise, and of every layer */
    weft_activation activation;
    bool has_bias;
    uint32_t tokens;
} generators[] = {
    {1, 1, {1, 1}, WEFT_ACTIVATION_NONE, true, 0},
    {19, 1, {5, 7}, WEFT_ACTIVATION_TANH, false, 0},
    {32, 2, {4, 16, 8}, WEFT_ACTIVATION_RELU, true, 0},
    {33, 2, {7, 31, 5}, WEFT_ACTIVATION_TANH, false, 0},
    {129, 3, {16, 64, 65, 64}, WEFT_ACTIVATION_TANH, true, 0},
    {64, 3, {3, 8, 8, 11}, WEFT_ACTIVATION_GELU_ERF, true, 0},
    {16, 2, {8, 5, 6}, WEFT_ACTIVATION_SIGMOID, true, 11},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    if (index < WEFT_COUNT(mixtures)) {
        const struct mixture_row *row = &mixtures[index];
        snprintf(text, WEFT_CASE_NAME_SIZE, "gmm%s%s/s=%u,C=%u,d=%u,n=%u", row->full ? "-full" : "",
                 row->tokens != 0 ? "-features" : "", row->components * row->each, row->components,
                 row->d, row->tokens);
        return;
    }
    const struct generator_row *row = &generators[index - WEFT_COUNT(mixtures)];
    snprintf(text, WEFT_CASE_NAME_SIZE, "dgm%s/%s%s/s=%u,layers=%u,noise=%u,d=%u,n=%u",
             row->tokens != 0 ? "-features" : "", weft_activation_name(row->activation),
             row->has_bias ? ",bias" : "", row->s, row->layers, row->width[0],
             row->width[row->layers], row->tokens);
}

/* ---- the matrix ---- */

static weft_array add_mixture(weft_case *c, const struct mixture_row *row) {
    const uint32_t s = row->components * row->each;
    const uint64_t d = row->d;
    const weft_shape full = weft_shape_of(row->components, row->d, row->d);
    const weft_shape diagonal = weft_shape_of(row->components, row->d);
    const weft_array noise = weft_case_weight(c, weft_shape_of(s, row->d), WEFT_VALUES_UNIT);
    const weft_array sigma = weft_case_weight(c, row->full ? full : diagonal, WEFT_VALUES_UNIT);
    const weft_array mu = weft_case_weight(c, diagonal, WEFT_VALUES_UNIT);
    weft_tensor w = {0};
    double *out;
    const weft_status status =
        weft_graph_gmm_weights(&w, c->graph, noise.tensor, sigma.tensor, mu.tensor);
    weft_array matrix = weft_case_made(c, status, w, weft_shape_of(s, row->d), false, &out);
    for (uint64_t at = 0; out && at < s * d; at++) {
        const uint64_t component = at / d / row->each;
        const uint64_t j = at % d;
        const double *own = noise.value + at - j;
        for (uint64_t k = 0; row->full && k < d; k++) {
            out[at] += sigma.value[(component * d + j) * d + k] * own[k];
        }
        out[at] += row->full ? 0.0 : sigma.value[component * d + j] * own[j];
        out[at] += mu.value[component * d + j];
    }
    return matrix;
}

/* The layers one after the other: what the graph has as one call. */
static weft_array add_generator(weft_case *c, const struct generator_row *row) {
    const weft_array noise =
        weft_case_weight(c, weft_shape_of(row->s, row->width[0]), WEFT_VALUES_UNIT);
    const uint32_t layers = row->layers;
    weft_array weight[4];
    weft_array bias[4];
    weft_dgm_weights_params params = {.layers = layers, .activation = row->activation};
    for (uint32_t i = 0; i < layers; i++) {
        weight[i] =
            weft_case_weight(c, weft_shape_of(row->width[i + 1], row->width[i]), WEFT_VALUES_UNIT);
        params.weight[i] = weight[i].tensor;
        bias[i] = weft_case_optional_weight(c, row->has_bias, weft_shape_of(row->width[i + 1]));
        params.bias[i] = bias[i].tensor;
    }
    weft_tensor w = {0};
    const weft_status status = weft_graph_dgm_weights(&w, c->graph, noise.tensor, &params);
    weft_array x = noise;
    c->only_values = true;
    for (uint32_t i = 0; i < layers; i++) {
        x = weft_case_linear(c, x, weight[i], bias[i]);
        x = i + 1 < layers ? weft_case_activate(c, x, row->activation) : x;
    }
    c->only_values = false;
    return weft_case_named(c, status, w, x);
}

/* ---- the output: the matrix, or PosRF with it ---- */

static void finish(weft_case *c, weft_array w, uint32_t tokens) {
    if (tokens == 0) {
        weft_case_expect(c, "y", w);
        return;
    }
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(1, tokens, w.shape.dim[1]), WEFT_VALUES_UNIT);
    weft_case_expect(
        c, "y",
        weft_case_random_features(
            c, x, w, weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE)));
}

static void build(weft_case *c, uint32_t index) {
    if (index < WEFT_COUNT(mixtures)) {
        finish(c, add_mixture(c, &mixtures[index]), mixtures[index].tokens);
    } else {
        const struct generator_row *row = &generators[index - WEFT_COUNT(mixtures)];
        finish(c, add_generator(c, row), row->tokens);
    }
}

WEFT_CASE_FAMILY(learned_weights, WEFT_COUNT(mixtures) + WEFT_COUNT(generators),
                 WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
