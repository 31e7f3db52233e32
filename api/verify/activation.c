/* SPDX-License-Identifier: MIT */
/* Activation functions. */
#include <math.h>
#include <stdio.h>

#include "verify/conformance.h"

#define SQRT_2_OVER_PI 0.79788456080286535588
#define SQRT_HALF      0.70710678118654752440

/* The formulas of graph.h; erfc and a quotient where 1 + erf and 1 + tanh would cancel. */
double weft_reference_activation(weft_activation activation, double x) {
    switch (activation) {
    case WEFT_ACTIVATION_GELU_TANH:
        return x / (1.0 + exp(-2.0 * SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)));
    case WEFT_ACTIVATION_GELU_ERF:
        return 0.5 * x * erfc(-x * SQRT_HALF);
    case WEFT_ACTIVATION_TANH:
        return tanh(x);
    case WEFT_ACTIVATION_RELU:
        return x > 0.0 ? x : 0.0;
    case WEFT_ACTIVATION_SIGMOID:
        return 1.0 / (1.0 + exp(-x));
    case WEFT_ACTIVATION_SILU:
        return x / (1.0 + exp(-x));
    case WEFT_ACTIVATION_ELU1:
        return x > 0.0 ? x + 1.0 : exp(x);
    case WEFT_ACTIVATION_EXP:
        return exp(x);
    default:
        return x;
    }
}

static const struct row {
    weft_shape x;
    weft_values values;
} rows[] = {
    {{3, {2, 37, 31}}, WEFT_VALUES_TENS}, {{2, {129, 5}}, WEFT_VALUES_UNIT},
    {{1, {1021}}, WEFT_VALUES_SMALL},     {{4, {2, 3, 5, 17}}, WEFT_VALUES_MIXED},
    {{1, {257}}, WEFT_VALUES_ZEROS},
};

#define ROW_COUNT ((uint32_t)(sizeof rows / sizeof rows[0]))

static weft_activation activation_of(uint32_t index) {
    return (weft_activation)(index / ROW_COUNT);
}

/* exp overflows where MIXED goes. */
static weft_values values_of(uint32_t index) {
    weft_activation activation = activation_of(index);
    bool grows = activation == WEFT_ACTIVATION_EXP;
    weft_values values = rows[index % ROW_COUNT].values;
    return grows && values == WEFT_VALUES_MIXED ? WEFT_VALUES_TENS : values;
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/rank=%u,elements=%u",
             weft_activation_name(activation_of(index)), weft_values_name(values_of(index)),
             row->x.rank, (uint32_t)weft_shape_elements(row->x));
}

static void build(weft_case *c, uint32_t index) {
    weft_activation activation = activation_of(index);
    weft_shape shape = rows[index % ROW_COUNT].x;
    weft_array x = weft_case_input(c, "x", shape, values_of(index));
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_activate(&y, c->graph, x.tensor, activation));
    double *expected = weft_case_output(c, "y", y);
    for (uint64_t i = 0; expected != NULL && i < weft_shape_elements(shape); i++) {
        expected[i] = weft_reference_activation(activation, x.value[i]);
    }
}

const weft_case_family weft_family_activation = {.name = "activation",
                                                 .count = ROW_COUNT * WEFT_ACTIVATION_COUNT,
                                                 .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                 .name_case = name_case,
                                                 .build = build};
