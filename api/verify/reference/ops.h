/* SPDX-License-Identifier: MIT */
/* The ops of weft/graph.h and the norms of weft/mixers.h in float64, row by row. */
#ifndef WEFT_VERIFY_REFERENCE_OPS_H
#define WEFT_VERIFY_REFERENCE_OPS_H

#include <weft/mixers.h>

#include "verify/reference/reference.h"

/** out[m, n] = alpha Σ_k a b; a is [m, k] or, transposed, [k, m], and b likewise. */
typedef struct weft_reference_product {
    uint32_t m, n, k;
    bool transpose_a, transpose_b;
    double alpha;
} weft_reference_product;
void weft_reference_matmul(double *out, const double *a, const double *b,
                           weft_reference_product product);

/** x [.., k] times w [channels, k] transposed, plus bias [channels], or null. */
void weft_reference_linear(weft_reference *ref, double *out, weft_rows rows, const double *x,
                           uint32_t k, const double *w, uint32_t channels, const double *bias);

double weft_reference_activation(weft_activation activation, double x);

/** Over the rows of x [rows, columns]. out may be x. */
void weft_reference_softmax(double *out, const double *x, uint32_t rows, uint32_t columns);

/** Mirrors weft_norm_params: gamma, beta, mean and variance are [columns], or null, and gamma of ScaleNorm [1]. */
typedef struct weft_reference_norm {
    weft_norm kind;
    const double *gamma, *beta, *mean, *variance;
    double epsilon;
} weft_reference_norm;

/** Over the rows of x [rows, columns], in place. */
void weft_reference_normalize(double *x, const weft_reference_norm *norm, uint64_t rows,
                              uint32_t columns);

/** The arrays of an embedding: those that are null are left out. Indices are [batch, n]. */
typedef struct weft_reference_tables {
    const double *tokens, *table, *types, *type_table, *positions;
    uint32_t batch, n, d;
    uint32_t vocabulary, type_count;
} weft_reference_tables;
void weft_reference_embedding(double *out, const weft_reference_tables *tables);

#endif
