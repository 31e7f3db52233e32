/* SPDX-License-Identifier: MIT */
/*
 * Chains that the fuse pass draws together, and chains that only look as if it could: against
 * float64, and bit for bit against the same graph without fusion.
 */
#include <stdio.h>

#include "verify/paired.h"

#define EPSILON 1e-12F

/* ---- what chains are made of ---- */

/* W x + b with a constant [m, k] and a bias [m]. */
struct dense {
    weft_array weight, bias;
};

static struct dense make_dense(weft_case *c, uint32_t k, uint32_t m) {
    struct dense layer; /* one after the other: an initializer may draw them in any order */
    layer.weight = weft_case_weight(c, weft_shape_of(m, k), WEFT_VALUES_UNIT);
    layer.bias = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    return layer;
}

static weft_array dense(weft_case *c, const struct dense *layer, weft_array x) {
    return weft_case_linear(c, x, layer->weight, layer->bias);
}

static weft_array sum(weft_case *c, weft_array a, weft_array b) {
    return weft_case_binary(c, WEFT_BINARY_ADD, a, b);
}

static weft_norm_params make_norm(weft_case *c, uint32_t columns) {
    weft_norm_params norm = {.epsilon = EPSILON};
    norm.gamma = weft_case_weight(c, weft_shape_of(columns), WEFT_VALUES_UNIT).tensor;
    norm.beta = weft_case_weight(c, weft_shape_of(columns), WEFT_VALUES_UNIT).tensor;
    return norm;
}

/* ---- a product with everything behind it ---- */

enum parts { BIAS = 1, RESIDUAL = 2, RESIDUAL_FIRST = 4, NORM = 8 };

struct chain {
    uint32_t batch, n, k, m;
    int parts; /* a sum of enum parts */
    weft_activation activation;
};

static const struct chain chains[] = {
    {1, 37, 31, 65, BIAS, WEFT_ACTIVATION_NONE},
    {2, 37, 31, 65, BIAS, WEFT_ACTIVATION_GELU_TANH},
    {1, 33, 129, 66, BIAS, WEFT_ACTIVATION_GELU_ERF},
    {1, 33, 64, 68, BIAS, WEFT_ACTIVATION_TANH},
    {3, 5, 7, 11, BIAS, WEFT_ACTIVATION_RELU},
    {1, 1, 1, 1, BIAS, WEFT_ACTIVATION_SIGMOID},
    {1, 64, 100, 128, BIAS, WEFT_ACTIVATION_SILU},
    {1, 31, 16, 63, BIAS, WEFT_ACTIVATION_ELU1},
    {1, 31, 3, 63, BIAS, WEFT_ACTIVATION_EXP},
    {2, 37, 31, 65, 0, WEFT_ACTIVATION_GELU_TANH},
    {2, 37, 31, 65, RESIDUAL, WEFT_ACTIVATION_NONE},
    {2, 37, 31, 65, RESIDUAL_FIRST, WEFT_ACTIVATION_SILU},
    {2, 37, 31, 65, BIAS | RESIDUAL, WEFT_ACTIVATION_NONE},
    {2, 37, 31, 65, BIAS | RESIDUAL, WEFT_ACTIVATION_GELU_TANH},
    {2, 36, 32, 64, BIAS | RESIDUAL_FIRST, WEFT_ACTIVATION_GELU_ERF},
    {1, 7, 31, 129, NORM, WEFT_ACTIVATION_NONE},
    {1, 7, 31, 129, BIAS | NORM, WEFT_ACTIVATION_TANH},
    {1, 37, 129, 31, BIAS | RESIDUAL | NORM, WEFT_ACTIVATION_NONE},
    {2, 33, 128, 96, BIAS | RESIDUAL_FIRST | NORM, WEFT_ACTIVATION_GELU_TANH},
    {3, 5, 256, 130, BIAS | RESIDUAL | NORM, WEFT_ACTIVATION_GELU_ERF},
    {1, 1, 5, 3, RESIDUAL | NORM, WEFT_ACTIVATION_RELU},
};

static void name_chain(char *text, const struct chain *chain) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "matmul%s%s%s%s%s%s/n=%u,k=%u,m=%u,batch=%u",
             (chain->parts & BIAS) != 0 ? "+bias" : "",
             chain->activation == WEFT_ACTIVATION_NONE ? "" : "+",
             chain->activation == WEFT_ACTIVATION_NONE ? ""
                                                       : weft_activation_name(chain->activation),
             (chain->parts & RESIDUAL) != 0 ? "+residual" : "",
             (chain->parts & RESIDUAL_FIRST) != 0 ? "+residual-first" : "",
             (chain->parts & NORM) != 0 ? "+norm" : "", chain->n, chain->k, chain->m, chain->batch);
}

static void build_chain(weft_case *c, const struct chain *chain) {
    struct dense layer = make_dense(c, chain->k, chain->m);
    const weft_norm_params after = make_norm(c, chain->m);
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(chain->batch, chain->n, chain->k), WEFT_VALUES_UNIT);
    layer.bias = (chain->parts & BIAS) != 0 ? layer.bias : (weft_array){0};
    weft_array y = dense(c, &layer, x);
    if (chain->activation != WEFT_ACTIVATION_NONE) {
        y = weft_case_activate(c, y, chain->activation);
    }
    if ((chain->parts & (RESIDUAL | RESIDUAL_FIRST)) != 0) {
        weft_array residual = weft_case_input(
            c, "residual", weft_shape_of(chain->batch, chain->n, chain->m), WEFT_VALUES_UNIT);
        y = (chain->parts & RESIDUAL) != 0 ? sum(c, y, residual) : sum(c, residual, y);
    }
    weft_case_expect(c, "y", (chain->parts & NORM) != 0 ? weft_case_norm(c, y, &after) : y);
}

/* ---- embedding, Fourier, and a whole encoder layer ---- */

static void build_embedding_norm(weft_case *c) {
    const uint32_t n = 37;
    const uint32_t d = 131;
    weft_shape shape = weft_shape_of(2, n);
    weft_array tokens = weft_case_indices(c, "tokens", shape, 0, 99);
    weft_array types = weft_case_indices(c, "types", shape, 0, 3);
    weft_array table = weft_case_weight(c, weft_shape_of(100, d), WEFT_VALUES_UNIT);
    weft_array type_table = weft_case_weight(c, weft_shape_of(4, d), WEFT_VALUES_UNIT);
    weft_array positions = weft_case_weight(c, weft_shape_of(n, d), WEFT_VALUES_UNIT);
    const weft_norm_params after = make_norm(c, d);
    weft_array y = weft_case_embedding(
        c,
        weft_embedding_params(.tokens = tokens.tensor, .table = table.tensor, .types = types.tensor,
                              .type_table = type_table.tensor, .positions = positions.tensor));
    weft_case_expect(c, "y", weft_case_norm(c, y, &after));
}

static void build_embedding_residual_norm(weft_case *c) {
    const uint32_t n = 65;
    const uint32_t d = 36;
    weft_array tokens = weft_case_indices(c, "tokens", weft_shape_of(1, n), 0, 6);
    weft_array table = weft_case_weight(c, weft_shape_of(7, d), WEFT_VALUES_UNIT);
    weft_array residual = weft_case_input(c, "residual", weft_shape_of(1, n, d), WEFT_VALUES_UNIT);
    const weft_norm_params after = make_norm(c, d);
    weft_array y = weft_case_embedding(
        c, weft_embedding_params(.tokens = tokens.tensor, .table = table.tensor));
    weft_case_expect(c, "y", weft_case_norm(c, sum(c, residual, y), &after));
}

/* norm(x + fourier(x)), the first half of an FNet layer; with or without the norm. */
static void build_fourier(weft_case *c, const char *implementation, weft_shape shape,
                          bool normalize) {
    c->implementation = implementation;
    weft_array x = weft_case_input(c, "x", shape, WEFT_VALUES_UNIT);
    const weft_norm_params after = make_norm(c, shape.dim[2]);
    weft_array y = sum(c, x, weft_case_fourier(c, x));
    weft_case_expect(c, "y", normalize ? weft_case_norm(c, y, &after) : y);
}

static void build_fft_residual(weft_case *c) {
    build_fourier(c, "fft", weft_shape_of(1, 37, 31), false);
}

static void build_matrix_residual(weft_case *c) {
    build_fourier(c, "matrix", weft_shape_of(2, 37, 31), false);
}

static void build_fft_residual_norm(weft_case *c) {
    build_fourier(c, "fft", weft_shape_of(3, 100, 64), true);
}

static void build_fft_residual_norm_odd(weft_case *c) {
    build_fourier(c, "fft", weft_shape_of(3, 16, 257), true);
}

static void build_matrix_residual_norm(weft_case *c) {
    build_fourier(c, "matrix", weft_shape_of(3, 100, 64), true);
}

static void build_matrix_residual_norm_odd(weft_case *c) {
    build_fourier(c, "matrix", weft_shape_of(3, 16, 257), true);
}

/* h = norm(x + fourier(x)); y = norm(h + W2 gelu(W1 h + b1) + b2): Lee-Thorp et al., 2022, figure 1. */
static void build_encoder_layer(weft_case *c) {
    const uint32_t d = 48;
    const uint32_t wide = 100;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 37, d), WEFT_VALUES_UNIT);
    const weft_norm_params first = make_norm(c, d);
    const weft_norm_params second = make_norm(c, d);
    const struct dense up = make_dense(c, d, wide);
    const struct dense down = make_dense(c, wide, d);
    weft_array h = weft_case_norm(c, sum(c, weft_case_fourier(c, x), x), &first);
    weft_array inner = weft_case_activate(c, dense(c, &up, h), WEFT_ACTIVATION_GELU_TANH);
    weft_array y = sum(c, h, dense(c, &down, inner));
    weft_case_expect(c, "y", weft_case_norm(c, y, &second));
}

/* ---- where fusion must hold back, or take the right one ---- */

/* The sum of two products: one of them takes the other as its residual. */
static void build_two_products(weft_case *c) {
    const uint32_t d = 65;
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, 33, d), WEFT_VALUES_UNIT);
    const struct dense left = make_dense(c, d, d);
    const struct dense right = make_dense(c, d, d);
    const weft_norm_params after = make_norm(c, d);
    weft_array y = dense(c, &left, x);
    y = sum(c, y, dense(c, &right, x));
    weft_case_expect(c, "y", weft_case_norm(c, y, &after));
}

/* y + y of one product, whose only reader is the sum. */
static void build_doubled(weft_case *c) {
    const uint32_t d = 33;
    weft_array x = weft_case_input(c, "x", weft_shape_of(31, d), WEFT_VALUES_UNIT);
    const struct dense layer = make_dense(c, d, d);
    const weft_norm_params after = make_norm(c, d);
    weft_array y = dense(c, &layer, x);
    weft_case_expect(c, "y", weft_case_norm(c, sum(c, y, y), &after));
}

/* The product itself is an output too, so that it must exist before bias and activation. */
static void build_product_is_output(weft_case *c) {
    const uint32_t k = 30;
    const uint32_t m = 66;
    weft_array x = weft_case_input(c, "x", weft_shape_of(35, k), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(k, m), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    weft_array product = weft_case_matmul(c, x, w, NULL);
    weft_array y = weft_case_activate(c, sum(c, product, bias), WEFT_ACTIVATION_TANH);
    weft_case_expect(c, "product", product);
    weft_case_expect(c, "y", y);
}

/* The bias is an input, and so computed by nobody before; the activation comes after a residual. */
static void build_activation_last(weft_case *c) {
    const uint32_t d = 70;
    weft_array x = weft_case_input(c, "x", weft_shape_of(34, d), WEFT_VALUES_UNIT);
    weft_array w = weft_case_input(c, "w", weft_shape_of(d, d), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_input(c, "bias", weft_shape_of(d), WEFT_VALUES_UNIT);
    weft_array y = sum(c, sum(c, weft_case_matmul(c, x, w, NULL), x), bias);
    weft_case_expect(c, "y", weft_case_activate(c, y, WEFT_ACTIVATION_SILU));
}

/* The activation comes right after the residual: the product can take the residual alone. */
static void build_activation_of_residual(weft_case *c) {
    const uint32_t d = 67;
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, 33, d), WEFT_VALUES_UNIT);
    const struct dense layer = make_dense(c, d, d);
    weft_array y = sum(c, dense(c, &layer, x), x);
    weft_case_expect(c, "y", weft_case_activate(c, y, WEFT_ACTIVATION_GELU_TANH));
}

/* The bias comes after the activation, and another one after that. */
static void build_bias_last(weft_case *c) {
    const uint32_t k = 41;
    const uint32_t m = 70;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 17, k), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(k, m), WEFT_VALUES_UNIT);
    weft_array first = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    weft_array second = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    weft_array y = weft_case_matmul(c, x, w, NULL);
    y = sum(c, weft_case_activate(c, y, WEFT_ACTIVATION_SIGMOID), first);
    weft_case_expect(c, "y", sum(c, y, second));
}

/* Two activations in a row, and a factor: only the first activation can be the product's. */
static void build_scaled_activations(weft_case *c) {
    const uint32_t k = 65;
    const uint32_t m = 31;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, 33, k), WEFT_VALUES_UNIT);
    weft_array w = weft_case_input(c, "w", weft_shape_of(2, m, k), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    weft_array y =
        weft_case_matmul(c, x, w, weft_matmul_params(.transpose_b = true, .alpha = 0.25F));
    y = weft_case_activate(c, sum(c, y, bias), WEFT_ACTIVATION_TANH);
    weft_case_expect(c, "y", weft_case_activate(c, y, WEFT_ACTIVATION_ELU1));
}

/* A matrix of the sequence's shape added over batches is no bias and no residual of equal shape. */
static void build_repeated_residual(weft_case *c) {
    const uint32_t n = 19;
    const uint32_t d = 37;
    weft_array x = weft_case_input(c, "x", weft_shape_of(3, n, d), WEFT_VALUES_UNIT);
    weft_array plane = weft_case_weight(c, weft_shape_of(n, d), WEFT_VALUES_UNIT);
    const struct dense layer = make_dense(c, d, d);
    const weft_norm_params after = make_norm(c, d);
    weft_array y = sum(c, dense(c, &layer, x), plane);
    weft_case_expect(c, "y", weft_case_norm(c, y, &after));
}

/* norm(a + b) of two inputs, and the norm of that norm. */
static void build_norm_of_sum(weft_case *c) {
    const uint32_t d = 257;
    weft_array a = weft_case_input(c, "a", weft_shape_of(2, 5, d), WEFT_VALUES_UNIT);
    weft_array b = weft_case_input(c, "b", weft_shape_of(2, 5, d), WEFT_VALUES_UNIT);
    const weft_norm_params first = make_norm(c, d);
    const weft_norm_params second = make_norm(c, d);
    weft_array y = weft_case_norm(c, sum(c, a, b), &first);
    weft_case_expect(c, "y", weft_case_norm(c, y, &second));
}

/* The transform is read by the sum and is an output: the sum cannot take it over. */
static void build_fourier_is_output(weft_case *c) {
    const uint32_t d = 40;
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, 31, d), WEFT_VALUES_UNIT);
    const weft_norm_params after = make_norm(c, d);
    weft_array transform = weft_case_fourier(c, x);
    weft_array y = weft_case_norm(c, sum(c, transform, x), &after);
    weft_case_expect(c, "transform", transform);
    weft_case_expect(c, "y", y);
}

static const struct graph {
    const char *name;
    void (*build)(weft_case *c);
} graphs[] = {
    {"embedding+norm", build_embedding_norm},
    {"embedding+residual+norm", build_embedding_residual_norm},
    {"fourier-fft+residual/n=37,d=31,batch=1", build_fft_residual},
    {"fourier-matrix+residual/n=37,d=31,batch=2", build_matrix_residual},
    {"fourier-fft+residual+norm/n=100,d=64,batch=3", build_fft_residual_norm},
    {"fourier-fft+residual+norm/n=16,d=257,batch=3", build_fft_residual_norm_odd},
    {"fourier-matrix+residual+norm/n=100,d=64,batch=3", build_matrix_residual_norm},
    {"fourier-matrix+residual+norm/n=16,d=257,batch=3", build_matrix_residual_norm_odd},
    {"encoder-layer", build_encoder_layer},
    {"two-products+norm", build_two_products},
    {"doubled+norm", build_doubled},
    {"product-is-output", build_product_is_output},
    {"activation-last", build_activation_last},
    {"activation-of-residual", build_activation_of_residual},
    {"bias-last", build_bias_last},
    {"scaled-activations", build_scaled_activations},
    {"repeated-residual+norm", build_repeated_residual},
    {"norm-of-sum", build_norm_of_sum},
    {"fourier-is-output", build_fourier_is_output},
};

#define CHAIN_COUNT WEFT_COUNT(chains)
#define GRAPH_COUNT WEFT_COUNT(graphs)

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    if (index < CHAIN_COUNT) {
        name_chain(text, &chains[index]);
    } else {
        snprintf(text, WEFT_CASE_NAME_SIZE, "%s", graphs[index - CHAIN_COUNT].name);
    }
}

static void build(weft_case *c, uint32_t index) {
    c->check_fusion = true;
    if (index < CHAIN_COUNT) {
        build_chain(c, &chains[index]);
    } else {
        graphs[index - CHAIN_COUNT].build(c);
    }
}

WEFT_CASE_FAMILY(fused, CHAIN_COUNT + GRAPH_COUNT, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
