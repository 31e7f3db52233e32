/* SPDX-License-Identifier: MIT */
/* Other chains, with and without fusion: LayerNorm behind a sum, an embedding or a transform. */
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/paired.h"

#define EPSILON 1e-12F

/* ---- LayerNorm behind what the row makes ---- */

struct row {
    weft_values values, residual;
    uint32_t n, d;
};

struct norm {
    weft_array gamma, beta;
};

/* Makes norm(x) the output. */
static struct norm add_norm(weft_case *c, weft_array x, uint32_t d) {
    struct norm norm; /* one after the other: an initializer may draw them in any order */
    norm.gamma = weft_case_weight(c, weft_shape_of(d), WEFT_VALUES_UNIT);
    norm.beta = weft_case_weight(c, weft_shape_of(d), WEFT_VALUES_UNIT);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_layer_norm(&y, c->graph, x.tensor, norm.gamma.tensor,
                                             norm.beta.tensor, EPSILON));
    weft_case_output(c, "y", y);
    return norm;
}

/* Expects the norm of x [n, d] of the newest output. */
static void expect_norm(weft_case *c, const struct norm *norm, weft_bounded *x,
                        const struct row *row) {
    weft_bounded *gamma = weft_bounded_of(c, norm->gamma.value, row->d);
    weft_bounded *beta = weft_bounded_of(c, norm->beta.value, row->d);
    if (c->ref.status == WEFT_OK) {
        weft_bounded_layer_norm(x, x, gamma, beta, row->n, row->d, (double)EPSILON);
        weft_bounded_expect(c, x);
    }
}

static void add_values(weft_case *c, weft_bounded *out, const double *value, uint64_t count) {
    weft_bounded *added = weft_bounded_of(c, value, count);
    if (c->ref.status == WEFT_OK) {
        weft_bounded_add_arrays(out, out, added, count, count);
    }
}

static void build_sum(weft_case *c, const struct row *row) {
    weft_shape shape = weft_shape_of(row->n, row->d);
    weft_array a = weft_case_input(c, "a", shape, row->values);
    weft_array b = weft_case_input(c, "b", shape, row->residual);
    struct norm norm = add_norm(c, weft_case_binary(c, WEFT_BINARY_ADD, a, b), row->d);
    weft_bounded *x = weft_bounded_of(c, a.value, (uint64_t)row->n * row->d);
    add_values(c, x, b.value, (uint64_t)row->n * row->d);
    expect_norm(c, &norm, x, row);
}

static void build_embedding(weft_case *c, const struct row *row) {
    const uint32_t vocabulary = 5;
    weft_array tokens =
        weft_case_indices(c, "tokens", weft_shape_of(1, row->n), 0, (int32_t)vocabulary - 1);
    weft_array table = weft_case_weight(c, weft_shape_of(vocabulary, row->d), row->values);
    weft_array positions = weft_case_weight(c, weft_shape_of(row->n, row->d), row->residual);
    weft_array y =
        weft_case_embedding(c, weft_embedding_params(.tokens = tokens.tensor, .table = table.tensor,
                                                     .positions = positions.tensor));
    struct norm norm = add_norm(c, y, row->d);
    weft_bounded *x = weft_bounded_of(c, positions.value, (uint64_t)row->n * row->d);
    for (uint64_t i = 0; x && i < (uint64_t)row->n * row->d; i++) {
        uint64_t token = (uint64_t)tokens.value[i / row->d];
        double value = table.value[token * row->d + i % row->d];
        x[i] = weft_bounded_add(weft_bounded_exact(value), x[i]);
    }
    expect_norm(c, &norm, x, row);
}

static void build_fourier(weft_case *c, const struct row *row) {
    weft_shape shape = weft_shape_of(1, row->n, row->d);
    weft_array source = weft_case_input(c, "x", shape, row->values);
    weft_array residual = weft_case_input(c, "residual", shape, row->residual);
    weft_array y = weft_case_binary(c, WEFT_BINARY_ADD, weft_case_fourier(c, source), residual);
    struct norm norm = add_norm(c, y, row->d);
    uint64_t count = (uint64_t)row->n * row->d;
    weft_bounded *elements = weft_bounded_of(c, source.value, count);
    weft_bounded *x = weft_bounded_scratch(c, count);
    if (c->ref.status == WEFT_OK) {
        weft_bounded_fourier(x, elements, row->n, row->d);
        add_values(c, x, residual.value, count);
    }
    expect_norm(c, &norm, x, row);
}

static void build_fourier_fft(weft_case *c, const struct row *row) {
    c->implementation = "fft";
    build_fourier(c, row);
}

static void build_fourier_matrix(weft_case *c, const struct row *row) {
    c->implementation = "matrix";
    build_fourier(c, row);
}

/* exp(a / 4) / (b - a): each op for itself. */
static void build_elementwise(weft_case *c, const struct row *row) {
    weft_shape shape = weft_shape_of(row->n, row->d);
    weft_array a = weft_case_input(c, "a", shape, row->values);
    weft_array b = weft_case_input(c, "b", shape, row->residual);
    weft_array numerator =
        weft_case_activate(c, weft_case_affine(c, a, 0.25F, 0.0F), WEFT_ACTIVATION_EXP);
    weft_array denominator = weft_case_binary(c, WEFT_BINARY_SUBTRACT, b, a);
    weft_case_expect(c, "y", weft_case_binary(c, WEFT_BINARY_DIVIDE, numerator, denominator));
    uint64_t count = (uint64_t)row->n * row->d;
    weft_bounded *out = weft_bounded_of(c, a.value, count);
    for (uint64_t i = 0; out && i < count; i++) {
        weft_bounded divisor = weft_bounded_subtract(weft_bounded_exact(b.value[i]), out[i]);
        weft_bounded quarter = weft_bounded_multiply(out[i], weft_bounded_exact(0.25));
        out[i] = weft_bounded_divide(weft_bounded_exp(quarter), divisor);
    }
    weft_bounded_expect(c, out);
}

/* ---- the list ---- */

static const struct graph {
    const char *name;
    void (*build)(weft_case *c, const struct row *row);
    struct row row;
} graphs[] = {
    {"sum+norm", build_sum, {WEFT_VALUES_SUBNORMAL, WEFT_VALUES_TINY, 7, 129}},
    {"sum+norm", build_sum, {WEFT_VALUES_HUGE, WEFT_VALUES_HUGE, 9, 13}},
    {"sum+norm", build_sum, {WEFT_VALUES_INFINITE, WEFT_VALUES_NAN, 37, 5}},
    {"embedding+norm", build_embedding, {WEFT_VALUES_SUBNORMAL, WEFT_VALUES_TINY, 7, 131}},
    {"embedding+norm", build_embedding, {WEFT_VALUES_NAN, WEFT_VALUES_INFINITE, 37, 5}},
    {"fft+residual+norm",
     build_fourier_fft,
     {WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL, 37, 31}},
    {"fft+residual+norm", build_fourier_fft, {WEFT_VALUES_TINY, WEFT_VALUES_NAN, 37, 31}},
    {"matrix+residual+norm",
     build_fourier_matrix,
     {WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL, 37, 31}},
    {"matrix+residual+norm", build_fourier_matrix, {WEFT_VALUES_TINY, WEFT_VALUES_NAN, 37, 31}},
    {"affine,exp,subtract,divide",
     build_elementwise,
     {WEFT_VALUES_EDGES_HELD, WEFT_VALUES_EDGES, WEFT_EDGE_COUNT, WEFT_EDGE_COUNT}},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &graphs[index].row;
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s,%s/n=%u,d=%u", graphs[index].name,
             weft_values_name(row->values), weft_values_name(row->residual), row->n, row->d);
}

static void build(weft_case *c, uint32_t index) {
    c->check_fusion = true;
    graphs[index].build(c, &graphs[index].row);
}

WEFT_SPECIAL_FAMILY(graphs, WEFT_COUNT(graphs), WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
