/* SPDX-License-Identifier: MIT */
/*
 * Frequencies and weights of FLT's relative positions, made on the host for weft_graph_flt_features: Choromanski et al.,
 * "Learning a Fourier transform for linear relative positional encodings in transformers", 2024. A function f of
 * r_i - r_j in l dimensions is given by its Fourier transform g, f(z) = ∫ g(ξ) exp(2πi zᵀξ) dξ, and estimated by
 *
 *   N̂_ij = 1/r Σ_k w_k cos 2π ξ_kᵀ(r_i - r_j),   ξ_k ~ p,   w_k = g(ξ_k)/p(ξ_k):   E N̂_ij = Re f(r_i - r_j)
 *
 * (Theorem 4.1). With |w| ≤ c the variance is at most (c² - f²)/r (Theorem A.3). Where g has heavier tails than p, w
 * has no bound, and its variance may be infinite. With a Gaussian p it is infinite for WEFT_FLT_LOCAL, and for terms
 * with σ_t ≥ √2 sigma of WEFT_FLT_GAUSSIAN_MIXTURE (no bound from σ_t > sigma on).
 *
 * Draws are from Philox4x32-10. The arithmetic is + - × ÷ and square roots of doubles in a fixed order, with Weft's own
 * logarithm, exponential, sine and cosine. Equal parameters give equal bits on every host. Frequency k does not depend
 * on `count`. Thread safe.
 */
#ifndef WEFT_FLT_H
#define WEFT_FLT_H

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FLT_MAX_COUNT      (1U << 20)
#define WEFT_FLT_MAX_DIMENSIONS 8U
#define WEFT_FLT_MAX_TERMS      4096U
#define WEFT_FLT_MAX_POWER      16U

/**
 * Kinds of f, a sum over terms t of w_t f_t; section 4.3. The last three have p ∝ Σ |w_t| |g_t|, the others p = N(0,
 * sigma² I).
 */
typedef enum weft_flt_kind {
    /**
     * g_t = exp(-‖ξ - μ_t‖²/(2σ_t²)). If the g_t are not symmetric, f is complex and the estimate is of its real part.
     */
    WEFT_FLT_GAUSSIAN_MIXTURE = 0,
    /** f_t = (√(2π) σ_t)^(-l) exp(-‖z‖²/(2σ_t²)), g_t = exp(-2π²σ_t²‖ξ‖²). Section 5.3, which has l = 3. */
    WEFT_FLT_MOLECULAR,
    /**
     * g_t = Π_j (sin(2π v_j ξ_j)/(π ξ_j))^k_j, (2 v_j)^k_j at 0. With k = 1 f_t is 1 where all |z_j| ≤ v_j and else 0
     * (equation (4)). f_t is a B-spline in each direction otherwise: continuous, of degree k_j - 1 piecewise, 0 beyond
     * k_j v_j. The paper prints sin^k/(π ξ), which has none of these properties: for odd k it is a sum of terms with k = 1
     * (sin³x = (3 sin x - sin 3x)/4: w 3/4 and -1/4, radii v and 3v), for even k odd, f imaginary.
     */
    WEFT_FLT_LOCAL,
    /** f_t = exp(-‖z‖²/(2h_t²)). Rahimi and Recht, 2007, with s = z: the paper's r = s/2π is within ξ here. */
    WEFT_FLT_GAUSSIAN_KERNEL,
    WEFT_FLT_LAPLACE_KERNEL, /**< f_t = exp(-‖z‖₁/h_t), g_t = Π_j 2h_t/(1 + (2π h_t ξ_j)²) */
    WEFT_FLT_CAUCHY_KERNEL, /**< f_t = Π_j 1/(1 + (z_j/h_t)²), g_t = Π_j π h_t exp(-2π h_t |ξ_j|) */
    WEFT_FLT_KIND_COUNT
} weft_flt_kind;

/** Fields that a kind does not use must be 0. */
typedef struct weft_flt_params {
    weft_flt_kind kind;
    uint32_t count;            /**< r, 1 to WEFT_FLT_MAX_COUNT */
    uint32_t dimensions;       /**< l, 1 to WEFT_FLT_MAX_DIMENSIONS */
    uint32_t terms;            /**< T, at most WEFT_FLT_MAX_TERMS; 0 means 1 */
    const float *coefficients; /**< [T]: w_t, finite; null: 1 */
    const float *widths;       /**< [T]: σ_t or h_t, 2^-20 to 2^20; null: 1. Not LOCAL */
    const float *centres;      /**< [T, l]: μ_t, finite; null: 0. Only GAUSSIAN_MIXTURE */
    const float *radii;        /**< [T, l]: v, 2^-20 to 2^20. Only LOCAL, which needs them */
    const uint32_t *powers;    /**< [T, l]: k, 1 to WEFT_FLT_MAX_POWER; null: 1. Only LOCAL */
    float sigma;               /**< of p, 2^-20 to 2^20; 0 means 1. Not for the three kernels */
    uint32_t matrix; /**< number of an independent set under the seed, for a head or a redraw */
    uint64_t seed;
} weft_flt_params;

#ifndef __cplusplus
#define weft_flt_params(...) (&(weft_flt_params){__VA_ARGS__})
#endif

/** A lower-case name such as "gaussian_mixture"; never null. */
WEFT_API const char *weft_flt_name(weft_flt_kind kind);

/**
 * Draws frequencies [count, dimensions] and their weights [count]. Only host may be null.
 * Errors: WEFT_INVALID_ARGUMENT, naming the parameter, its value and its range, before anything is written; or, for a
 * weight that is not a finite float32, naming its number.
 */
WEFT_API weft_status weft_flt_fill(float *frequencies, float *weights,
                                   const weft_flt_params *params, const weft_host *host);

/** The weights g/p [count] of given frequencies [count, dimensions]; seed and matrix are ignored. Errors: as above. */
WEFT_API weft_status weft_flt_weights(float *weights, const float *frequencies,
                                      const weft_flt_params *params, const weft_host *host);

/** The transform g [count] itself at given frequencies [count, dimensions]. Errors: as above. */
WEFT_API weft_status weft_flt_transform(double *transform, const float *frequencies,
                                        const weft_flt_params *params, const weft_host *host);

#ifdef __cplusplus
}
#endif

#endif
