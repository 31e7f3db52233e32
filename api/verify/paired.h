/* SPDX-License-Identifier: MIT */
/*
 * Ops and mixers twice at once: each function adds one to the graph of a case, by the call of weft/graph.h or weft/mixers.h
 * that it is named after, and gives its result with the elements that the definition in reference/ makes of those of its
 * arguments. So a case is built once for its graph and for what is expected of it.
 *
 * Tensors in parameters are those of the case's arrays. In a case with `rows` an op's result has these rows alone; of what
 * others read in full (positions, coefficients, balanced channels) all is made. In one with `only_values` the graph stays as
 * it is and arrays have no tensors: so the definition of what a call puts together from several ops is written with these.
 * In one with `only_ops` results have no elements: what is expected of them comes from bounded.h.
 */
#ifndef WEFT_VERIFY_PAIRED_H
#define WEFT_VERIFY_PAIRED_H

#include <weft/mixers.h>

#include "verify/conformance.h"
#include "verify/reference/arithmetic.h"
#include "verify/reference/attention.h"
#include "verify/reference/convolution.h"

/* ---- ops ---- */

weft_array weft_case_matmul(weft_case *c, weft_array a, weft_array b,
                            const weft_matmul_params *params);
/** weight [channels, k]; bias may be an empty array. */
weft_array weft_case_linear(weft_case *c, weft_array x, weft_array weight, weft_array bias);
weft_array weft_case_activate(weft_case *c, weft_array x, weft_activation activation);
weft_array weft_case_affine(weft_case *c, weft_array x, float scale, float offset);
weft_array weft_case_binary(weft_case *c, weft_binary op, weft_array a, weft_array b);
weft_array weft_case_softmax(weft_case *c, weft_array x);
weft_array weft_case_norm(weft_case *c, weft_array x, const weft_norm_params *params);
weft_array weft_case_reshape(weft_case *c, weft_array x, weft_shape shape);
weft_array weft_case_gather(weft_case *c, weft_array x, uint32_t position);
/** Zeros from lengths [B] on. */
weft_array weft_case_mask(weft_case *c, weft_array x, weft_array lengths);
weft_array weft_case_embedding(weft_case *c, const weft_embedding_params *params);

/* ---- arithmetic; elements are f32 or i32, as their tensors are ---- */

weft_array weft_case_unary(weft_case *c, weft_unary op, weft_array x, float alpha, float beta);
weft_array weft_case_where(weft_case *c, weft_array condition, weft_array a, weft_array b);
/** lengths may be an empty array. */
weft_array weft_case_reduce(weft_case *c, weft_reduction op, weft_array x,
                            const weft_reduce_params *params);
weft_array weft_case_arg(weft_case *c, weft_array x, uint32_t axis, bool keep_axis, bool smallest);
weft_array weft_case_cumsum(weft_case *c, weft_array x, uint32_t axis, bool exclusive,
                            bool reverse);
weft_array weft_case_softmax_axis(weft_case *c, weft_array x, uint32_t axis, bool logarithm);

/** The arrays of these parameters. */
weft_reference_norm weft_case_norm_of(const weft_case *c, const weft_norm_params *params);

/* ---- Fourier and Toeplitz ---- */

weft_array weft_case_fourier(weft_case *c, weft_array x);
weft_array weft_case_toeplitz(weft_case *c, weft_array x, weft_array coefficients,
                              const weft_toeplitz_params *params);
weft_array weft_case_toeplitz_fd(weft_case *c, weft_array x, weft_array response,
                                 const weft_toeplitz_fd_params *params);
weft_array weft_case_ski_toeplitz(weft_case *c, weft_array x,
                                  const weft_ski_toeplitz_params *params);
weft_array weft_case_toeplitz_rpe(weft_case *c, uint32_t n, const weft_rpe_params *rpe,
                                  const weft_toeplitz_rpe_params *params);
weft_array weft_case_toeplitz_fd_rpe(weft_case *c, uint32_t grid, const weft_rpe_params *rpe,
                                     weft_rpe_frequency input);
weft_array weft_case_toeplitz_decay(weft_case *c, weft_array theta, float lambda);

/* ---- attention ---- */

weft_array weft_case_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                               const weft_attention_params *params);
/** maps: of kernels with GLSL, or null. */
weft_array weft_case_kernel_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                      const weft_kernel_attention_params *params,
                                      const weft_reference_map *maps);
weft_array weft_case_linear_attention(weft_case *c, weft_array q_features, weft_array k_features,
                                      weft_array v, const weft_linear_attention_params *params);

/** A call's queries, keys and values, and its heads. */
typedef struct weft_call {
    weft_array q, k, v;
    uint32_t heads;
    bool causal;
    const void *params;
    const double *given; /* beta, w, bias: what the mixer reads besides */
    uint32_t count;      /* its rows; of attention's bias its rank */
    const double *sinks; /* of softmax attention, or null */
    const weft_reference_map *maps;
    uint32_t kv_heads; /* of k and v; 0: heads */
} weft_call;

/** A sequence of a call: what a definition takes, and where its rows go. */
typedef struct weft_sequence {
    weft_reference *ref;
    double *out;
    weft_rows rows;
    weft_reference_attention a;
    const weft_call *call;
    uint32_t batch; /* which it is */
} weft_sequence;

typedef void (*weft_definition)(const weft_sequence *s);

/** Applies the definition to each sequence. */
weft_array weft_case_attend(weft_case *c, weft_status status, weft_tensor tensor,
                            weft_definition define, const weft_call *call);

/** The features of a sequence's queries or keys, x. */
weft_reference_features weft_features_of(const weft_sequence *s, weft_array features,
                                         const double *x);

/* ---- features ---- */

/** With params->projection, w has no tensor, but the rows that the projection is by. */
weft_array weft_case_random_features(weft_case *c, weft_array x, weft_array w,
                                     const weft_random_features_params *params);
weft_array weft_case_discrete_features(weft_case *c, weft_array x, weft_array w,
                                       weft_array coefficients,
                                       const weft_discrete_features_params *params);
weft_array weft_case_hybrid_features(weft_case *c, weft_array x, weft_array w,
                                     weft_array directions,
                                     const weft_hybrid_features_params *params);
weft_array weft_case_balance_channels(weft_case *c, weft_array x, weft_array other);
weft_array weft_case_flt_features(weft_case *c, weft_array x, weft_array frequencies,
                                  weft_array weights, const weft_flt_features_params *params);

#endif
