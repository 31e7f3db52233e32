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
weft_array weft_case_banded_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                      const weft_banded_attention_params *params);
/** maps: of kernels with GLSL, or null. */
weft_array weft_case_kernel_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                      const weft_kernel_attention_params *params,
                                      const weft_reference_map *maps);
weft_array weft_case_fmm_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                   const weft_fmm_attention_params *params);
weft_array weft_case_fast_weight(weft_case *c, weft_array q, weft_array k, weft_array v,
                                 weft_array beta, const weft_fast_weight_params *params);
weft_array weft_case_cosformer(weft_case *c, weft_array q, weft_array k, weft_array v,
                               const weft_cosformer_params *params);
weft_array weft_case_performer_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                         weft_array w,
                                         const weft_performer_attention_params *params);
weft_array weft_case_rfa_attention(weft_case *c, weft_array q, weft_array k, weft_array v,
                                   weft_array w, const weft_rfa_attention_params *params);
weft_array weft_case_linear_attention(weft_case *c, weft_array q_features, weft_array k_features,
                                      weft_array v, const weft_linear_attention_params *params);
weft_array weft_case_toeplitz_attention(weft_case *c, weft_array q_features, weft_array k_features,
                                        weft_array v, weft_array bias,
                                        const weft_toeplitz_attention_params *params);

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
