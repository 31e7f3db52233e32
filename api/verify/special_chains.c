/* SPDX-License-Identifier: MIT */
/* A product with everything that can be fused into it, and the same bits without fusion. */
#include <stdio.h>

#include "verify/bounded.h"

#define EPSILON 1e-12F

enum parts { BIAS = 1, RESIDUAL = 2, RESIDUAL_FIRST = 4, NORM = 8 };

/* norm(activation(x wᵀ + bias) + residual) with x [n, k] and w [m, k]. */
static const struct chain {
    uint32_t n, k, m;
    int parts; /* a sum of enum parts */
    weft_activation activation;
    weft_values x, w, bias, residual;
} chains[] = {
    {5, 65, 129, BIAS, WEFT_ACTIVATION_GELU_TANH, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL,
     WEFT_VALUES_SUBNORMAL, WEFT_VALUES_UNIT},
    {7, 31, 36, BIAS | RESIDUAL, WEFT_ACTIVATION_GELU_ERF, WEFT_VALUES_TINY, WEFT_VALUES_UNIT,
     WEFT_VALUES_TINY, WEFT_VALUES_SUBNORMAL},
    {7, 31, 33, BIAS | RESIDUAL | NORM, WEFT_ACTIVATION_NONE, WEFT_VALUES_SUBNORMAL,
     WEFT_VALUES_UNIT, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {3, 16, 300, NORM, WEFT_ACTIVATION_NONE, WEFT_VALUES_TINY, WEFT_VALUES_TINY, WEFT_VALUES_UNIT,
     WEFT_VALUES_UNIT},
    {5, 9, 129, RESIDUAL | NORM, WEFT_ACTIVATION_ELU1, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT,
     WEFT_VALUES_UNIT, WEFT_VALUES_TINY},
    {9, 13, 37, BIAS, WEFT_ACTIVATION_RELU, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE,
     WEFT_VALUES_UNIT},
    {9, 13, 37, BIAS | RESIDUAL, WEFT_ACTIVATION_EXP, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT,
     WEFT_VALUES_UNIT, WEFT_VALUES_HUGE},
    {9, 13, 37, BIAS | RESIDUAL_FIRST, WEFT_ACTIVATION_TANH, WEFT_VALUES_ZEROS, WEFT_VALUES_ZEROS,
     WEFT_VALUES_ZEROS, WEFT_VALUES_ZEROS},
    {20, 7, 19, BIAS | RESIDUAL, WEFT_ACTIVATION_SILU, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT,
     WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
    {9, 13, 37, BIAS | RESIDUAL, WEFT_ACTIVATION_SIGMOID, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT,
     WEFT_VALUES_INFINITE, WEFT_VALUES_NAN},
    {20, 7, 19, BIAS | RESIDUAL_FIRST | NORM, WEFT_ACTIVATION_NONE, WEFT_VALUES_NAN,
     WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    /* tanh doubles what it has clamped, and what comes behind it is huge */
    {9, 13, 37, BIAS | RESIDUAL, WEFT_ACTIVATION_TANH, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT,
     WEFT_VALUES_HUGE, WEFT_VALUES_HUGE},
    {9, 13, 37, BIAS | RESIDUAL, WEFT_ACTIVATION_GELU_TANH, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT,
     WEFT_VALUES_HUGE, WEFT_VALUES_HUGE},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct chain *chain) {
    bool has_activation = chain->activation != WEFT_ACTIVATION_NONE;
    snprintf(text, WEFT_CASE_NAME_SIZE, "matmul%s%s%s%s%s%s/%s,%s,%s,%s/n=%u,k=%u,m=%u",
             (chain->parts & BIAS) != 0 ? "+bias" : "", has_activation ? "+" : "",
             has_activation ? weft_activation_name(chain->activation) : "",
             (chain->parts & RESIDUAL) != 0 ? "+residual" : "",
             (chain->parts & RESIDUAL_FIRST) != 0 ? "+residual-first" : "",
             (chain->parts & NORM) != 0 ? "+norm" : "", weft_values_name(chain->x),
             weft_values_name(chain->w), weft_values_name(chain->bias),
             weft_values_name(chain->residual), chain->n, chain->k, chain->m);
}

/* The arrays of a chain, those it does not have too. */
struct arrays {
    weft_array x, w, bias, residual, gamma, beta;
};

static struct arrays make_arrays(weft_case *c, const struct chain *chain) {
    struct arrays arrays = {.residual = {.value = NULL}};
    arrays.x = weft_case_input(c, "x", weft_shape_of(1, chain->n, chain->k), chain->x);
    arrays.w = weft_case_weight(c, weft_shape_of(chain->m, chain->k), chain->w);
    arrays.bias = weft_case_weight(c, weft_shape_of(chain->m), chain->bias);
    arrays.gamma = weft_case_weight(c, weft_shape_of(chain->m), WEFT_VALUES_UNIT);
    arrays.beta = weft_case_weight(c, weft_shape_of(chain->m), WEFT_VALUES_UNIT);
    if ((chain->parts & (RESIDUAL | RESIDUAL_FIRST)) != 0) {
        arrays.residual =
            weft_case_input(c, "residual", weft_shape_of(1, chain->n, chain->m), chain->residual);
    }
    return arrays;
}

static weft_tensor add_ops(weft_case *c, const struct chain *chain, const struct arrays *arrays) {
    weft_tensor bias = (chain->parts & BIAS) != 0 ? arrays->bias.tensor : (weft_tensor){0};
    weft_tensor residual = arrays->residual.tensor;
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_linear(&y, c->graph, arrays->x.tensor, arrays->w.tensor, bias));
    if (chain->activation != WEFT_ACTIVATION_NONE) {
        weft_case_check(c, weft_graph_activate(&y, c->graph, y, chain->activation));
    }
    if ((chain->parts & RESIDUAL) != 0) {
        weft_case_check(c, weft_graph_binary(&y, c->graph, WEFT_BINARY_ADD, y, residual));
    }
    if ((chain->parts & RESIDUAL_FIRST) != 0) {
        weft_case_check(c, weft_graph_binary(&y, c->graph, WEFT_BINARY_ADD, residual, y));
    }
    if ((chain->parts & NORM) != 0) {
        weft_case_check(c, weft_graph_layer_norm(&y, c->graph, y, arrays->gamma.tensor,
                                                 arrays->beta.tensor, EPSILON));
    }
    return y;
}

/* out[i] += value[i % period] */
static void add_values(weft_case *c, weft_bounded *out, const double *value, uint64_t count,
                       uint64_t period) {
    weft_bounded *added = weft_bounded_of(c, value, period);
    if (added) {
        weft_bounded_add_arrays(out, out, added, count, period);
    }
}

static void multiply(weft_case *c, weft_bounded *out, const struct chain *chain,
                     const struct arrays *arrays) {
    weft_bounded *x = weft_bounded_of(c, arrays->x.value, (uint64_t)chain->n * chain->k);
    weft_bounded *w = weft_bounded_of(c, arrays->w.value, (uint64_t)chain->m * chain->k);
    if (c->ref.status == WEFT_OK) {
        weft_bounded_matmul(
            out, x, w,
            (weft_reference_product){
                .m = chain->n, .n = chain->m, .k = chain->k, .transpose_b = true, .alpha = 1.0});
    }
}

static void normalize(weft_case *c, weft_bounded *out, const struct chain *chain,
                      const struct arrays *arrays) {
    weft_bounded *gamma = weft_bounded_of(c, arrays->gamma.value, chain->m);
    weft_bounded *beta = weft_bounded_of(c, arrays->beta.value, chain->m);
    if (c->ref.status == WEFT_OK) {
        weft_bounded_layer_norm(out, out, gamma, beta, chain->n, chain->m, (double)EPSILON);
    }
}

static void expect(weft_case *c, const struct chain *chain, const struct arrays *arrays) {
    const uint64_t count = (uint64_t)chain->n * chain->m;
    weft_bounded *out = weft_bounded_scratch(c, count);
    if (!out) {
        return;
    }
    multiply(c, out, chain, arrays);
    if ((chain->parts & BIAS) != 0) {
        add_values(c, out, arrays->bias.value, count, chain->m);
    }
    for (uint64_t i = 0; i < count; i++) {
        out[i] = weft_bounded_activation(chain->activation, out[i]);
    }
    if (arrays->residual.value) {
        add_values(c, out, arrays->residual.value, count, count);
    }
    if ((chain->parts & NORM) != 0) {
        normalize(c, out, chain, arrays);
    }
    weft_bounded_expect(c, out);
}

static void build(weft_case *c, const struct chain *chain) {
    c->check_fusion = true;
    struct arrays arrays = make_arrays(c, chain);
    weft_case_output(c, "y", add_ops(c, chain, &arrays));
    expect(c, chain, &arrays);
}

WEFT_SPECIAL_TABLE(chains, chains, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
