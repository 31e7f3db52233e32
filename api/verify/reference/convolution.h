/* SPDX-License-Identifier: MIT */
/* Fourier mixing and Toeplitz operators in float64. */
#ifndef WEFT_VERIFY_REFERENCE_CONVOLUTION_H
#define WEFT_VERIFY_REFERENCE_CONVOLUTION_H

#include "verify/reference/ops.h"

/** Re(F_seq(F_hidden(x))) of x [n, d]: Lee-Thorp et al., 2022, (3). */
void weft_reference_fourier(weft_reference *ref, double *out, weft_rows rows, const double *x,
                            uint32_t n, uint32_t d);

/** The discrete Fourier transform of n complex numbers, of real and imaginary part in turn. */
typedef struct weft_reference_transform weft_reference_transform;

/** One that `count` runs are asked of; null after a failure, or if that takes too many operations. */
weft_reference_transform *weft_reference_make_transform(weft_reference *ref, uint32_t n,
                                                        uint32_t count);

/**
 * out_k = Σ_j x_j e^(-2πi jk/n): from the transforms of even and odd places while their number is even, then by the
 * definition. out is not x.
 */
void weft_reference_run_transform(const weft_reference_transform *transform, double *out,
                                  const double *x);

/** y_i = Σ_j γ^|i - j| t(i - j) x_j: Qin et al., 2023, (7). */
typedef struct weft_reference_toeplitz_params {
    uint32_t n, d;
    bool causal;
    const double *coefficients; /* [2 reach - 1, d], causal [reach, d] */
    uint32_t reach;             /* at least n; 0: n */
    const double *decay;        /* [d], or null */
} weft_reference_toeplitz_params;
void weft_reference_toeplitz(weft_reference *ref, double *out, weft_rows rows, const double *x,
                             const weft_reference_toeplitz_params *params);

/**
 * Toeplitz operator with the kernel whose transform over 2 grid points is the response [grid + 1, 2d], causal [grid +
 * 1, d] with the real part alone: Moreno et al., 2023, algorithms 2 and 3.
 */
typedef struct weft_reference_fd_params {
    uint32_t n, d, grid;
    bool causal;
    const double *response;
} weft_reference_fd_params;
void weft_reference_toeplitz_fd(weft_reference *ref, double *out, weft_rows rows, const double *x,
                                const weft_reference_fd_params *params);

/** T_sparse x + W A Wᵀ x: Moreno et al., 2023, algorithm 1. */
typedef struct weft_reference_ski_params {
    uint32_t n, d;
    const double *rpe; /* [2 steps + 1, d] */
    uint32_t steps;
    const double *taps; /* [tap_count, d], or null */
    uint32_t tap_count;
    uint32_t points; /* 0: steps */
    float gamma;
    weft_interpolation interpolation;
} weft_reference_ski_params;
void weft_reference_ski(weft_reference *ref, double *out, weft_rows rows, const double *x,
                        const weft_reference_ski_params *params);

/** A layer of a relative position encoder: W act(norm(x)) + b. */
typedef struct weft_reference_rpe_layer {
    const double *weight, *bias; /* bias: or null */
    const weft_reference_norm *norm;
} weft_reference_rpe_layer;

/** weft_rpe_params: layers of one width, but for the last. */
typedef struct weft_reference_rpe_params {
    uint32_t width, layer_count, channels;
    const double *weight, *bias; /* W_0 [width, 1] and b_0, or null */
    const weft_reference_rpe_layer *layers;
    weft_activation activation;
    bool residual;
} weft_reference_rpe_params;

/** Applies it to `count` numbers: [count, channels]. */
void weft_reference_rpe(weft_reference *ref, double *out, const double *inputs, uint32_t count,
                        const weft_reference_rpe_params *rpe);

#endif
