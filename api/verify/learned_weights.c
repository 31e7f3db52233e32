/* SPDX-License-Identifier: MIT */
/* Learned weight matrices: Σ_c n + μ_c and generators of noise by their formulas, and random features with them. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

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

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    if (index < COUNT(mixtures)) {
        const struct mixture_row *row = &mixtures[index];
        snprintf(text, WEFT_CASE_NAME_SIZE, "gmm%s%s/s=%u,C=%u,d=%u,n=%u", row->full ? "-full" : "",
                 row->tokens != 0 ? "-features" : "", row->components * row->each, row->components,
                 row->d, row->tokens);
        return;
    }
    const struct generator_row *row = &generators[index - COUNT(mixtures)];
    snprintf(text, WEFT_CASE_NAME_SIZE, "dgm%s/%s%s/s=%u,layers=%u,noise=%u,d=%u,n=%u",
             row->tokens != 0 ? "-features" : "", weft_activation_name(row->activation),
             row->has_bias ? ",bias" : "", row->s, row->layers, row->width[0],
             row->width[row->layers], row->tokens);
}

/* ---- the output: the matrix, or PosRF with it ---- */

static void features(double *out, const double *x, const double *w, uint32_t tokens, uint32_t s,
                     uint32_t d) {
    const double scale = (double)(float)pow(d, -0.25);
    for (uint32_t i = 0; i < tokens; i++) {
        for (uint32_t f = 0; f < s; f++) {
            double exponent = 0.0;
            for (uint32_t c = 0; c < d; c++) {
                const double value = scale * x[(uint64_t)i * d + c];
                exponent += value * w[(uint64_t)f * d + c] - 0.5 * value * value;
            }
            out[(uint64_t)i * s + f] = exp(exponent) / sqrt(s);
        }
    }
}

struct matrix {
    weft_tensor w;
    uint32_t s, d, tokens;
    /* Writes w [s, d]. */
    void (*reference)(weft_case *c, double *w, const void *row, const void *inputs);
    const void *row, *inputs;
};

static void finish(weft_case *c, const struct matrix *m) {
    weft_array x = {0};
    weft_tensor y = m->w;
    if (m->tokens != 0) {
        x = weft_case_input(c, "x", weft_shape_of(1, m->tokens, m->d), WEFT_VALUES_UNIT);
        weft_case_check(c, weft_graph_random_features(
                               &y, c->graph, x.tensor, m->w,
                               weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE)));
    }
    double *expected = weft_case_output(c, "y", y);
    if (expected == NULL) {
        return;
    }
    if (m->tokens == 0) {
        m->reference(c, expected, m->row, m->inputs);
        return;
    }
    double *w = weft_case_scratch(c, (uint64_t)m->s * m->d);
    if (w != NULL) {
        m->reference(c, w, m->row, m->inputs);
        features(expected, x.value, w, m->tokens, m->s, m->d);
    }
    weft_case_scratch_free(c, w);
}

/* ---- references ---- */

struct mixture_inputs {
    weft_array noise, sigma, mu;
};

static void reference_mixture(weft_case *c, double *w, const void *row_of, const void *inputs_of) {
    const struct mixture_row *row = row_of;
    const struct mixture_inputs *in = inputs_of;
    const uint64_t d = row->d;
    (void)c;
    for (uint64_t i = 0; i < (uint64_t)row->components * row->each; i++) {
        const uint64_t component = i / row->each;
        for (uint64_t j = 0; j < d; j++) {
            double sum = 0.0;
            for (uint64_t k = 0; row->full && k < d; k++) {
                sum += in->sigma.value[(component * d + j) * d + k] * in->noise.value[i * d + k];
            }
            if (!row->full) {
                sum = in->sigma.value[component * d + j] * in->noise.value[i * d + j];
            }
            w[i * d + j] = sum + in->mu.value[component * d + j];
        }
    }
}

static void build_mixture(weft_case *c, const struct mixture_row *row) {
    const uint32_t s = row->components * row->each;
    const weft_shape full = weft_shape_of(row->components, row->d, row->d);
    const weft_shape diagonal = weft_shape_of(row->components, row->d);
    const struct mixture_inputs in = {
        .noise = weft_case_weight(c, weft_shape_of(s, row->d), WEFT_VALUES_UNIT),
        .sigma = weft_case_weight(c, row->full ? full : diagonal, WEFT_VALUES_UNIT),
        .mu = weft_case_weight(c, diagonal, WEFT_VALUES_UNIT)};
    struct matrix m = {.s = s,
                       .d = row->d,
                       .tokens = row->tokens,
                       .reference = reference_mixture,
                       .row = row,
                       .inputs = &in};
    weft_case_check(
        c, weft_graph_gmm_weights(&m.w, c->graph, in.noise.tensor, in.sigma.tensor, in.mu.tensor));
    finish(c, &m);
}

struct generator_inputs {
    weft_array noise, weight[4], bias[4];
};

/* One row of w: g of a row of noise. `from` and `to` hold a layer each. */
static void generate(double *w, const struct generator_row *row, const struct generator_inputs *in,
                     const double *noise, double *from, double *to) {
    for (uint32_t k = 0; k < row->width[0]; k++) {
        from[k] = noise[k];
    }
    for (uint32_t i = 0; i < row->layers; i++) {
        const uint32_t width = row->width[i];
        for (uint32_t j = 0; j < row->width[i + 1]; j++) {
            double sum = row->has_bias ? in->bias[i].value[j] : 0.0;
            for (uint32_t k = 0; k < width; k++) {
                sum += in->weight[i].value[(uint64_t)j * width + k] * from[k];
            }
            const bool last = i + 1 == row->layers;
            to[j] = last ? sum : weft_reference_activation(row->activation, sum);
        }
        for (uint32_t j = 0; j < row->width[i + 1]; j++) {
            from[j] = to[j];
        }
    }
    for (uint32_t j = 0; j < row->width[row->layers]; j++) {
        w[j] = from[j];
    }
}

static void reference_generator(weft_case *c, double *w, const void *row_of,
                                const void *inputs_of) {
    const struct generator_row *row = row_of;
    const struct generator_inputs *in = inputs_of;
    double *layers = weft_case_scratch(c, 2 * 128); /* wider than any above */
    for (uint64_t i = 0; layers != NULL && i < row->s; i++) {
        generate(w + i * row->width[row->layers], row, in, in->noise.value + i * row->width[0],
                 layers, layers + 128);
    }
    weft_case_scratch_free(c, layers);
}

static void build_generator(weft_case *c, const struct generator_row *row) {
    struct generator_inputs in = {
        .noise = weft_case_weight(c, weft_shape_of(row->s, row->width[0]), WEFT_VALUES_UNIT)};
    weft_dgm_weights_params params = {.layers = row->layers, .activation = row->activation};
    for (uint32_t i = 0; i < row->layers; i++) {
        in.weight[i] =
            weft_case_weight(c, weft_shape_of(row->width[i + 1], row->width[i]), WEFT_VALUES_UNIT);
        params.weight[i] = in.weight[i].tensor;
        if (row->has_bias) {
            in.bias[i] = weft_case_weight(c, weft_shape_of(row->width[i + 1]), WEFT_VALUES_UNIT);
            params.bias[i] = in.bias[i].tensor;
        }
    }
    struct matrix m = {.s = row->s,
                       .d = row->width[row->layers],
                       .tokens = row->tokens,
                       .reference = reference_generator,
                       .row = row,
                       .inputs = &in};
    weft_case_check(c, weft_graph_dgm_weights(&m.w, c->graph, in.noise.tensor, &params));
    finish(c, &m);
}

static void build(weft_case *c, uint32_t index) {
    if (index < COUNT(mixtures)) {
        build_mixture(c, &mixtures[index]);
    } else {
        build_generator(c, &generators[index - COUNT(mixtures)]);
    }
}

const weft_case_family weft_family_learned_weights = {.name = "learned_weights",
                                                      .count = COUNT(mixtures) + COUNT(generators),
                                                      .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                      .name_case = name_case,
                                                      .build = build};
