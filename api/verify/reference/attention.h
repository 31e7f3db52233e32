/* SPDX-License-Identifier: MIT */
/* Attention in float64: by softmax, within a band, by products of features, by fast weights. */
#ifndef WEFT_VERIFY_REFERENCE_ATTENTION_H
#define WEFT_VERIFY_REFERENCE_ATTENTION_H

#include "verify/reference/features.h"

typedef struct weft_reference_attention {
    const double *q, *k, *v; /* [n, heads · width], [m, kv_heads · width], [m, kv_heads · values] */
    uint32_t n, m, heads;
    uint32_t kv_heads;      /* fewer than heads only in softmax attention */
    uint32_t width, values; /* of a head */
    bool causal;
    const double *
        bias; /* on the scaled scores of softmax attention: [heads, n, m] or, each_head false, [n, m]; or null */
    bool each_head;
    const double *sinks; /* of softmax attention: a score of each head whose value is 0; or null */
    bool f16;            /* softmax attention reads the f16 nearest to each key and value */
} weft_reference_attention;

/**
 * Vaswani et al., 2017, (1), and within a band Nguyen et al., 2021, (4): the keys j of query i with |i - j| ≤ half_width,
 * UINT32_MAX for all of them; scale 0: 1/√width.
 */
void weft_reference_softmax_attention(weft_reference *ref, double *out, weft_rows rows,
                                      const weft_reference_attention *attention,
                                      uint32_t half_width, double scale);

/** Schlag et al., 2021, (24), with elu(x) + 1 normalised to a sum of 1: S += β (v - S φ(k)) φ(k)ᵀ; y = S φ(q). beta [n, heads]. */
void weft_reference_fast_weight(weft_reference *ref, double *out, weft_rows rows,
                                const weft_reference_attention *attention, const double *beta);

/* ---- by products of features ---- */

/** Σ_j bias_ij φ_i·ψ_j v_j / Σ_j bias_ij φ_i·ψ_j: Katharopoulos et al., 2020, (4) and (8). */
typedef struct weft_reference_weighing {
    const double *v; /* [m, heads · values] */
    uint32_t m, heads, values;
    bool causal;
    double least;  /* a denominator closer to 0 becomes this, with its own sign; 0: 2^-126 */
    double factor; /* on the result; 0: 1 */
    bool add;      /* to what `out` holds */
    /** A factor of the weight of query i and key j, or null. */
    double (*bias)(const void *user, uint32_t head, uint32_t i, uint32_t j);
    const void *user;
} weft_reference_weighing;
void weft_reference_weigh(weft_reference *ref, double *out, weft_rows rows,
                          const weft_reference_features *phi, const weft_reference_features *psi,
                          const weft_reference_weighing *params);

/** v, m and so on of attention that weighs by features. */
weft_reference_weighing weft_reference_weighing_of(const weft_reference_attention *attention,
                                                   double least);

/** Map of kernel l; null if it is not the caller's. */
typedef double (*weft_reference_map)(double x);

/** FMMformer's far field, Nguyen et al., 2021, (9). epsilon as weft_kernel_attention_params; maps: of kernels with GLSL, or null. */
void weft_reference_kernel_attention(weft_reference *ref, double *out, weft_rows rows,
                                     const weft_reference_attention *attention,
                                     const weft_kernel *kernels, uint32_t kernel_count,
                                     double epsilon, const weft_reference_map *maps);

/** Qin et al., 2022, (10): relu(q_i)·relu(k_j) cos(π (i - j) / 2M). length: M, 0 for the larger of n and m. */
void weft_reference_cosformer(weft_reference *ref, double *out, weft_rows rows,
                              const weft_reference_attention *attention, uint32_t length,
                              double epsilon);

/** PosRF as FAVOR+ has it, Choromanski et al., 2021, with its stabilizers, and attention with it. scale 0: width^(-1/4). */
typedef struct weft_reference_performer_params {
    const double *w; /* [count, width] */
    uint32_t count;
    bool unstabilized;
    double epsilon; /* added to each exponential */
} weft_reference_performer_params;
void weft_reference_performer(weft_reference *ref, double *out, weft_rows rows,
                              const weft_reference_attention *attention,
                              const weft_reference_performer_params *params);

/** Peng et al., 2021, (4): Σ_f cos(w_f·(q_i - k_j))/s of queries and keys of length 1. epsilon 0: 1e-6. */
void weft_reference_rfa(weft_reference *ref, double *out, weft_rows rows,
                        const weft_reference_attention *attention, const double *w, uint32_t count,
                        double epsilon);

/** Luo et al., 2021, (7): bias as weft_graph_toeplitz_attention, [2 reach - 1, heads] or [reach, heads]. */
void weft_reference_toeplitz_attention(weft_reference *ref, double *out, weft_rows rows,
                                       const weft_reference_features *phi,
                                       const weft_reference_features *psi,
                                       const weft_reference_weighing *params, const double *bias,
                                       uint32_t reach);

#endif
