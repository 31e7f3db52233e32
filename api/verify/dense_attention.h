/* SPDX-License-Identifier: MIT */
/* Attention by its matrix of weights, in float64: what linear attention in all its forms is checked against. */
#ifndef WEFT_CONFORMANCE_DENSE_ATTENTION_H
#define WEFT_CONFORMANCE_DENSE_ATTENTION_H

#include "verify/conformance.h"

/** Queries [batch, n, heads, width], keys [batch, m, heads, width], values [batch, m, heads, values]. */
struct weft_dense_attention {
    uint32_t batch, n, m; /* m 0: causal, with n keys */
    uint32_t heads, width, values;
    double factor; /* on the result */
    double least;  /* a denominator closer to 0 becomes this, with its own sign */
    /** The weight of a query and a key of one head, at positions i and j, before normalisation. */
    double (*weight)(const void *user, const double *q, const double *k, uint32_t i, uint32_t j);
    const void *user;
};

/** Adds factor · Σ_j w_ij v_j / Σ_j w_ij to out [batch, n, heads, values]. */
void weft_add_dense_attention(weft_case *c, double *out, const double *q, const double *k,
                              const double *v, const struct weft_dense_attention *attention);

#endif
