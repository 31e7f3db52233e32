/* SPDX-License-Identifier: MIT */
/*
 * Chains that the fuse pass draws together, and chains that only look as if it could: against
 * float64, and bit for bit against the same graph without fusion.
 */
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

#define EPSILON 1e-12F

/* ---- steps: each adds ops to the graph; and their references, in place where they can be ---- */

/* x [rows, k] times a constant [m, k], transposed, with a bias [m]. */
struct dense {
    weft_array weight, bias;
    uint32_t rows, k, m;
};

static struct dense make_dense(weft_case *c, uint32_t rows, uint32_t k, uint32_t m) {
    return (struct dense){.weight = weft_case_weight(c, weft_shape_of(m, k), WEFT_VALUES_UNIT),
                          .bias = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT),
                          .rows = rows,
                          .k = k,
                          .m = m};
}

static weft_tensor add_dense(weft_case *c, const struct dense *layer, weft_tensor x) {
    weft_tensor y = {0};
    weft_case_check(c,
                    weft_graph_linear(&y, c->graph, x, layer->weight.tensor, layer->bias.tensor));
    return y;
}

static void reference_bias(double *out, const double *bias, uint64_t rows, uint64_t columns) {
    for (uint64_t i = 0; i < rows * columns; i++) {
        out[i] += bias[i % columns];
    }
}

static void reference_dense(double *out, const struct dense *layer, const double *x) {
    weft_reference_product product = {
        .m = layer->rows, .n = layer->m, .k = layer->k, .transpose_b = true, .alpha = 1.0};
    weft_reference_matmul(out, x, layer->weight.value, product);
    reference_bias(out, layer->bias.value, layer->rows, layer->m);
}

static weft_tensor add_activation(weft_case *c, weft_activation activation, weft_tensor x) {
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_activate(&y, c->graph, x, activation));
    return y;
}

static void reference_activations(double *x, weft_activation activation, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        x[i] = weft_reference_activation(activation, x[i]);
    }
}

static weft_tensor add_sum(weft_case *c, weft_tensor a, weft_tensor b) {
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_binary(&y, c->graph, WEFT_BINARY_ADD, a, b));
    return y;
}

static void reference_sum(double *out, const double *a, const double *b, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        out[i] = a[i] + b[i];
    }
}

struct norm {
    weft_array gamma, beta;
    uint32_t columns;
};

static struct norm make_norm(weft_case *c, uint32_t columns) {
    return (struct norm){.gamma = weft_case_weight(c, weft_shape_of(columns), WEFT_VALUES_UNIT),
                         .beta = weft_case_weight(c, weft_shape_of(columns), WEFT_VALUES_UNIT),
                         .columns = columns};
}

static weft_tensor add_norm(weft_case *c, const struct norm *norm, weft_tensor x) {
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_layer_norm(&y, c->graph, x, norm->gamma.tensor, norm->beta.tensor, EPSILON));
    return y;
}

static void reference_norm(double *x, const struct norm *norm, uint32_t rows) {
    weft_reference_layer_norm(x, x, norm->gamma.value, norm->beta.value, rows, norm->columns,
                              (double)EPSILON);
}

static weft_tensor add_fourier(weft_case *c, weft_tensor x) {
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_fourier(&y, c->graph, x));
    return y;
}

static void reference_fourier(weft_case *c, double *out, const double *x, uint32_t batch,
                              uint32_t n, uint32_t d) {
    for (uint64_t at = 0; at < (uint64_t)batch * n * d; at += (uint64_t)n * d) {
        weft_reference_fourier(c, out + at, x + at, n, d, 1);
    }
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

/* The chain's reference in out [batch · n, m]. */
static void reference_chain(double *out, const struct chain *chain, const struct dense *layer,
                            const double *x, const double *residual, const struct norm *norm) {
    uint64_t count = (uint64_t)layer->rows * layer->m;
    weft_reference_product product = {
        .m = layer->rows, .n = layer->m, .k = layer->k, .transpose_b = true, .alpha = 1.0};
    weft_reference_matmul(out, x, layer->weight.value, product);
    if ((chain->parts & BIAS) != 0) {
        reference_bias(out, layer->bias.value, layer->rows, layer->m);
    }
    reference_activations(out, chain->activation, count);
    if (residual != NULL) {
        reference_sum(out, out, residual, count);
    }
    if ((chain->parts & NORM) != 0) {
        reference_norm(out, norm, layer->rows);
    }
}

static void build_chain(weft_case *c, const struct chain *chain) {
    struct dense layer = make_dense(c, chain->batch * chain->n, chain->k, chain->m);
    struct norm after = make_norm(c, chain->m);
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(chain->batch, chain->n, chain->k), WEFT_VALUES_UNIT);
    weft_array residual = {.value = NULL};
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_linear(&y, c->graph, x.tensor, layer.weight.tensor,
                             (chain->parts & BIAS) != 0 ? layer.bias.tensor : (weft_tensor){0}));
    if (chain->activation != WEFT_ACTIVATION_NONE) {
        y = add_activation(c, chain->activation, y);
    }
    if ((chain->parts & (RESIDUAL | RESIDUAL_FIRST)) != 0) {
        residual = weft_case_input(c, "residual", weft_shape_of(chain->batch, chain->n, chain->m),
                                   WEFT_VALUES_UNIT);
        y = (chain->parts & RESIDUAL) != 0 ? add_sum(c, y, residual.tensor)
                                           : add_sum(c, residual.tensor, y);
    }
    if ((chain->parts & NORM) != 0) {
        y = add_norm(c, &after, y);
    }
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        reference_chain(expected, chain, &layer, x.value, residual.value, &after);
    }
}

/* ---- embedding, Fourier, and a whole encoder layer ---- */

static void build_embedding_norm(weft_case *c) {
    const uint32_t batch = 2;
    const uint32_t n = 37;
    const uint32_t d = 131;
    weft_shape shape = weft_shape_of(batch, n);
    weft_array tokens = weft_case_indices(c, "tokens", shape, 0, 99);
    weft_array types = weft_case_indices(c, "types", shape, 0, 3);
    weft_array table = weft_case_weight(c, weft_shape_of(100, d), WEFT_VALUES_UNIT);
    weft_array type_table = weft_case_weight(c, weft_shape_of(4, d), WEFT_VALUES_UNIT);
    weft_array positions = weft_case_weight(c, weft_shape_of(n, d), WEFT_VALUES_UNIT);
    struct norm after = make_norm(c, d);
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_embedding(&y, c->graph,
                                weft_embedding_params(.tokens = tokens.tensor,
                                                      .table = table.tensor, .types = types.tensor,
                                                      .type_table = type_table.tensor,
                                                      .positions = positions.tensor)));
    double *expected = weft_case_output(c, "y", add_norm(c, &after, y));
    if (expected != NULL) {
        weft_reference_embedding(expected,
                                 &(weft_reference_tables){tokens.value, table.value, types.value,
                                                          type_table.value, positions.value, batch,
                                                          n, d, 100, 4});
        reference_norm(expected, &after, batch * n);
    }
}

static void build_embedding_residual_norm(weft_case *c) {
    const uint32_t n = 65;
    const uint32_t d = 36;
    weft_array tokens = weft_case_indices(c, "tokens", weft_shape_of(1, n), 0, 6);
    weft_array table = weft_case_weight(c, weft_shape_of(7, d), WEFT_VALUES_UNIT);
    weft_array residual = weft_case_input(c, "residual", weft_shape_of(1, n, d), WEFT_VALUES_UNIT);
    struct norm after = make_norm(c, d);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_embedding(
                           &y, c->graph,
                           weft_embedding_params(.tokens = tokens.tensor, .table = table.tensor)));
    y = add_norm(c, &after, add_sum(c, residual.tensor, y));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        weft_reference_embedding(expected, &(weft_reference_tables){.tokens = tokens.value,
                                                                    .table = table.value,
                                                                    .batch = 1,
                                                                    .n = n,
                                                                    .d = d,
                                                                    .vocabulary = 7});
        reference_sum(expected, expected, residual.value, (uint64_t)n * d);
        reference_norm(expected, &after, n);
    }
}

/* norm(x + fourier(x)), the first half of an FNet layer; with or without the norm. */
static void build_fourier(weft_case *c, const char *implementation, weft_shape shape,
                          bool normalize) {
    c->implementation = implementation;
    uint32_t rows = shape.dim[0] * shape.dim[1];
    weft_array x = weft_case_input(c, "x", shape, WEFT_VALUES_UNIT);
    struct norm after = make_norm(c, shape.dim[2]);
    weft_tensor y = add_sum(c, x.tensor, add_fourier(c, x.tensor));
    if (normalize) {
        y = add_norm(c, &after, y);
    }
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        reference_fourier(c, expected, x.value, shape.dim[0], shape.dim[1], shape.dim[2]);
        reference_sum(expected, expected, x.value, weft_shape_elements(shape));
        if (normalize) {
            reference_norm(expected, &after, rows);
        }
    }
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

/* h = norm(x + fourier(x)); y = norm(h + W2 gelu(W1 h + b1) + b2): docs/mixers.md, section 1. */
static void build_encoder_layer(weft_case *c) {
    const uint32_t batch = 2;
    const uint32_t n = 37;
    const uint32_t d = 48;
    const uint32_t wide = 100;
    const uint64_t count = (uint64_t)batch * n * d;
    weft_array x = weft_case_input(c, "x", weft_shape_of(batch, n, d), WEFT_VALUES_UNIT);
    struct norm first = make_norm(c, d);
    struct norm second = make_norm(c, d);
    struct dense up = make_dense(c, batch * n, d, wide);
    struct dense down = make_dense(c, batch * n, wide, d);
    weft_tensor h = add_norm(c, &first, add_sum(c, add_fourier(c, x.tensor), x.tensor));
    weft_tensor inner = add_activation(c, WEFT_ACTIVATION_GELU_TANH, add_dense(c, &up, h));
    weft_tensor y = add_norm(c, &second, add_sum(c, h, add_dense(c, &down, inner)));
    double *expected = weft_case_output(c, "y", y);
    double *hidden = weft_case_scratch(c, count);
    double *middle = weft_case_scratch(c, (uint64_t)batch * n * wide);
    if (c->status == WEFT_OK) {
        reference_fourier(c, hidden, x.value, batch, n, d);
        reference_sum(hidden, hidden, x.value, count);
        reference_norm(hidden, &first, batch * n);
        reference_dense(middle, &up, hidden);
        reference_activations(middle, WEFT_ACTIVATION_GELU_TANH, (uint64_t)batch * n * wide);
        reference_dense(expected, &down, middle);
        reference_sum(expected, expected, hidden, count);
        reference_norm(expected, &second, batch * n);
    }
    weft_case_scratch_free(c, hidden);
    weft_case_scratch_free(c, middle);
}

/* ---- where fusion must hold back, or take the right one ---- */

/* The sum of two products: one of them takes the other as its residual. */
static void build_two_products(weft_case *c) {
    const uint32_t n = 33;
    const uint32_t d = 65;
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, n, d), WEFT_VALUES_UNIT);
    struct dense left = make_dense(c, n, d, d);
    struct dense right = make_dense(c, n, d, d);
    struct norm after = make_norm(c, d);
    weft_tensor y = add_sum(c, add_dense(c, &left, x.tensor), add_dense(c, &right, x.tensor));
    double *expected = weft_case_output(c, "y", add_norm(c, &after, y));
    double *other = weft_case_scratch(c, (uint64_t)n * d);
    if (c->status == WEFT_OK) {
        reference_dense(expected, &left, x.value);
        reference_dense(other, &right, x.value);
        reference_sum(expected, expected, other, (uint64_t)n * d);
        reference_norm(expected, &after, n);
    }
    weft_case_scratch_free(c, other);
}

/* y + y of one product, whose only reader is the sum. */
static void build_doubled(weft_case *c) {
    const uint32_t n = 31;
    const uint32_t d = 33;
    weft_array x = weft_case_input(c, "x", weft_shape_of(n, d), WEFT_VALUES_UNIT);
    struct dense layer = make_dense(c, n, d, d);
    struct norm after = make_norm(c, d);
    weft_tensor y = add_dense(c, &layer, x.tensor);
    double *expected = weft_case_output(c, "y", add_norm(c, &after, add_sum(c, y, y)));
    if (expected != NULL) {
        reference_dense(expected, &layer, x.value);
        reference_sum(expected, expected, expected, (uint64_t)n * d);
        reference_norm(expected, &after, n);
    }
}

/* The product itself is an output too, so that it must exist before bias and activation. */
static void build_product_is_output(weft_case *c) {
    const uint32_t n = 35;
    const uint32_t k = 30;
    const uint32_t m = 66;
    weft_array x = weft_case_input(c, "x", weft_shape_of(n, k), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(k, m), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    weft_tensor product = {0};
    weft_case_check(c, weft_graph_matmul(&product, c->graph, x.tensor, w.tensor, NULL));
    weft_tensor y = add_activation(c, WEFT_ACTIVATION_TANH, add_sum(c, product, bias.tensor));
    double *expected_product = weft_case_output(c, "product", product);
    double *expected = weft_case_output(c, "y", y);
    if (c->status == WEFT_OK) {
        weft_reference_matmul(expected_product, x.value, w.value,
                              (weft_reference_product){.m = n, .n = m, .k = k, .alpha = 1.0});
        memcpy(expected, expected_product, sizeof *expected * n * m);
        reference_bias(expected, bias.value, n, m);
        reference_activations(expected, WEFT_ACTIVATION_TANH, (uint64_t)n * m);
    }
}

/* The bias is an input, and so computed by nobody before; the activation comes after a residual. */
static void build_activation_last(weft_case *c) {
    const uint32_t n = 34;
    const uint32_t d = 70;
    const uint64_t count = (uint64_t)n * d;
    weft_array x = weft_case_input(c, "x", weft_shape_of(n, d), WEFT_VALUES_UNIT);
    weft_array w = weft_case_input(c, "w", weft_shape_of(d, d), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_input(c, "bias", weft_shape_of(d), WEFT_VALUES_UNIT);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_matmul(&y, c->graph, x.tensor, w.tensor, NULL));
    y = add_sum(c, add_sum(c, y, x.tensor), bias.tensor);
    double *expected = weft_case_output(c, "y", add_activation(c, WEFT_ACTIVATION_SILU, y));
    if (expected != NULL) {
        weft_reference_matmul(expected, x.value, w.value,
                              (weft_reference_product){.m = n, .n = d, .k = d, .alpha = 1.0});
        reference_sum(expected, expected, x.value, count);
        reference_bias(expected, bias.value, n, d);
        reference_activations(expected, WEFT_ACTIVATION_SILU, count);
    }
}

/* The activation comes right after the residual: the product can take the residual alone. */
static void build_activation_of_residual(weft_case *c) {
    const uint32_t n = 33;
    const uint32_t d = 67;
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, n, d), WEFT_VALUES_UNIT);
    struct dense layer = make_dense(c, n, d, d);
    weft_tensor y = add_sum(c, add_dense(c, &layer, x.tensor), x.tensor);
    y = add_activation(c, WEFT_ACTIVATION_GELU_TANH, y);
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        reference_dense(expected, &layer, x.value);
        reference_sum(expected, expected, x.value, (uint64_t)n * d);
        reference_activations(expected, WEFT_ACTIVATION_GELU_TANH, (uint64_t)n * d);
    }
}

/* The bias comes after the activation, and another one after that. */
static void build_bias_last(weft_case *c) {
    const uint32_t n = 17;
    const uint32_t k = 41;
    const uint32_t m = 70;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, n, k), WEFT_VALUES_UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(k, m), WEFT_VALUES_UNIT);
    weft_array first = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    weft_array second = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_matmul(&y, c->graph, x.tensor, w.tensor, NULL));
    y = add_sum(c, add_activation(c, WEFT_ACTIVATION_SIGMOID, y), first.tensor);
    double *expected = weft_case_output(c, "y", add_sum(c, y, second.tensor));
    if (expected != NULL) {
        weft_reference_matmul(expected, x.value, w.value,
                              (weft_reference_product){.m = 2 * n, .n = m, .k = k, .alpha = 1.0});
        reference_activations(expected, WEFT_ACTIVATION_SIGMOID, UINT64_C(2) * n * m);
        reference_bias(expected, first.value, UINT64_C(2) * n, m);
        reference_bias(expected, second.value, UINT64_C(2) * n, m);
    }
}

/* Two activations in a row, and a factor: only the first activation can be the product's. */
static void build_scaled_activations(weft_case *c) {
    const uint32_t n = 33;
    const uint32_t k = 65;
    const uint32_t m = 31;
    weft_array x = weft_case_input(c, "x", weft_shape_of(2, n, k), WEFT_VALUES_UNIT);
    weft_array w = weft_case_input(c, "w", weft_shape_of(2, m, k), WEFT_VALUES_UNIT);
    weft_array bias = weft_case_weight(c, weft_shape_of(m), WEFT_VALUES_UNIT);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_matmul(&y, c->graph, x.tensor, w.tensor,
                                         weft_matmul_params(.transpose_b = true, .alpha = 0.25F)));
    y = add_activation(c, WEFT_ACTIVATION_TANH, add_sum(c, y, bias.tensor));
    double *expected = weft_case_output(c, "y", add_activation(c, WEFT_ACTIVATION_ELU1, y));
    weft_reference_product product = {.m = n, .n = m, .k = k, .transpose_b = true, .alpha = 0.25};
    for (uint64_t batch = 0; expected != NULL && batch < 2; batch++) {
        weft_reference_matmul(expected + batch * n * m, x.value + batch * n * k,
                              w.value + batch * m * k, product);
    }
    if (expected != NULL) {
        reference_bias(expected, bias.value, UINT64_C(2) * n, m);
        reference_activations(expected, WEFT_ACTIVATION_TANH, UINT64_C(2) * n * m);
        reference_activations(expected, WEFT_ACTIVATION_ELU1, UINT64_C(2) * n * m);
    }
}

/* A matrix of the sequence's shape added over batches is no bias and no residual of equal shape. */
static void build_repeated_residual(weft_case *c) {
    const uint32_t n = 19;
    const uint32_t d = 37;
    weft_array x = weft_case_input(c, "x", weft_shape_of(3, n, d), WEFT_VALUES_UNIT);
    weft_array plane = weft_case_weight(c, weft_shape_of(n, d), WEFT_VALUES_UNIT);
    struct dense layer = make_dense(c, 3 * n, d, d);
    struct norm after = make_norm(c, d);
    weft_tensor y = add_sum(c, add_dense(c, &layer, x.tensor), plane.tensor);
    double *expected = weft_case_output(c, "y", add_norm(c, &after, y));
    if (expected != NULL) {
        reference_dense(expected, &layer, x.value);
        reference_bias(expected, plane.value, 3, (uint64_t)n * d);
        reference_norm(expected, &after, 3 * n);
    }
}

/* norm(a + b) of two inputs, and the norm of that norm. */
static void build_norm_of_sum(weft_case *c) {
    const uint32_t n = 5;
    const uint32_t d = 257;
    weft_array a = weft_case_input(c, "a", weft_shape_of(2, n, d), WEFT_VALUES_UNIT);
    weft_array b = weft_case_input(c, "b", weft_shape_of(2, n, d), WEFT_VALUES_UNIT);
    struct norm first = make_norm(c, d);
    struct norm second = make_norm(c, d);
    weft_tensor y = add_norm(c, &first, add_sum(c, a.tensor, b.tensor));
    double *expected = weft_case_output(c, "y", add_norm(c, &second, y));
    if (expected != NULL) {
        reference_sum(expected, a.value, b.value, UINT64_C(2) * n * d);
        reference_norm(expected, &first, 2 * n);
        reference_norm(expected, &second, 2 * n);
    }
}

/* The transform is read by the sum and is an output: the sum cannot take it over. */
static void build_fourier_is_output(weft_case *c) {
    const uint32_t n = 31;
    const uint32_t d = 40;
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, n, d), WEFT_VALUES_UNIT);
    struct norm after = make_norm(c, d);
    weft_tensor transform = add_fourier(c, x.tensor);
    weft_tensor y = add_norm(c, &after, add_sum(c, transform, x.tensor));
    double *expected_transform = weft_case_output(c, "transform", transform);
    double *expected = weft_case_output(c, "y", y);
    if (c->status == WEFT_OK) {
        reference_fourier(c, expected_transform, x.value, 1, n, d);
        reference_sum(expected, expected_transform, x.value, (uint64_t)n * d);
        reference_norm(expected, &after, n);
    }
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

#define CHAIN_COUNT ((uint32_t)(sizeof chains / sizeof chains[0]))
#define GRAPH_COUNT ((uint32_t)(sizeof graphs / sizeof graphs[0]))

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

const weft_case_family weft_family_fused = {.name = "fused",
                                            .count = CHAIN_COUNT + GRAPH_COUNT,
                                            .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                            .name_case = name_case,
                                            .build = build};
