/* SPDX-License-Identifier: MIT */
/* Linear attention, kernel attention and cosFormer where the range of float32 ends. */
#include <math.h>
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/sheet.h"

struct row {
    uint32_t n, keys; /* keys 0: causal, as many as queries */
    uint32_t heads, width, values;
    weft_values q, k, v;
    weft_feature_map map; /* kernel attention's */
};

#define UNIT     WEFT_VALUES_UNIT
#define EQUAL    WEFT_VALUES_EQUAL
#define SUB      WEFT_VALUES_SUBNORMAL
#define BIG      WEFT_VALUES_HUGE
#define INFINITE WEFT_VALUES_INFINITE
#define NOT      WEFT_VALUES_NAN

static void name_with(char text[WEFT_CASE_NAME_SIZE], const struct row *row, const char *map) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/%s,%s,%s/n=%u,m=%u,d=%u,dv=%u,heads=%u",
             row->keys == 0 ? "causal" : "full", map, weft_values_name(row->q),
             weft_values_name(row->k), weft_values_name(row->v), row->n,
             row->keys == 0 ? row->n : row->keys, row->heads * row->width, row->heads * row->values,
             row->heads);
}

static void name_row(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    name_with(text, row, "");
}

static weft_bounded_attention attention_of(const struct row *row) {
    return (weft_bounded_attention){.n = row->n,
                                    .keys = row->keys == 0 ? row->n : row->keys,
                                    .heads = row->heads,
                                    .features = row->width,
                                    .values = row->values,
                                    .causal = row->keys == 0};
}

struct inputs {
    weft_array q, k, v;
};

static struct inputs add_inputs(weft_case *c, const struct row *row) {
    uint32_t keys = row->keys == 0 ? row->n : row->keys;
    struct inputs inputs;
    inputs.q = weft_case_input(c, "q", weft_shape_of(1, row->n, row->heads * row->width), row->q);
    inputs.k = weft_case_input(c, "k", weft_shape_of(1, keys, row->heads * row->width), row->k);
    inputs.v = weft_case_input(c, "v", weft_shape_of(1, keys, row->heads * row->values), row->v);
    return inputs;
}

/* Features of one head of a token. */
typedef void (*make_features)(weft_bounded *out, const weft_bounded *x, const struct row *row,
                              uint64_t token);

/* Expects attention over features, `growth` times as many as the channels, of the newest output. */
static void expect(weft_case *c, const struct row *row, const struct inputs *inputs,
                   make_features features, uint32_t growth) {
    weft_bounded_attention a = attention_of(row);
    const uint64_t heads[2] = {(uint64_t)a.n * a.heads, (uint64_t)a.keys * a.heads};
    weft_bounded *x[3];
    weft_bounded *made[2];
    x[0] = weft_bounded_of(c, inputs->q.value, heads[0] * row->width);
    x[1] = weft_bounded_of(c, inputs->k.value, heads[1] * row->width);
    x[2] = weft_bounded_of(c, inputs->v.value, heads[1] * row->values);
    weft_bounded *out = weft_bounded_scratch(c, heads[0] * row->values);
    a.features = growth * row->width;
    for (uint32_t i = 0; i < 2; i++) {
        made[i] = weft_bounded_scratch(c, heads[i] * a.features);
        for (uint64_t head = 0; c->ref.status == WEFT_OK && head < heads[i]; head++) {
            features(made[i] + head * a.features, x[i] + head * row->width, row, head / a.heads);
        }
    }
    weft_bounded_linear_attention(c, out, made[0], made[1], x[2], &a);
    weft_bounded_expect(c, out);
}

/* ---- linear attention: the features are given ---- */

static const struct row linear_rows[] = {
    {5, 37, 2, 4, 3, SUB, SUB, SUB, 0},          {7, 9, 2, 4, 3, EQUAL, EQUAL, BIG, 0},
    {9, 17, 2, 4, 3, EQUAL, INFINITE, EQUAL, 0}, {70, 0, 1, 4, 4, EQUAL, EQUAL, NOT, 0},
    {70, 0, 2, 3, 2, EQUAL, NOT, EQUAL, 0},      {70, 0, 1, 3, 5, NOT, EQUAL, INFINITE, 0},
};

static void given_features(weft_bounded *out, const weft_bounded *x, const struct row *row,
                           uint64_t token) {
    (void)token;
    for (uint32_t i = 0; i < row->width; i++) {
        out[i] = x[i];
    }
}

static void build_linear(weft_case *c, const struct row *row) {
    struct inputs inputs = add_inputs(c, row);
    weft_case_expect(
        c, "y",
        weft_case_linear_attention(
            c, inputs.q, inputs.k, inputs.v,
            weft_linear_attention_params(.heads = row->heads, .causal = row->keys == 0)));
    expect(c, row, &inputs, given_features, 1);
}

WEFT_SPECIAL_TABLE(linear_attention, linear_rows, WEFT_TOLERANCE_LINEAR, name_row, build_linear);

/* ---- kernel attention with one kernel ---- */

static const struct row kernel_rows[] = {
    {5, 37, 2, 4, 3, SUB, SUB, WEFT_VALUES_TINY, WEFT_FEATURE_ELU1},
    {9, 7, 2, 4, 3, UNIT, WEFT_VALUES_MASKED, UNIT, WEFT_FEATURE_ELU1}, /* -inf: no key at all */
    {70, 0, 2, 3, 3, INFINITE, UNIT, UNIT, WEFT_FEATURE_ELU1},
    {19, 7, 2, 2, 3, WEFT_VALUES_HUNDREDS, UNIT, UNIT, WEFT_FEATURE_EXP},
    {9, 7, 2, 4, 3, INFINITE, INFINITE, UNIT, WEFT_FEATURE_TANH1},
};

static void name_kernel(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    char map[32];
    snprintf(map, sizeof map, "/%s", weft_feature_map_name(row->map));
    name_with(text, row, map);
}

/* 1 + tanh(x) is 2 sigmoid(2x). */
static weft_bounded map_of(weft_feature_map map, weft_bounded x) {
    const weft_bounded two = weft_bounded_exact(2.0);
    switch (map) {
    case WEFT_FEATURE_ELU1:
        return weft_bounded_activation(WEFT_ACTIVATION_ELU1, x);
    case WEFT_FEATURE_EXP:
        return weft_bounded_exp(x);
    default:
        return weft_bounded_multiply(
            two, weft_bounded_activation(WEFT_ACTIVATION_SIGMOID, weft_bounded_multiply(two, x)));
    }
}

static void mapped_features(weft_bounded *out, const weft_bounded *x, const struct row *row,
                            uint64_t token) {
    (void)token;
    for (uint32_t i = 0; i < row->width; i++) {
        out[i] = map_of(row->map, x[i]);
    }
}

static void build_kernel(weft_case *c, const struct row *row) {
    const weft_kernel kernel = {.map = row->map};
    struct inputs inputs = add_inputs(c, row);
    weft_case_expect(c, "y",
                     weft_case_kernel_attention(
                         c, inputs.q, inputs.k, inputs.v,
                         weft_kernel_attention_params(.heads = row->heads, .causal = row->keys == 0,
                                                      .kernels = &kernel, .kernel_count = 1),
                         NULL));
    expect(c, row, &inputs, mapped_features, 1);
}

WEFT_SPECIAL_TABLE(kernel_attention, kernel_rows, WEFT_TOLERANCE_EXPONENTIAL, name_kernel,
                   build_kernel);

/* ---- cosFormer ---- */

static const struct row cosformer_rows[] = {
    {9, 7, 2, 4, 3, SUB, SUB, SUB, 0},
    {70, 0, 2, 3, 3, UNIT, UNIT, NOT, 0},
    {9, 7, 2, 4, 3, INFINITE, UNIT, BIG, 0}, /* at token 0: infinity · sin 0 */
};

/* A cosine or sine of the table; those of token 0 are exact. */
static weft_bounded position(double x) {
    bool is_exact = x == 0.0 || x == 1.0;
    return (weft_bounded){.value = x, .error = is_exact ? 0.0 : 0x1p-24};
}

static void cosformer_features(weft_bounded *out, const weft_bounded *x, const struct row *row,
                               uint64_t token) {
    uint32_t length = row->n > row->keys ? row->n : row->keys;
    double angle = 1.57079632679489661923 * (double)token / length;
    for (uint32_t i = 0; i < row->width; i++) {
        weft_bounded value = weft_bounded_activation(WEFT_ACTIVATION_RELU, x[i]);
        out[i] = weft_bounded_multiply(value, position(cos(angle)));
        out[row->width + i] = weft_bounded_multiply(value, position(sin(angle)));
    }
}

static void build_cosformer(weft_case *c, const struct row *row) {
    struct inputs inputs = add_inputs(c, row);
    weft_case_expect(c, "y",
                     WEFT_MIX(c, cosformer,
                              weft_cosformer_params(.heads = row->heads, .causal = row->keys == 0),
                              inputs.q, inputs.k, inputs.v));
    expect(c, row, &inputs, cosformer_features, 2);
}

WEFT_SPECIAL_TABLE(cosformer, cosformer_rows, WEFT_TOLERANCE_LINEAR, name_row, build_cosformer);
