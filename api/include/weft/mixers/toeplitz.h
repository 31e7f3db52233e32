/* SPDX-License-Identifier: MIT */
/*
 * Toeplitz matrices: by their coefficients, by interpolation (SKI), by frequency response (FD). Also the encoders that
 * compute their coefficients, and TNN's gated unit.
 */
#ifndef WEFT_MIXERS_TOEPLITZ_H
#define WEFT_MIXERS_TOEPLITZ_H

#include <weft/mixers/blocks.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_toeplitz_params {
    bool causal;       /**< only lags 0 … n-1: T is lower triangular */
    weft_tensor decay; /**< γ, f32 [d], each in (0, 1]; none: all 1 */
    weft_tensor
        lengths; /**< i32 [B], how many tokens of each sequence count: see below; none: all */
} weft_toeplitz_params;

#ifndef __cplusplus
#define weft_toeplitz_params(...) (&(weft_toeplitz_params){__VA_ARGS__})
#endif

/**
 * The Toeplitz operator, one matrix per channel: y[b, i, c] = Σ_j γ_c^|i-j| t_c(i-j) x[b, j, c], t(0) undecayed. x and y
 * are f32 [B, n, d]. Qin et al., "Toeplitz neural network for sequence modeling", 2023; Moreno et al., "SKI to go
 * faster: accelerating Toeplitz neural networks via asymmetric kernels", 2023, section 3.1.
 *
 * coefficients is f32 [2m - 1, d] with m ≥ n: row m - 1 + k is lag k = -(m-1) … m-1 of all channels (T is not
 * symmetric; t(1) shifts to later positions); causal, f32 [m, d]: row k is lag k = 0 … m-1. Lags of n and more are not
 * used, so one tensor serves all lengths up to m. If coefficients and decay are weights, they are decayed and
 * transformed once per device, weights and n, with the bits that every run would give; otherwise in every run.
 *
 * Implementations: "direct", by the definition in O(n²); "fft_shared", O(n log n) for n up to 2048 in one dispatch,
 * with scratch memory only for transforms of coefficients made in every run, 2n to 4n floats a channel; and "fft", O(n
 * log n) with 4 to 8 n d B floats of scratch memory, 192 MiB at most unless one channel needs more. Reproducible mode
 * takes "direct" up to n = 96 (causal: 192), "fft_shared" up to 2048 and "fft" beyond; fast mode takes the fastest by
 * measurement. "direct" is exactly causal. With the others a later element changes earlier results of its channel by
 * rounding errors, 1e-7 of it, and zeros are +0. params may be null: bidirectional, no decay. With "direct" a NaN or an
 * infinity in x reaches the elements that read it. With the others it makes its channel NaN for all tokens of the
 * sequence, earlier ones included; so can finite numbers whose transform overflows. A NaN or an infinity in the
 * coefficients does the same in all sequences. With lengths (weft_graph_mask) later tokens have no influence. A
 * sequence has the bits that it has alone if both use "direct"; transforms of another length differ by rounding errors.
 * Errors: WEFT_SHAPE_MISMATCH for shapes; WEFT_INVALID_ARGUMENT if decay is a weight with an element outside (0, 1].
 * Other decays are not checked.
 */
WEFT_API weft_status weft_graph_toeplitz(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor coefficients,
                                         const weft_toeplitz_params *params);

typedef struct weft_toeplitz_fd_params {
    bool causal; /**< response is the real part of a causal kernel's */
} weft_toeplitz_fd_params;

#ifndef __cplusplus
#define weft_toeplitz_fd_params(...) (&(weft_toeplitz_fd_params){__VA_ARGS__})
#endif

/**
 * The Toeplitz operator by the frequency response of its kernel: FD-TNO of Moreno et al., "SKI to go faster:
 * accelerating Toeplitz neural networks via asymmetric kernels", 2023, section 3.3. x and y are f32 [B, n, d].
 *
 * response has a row for each frequency π m/N, m = 0 … N, with N ≥ n: f32 [N + 1, 2d], d real and then d imaginary
 * parts; the imaginary parts of frequencies 0 and π count as 0. The kernel k is its inverse real transform over 2N
 * points, and y[b, i, c] = Σ_j k_c((i-j) mod 2N) x[b, j, c]. N fixes the kernel: n in the paper, half of the next power
 * of two from 2n on in the authors' checkpoints; a longer sequence takes a response on a finer grid. Causal (Algorithm
 * 2): f32 [N + 1, d], real parts; the imaginary parts are minus their discrete Hilbert transform, which keeps k(0),
 * doubles the positive lags and makes the negative ones 0.
 *
 * If response is a weight, its transforms are computed once per device, with the bits that every run would give.
 * Implementations: "fft", and "fft_shared" in one dispatch, for an N that is a power of two from 4 to 2048;
 * reproducible mode then takes it. Scratch memory and exactness of causality are those of weft_graph_toeplitz. If every
 * run computes the transforms, "fft_shared" also needs the scratch memory of "fft". params may be null: bidirectional.
 * Errors: WEFT_SHAPE_MISMATCH for shapes; compiling a plan returns WEFT_UNSUPPORTED for an N that VkFFT cannot plan.
 */
WEFT_API weft_status weft_graph_toeplitz_fd(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                            weft_tensor response,
                                            const weft_toeplitz_fd_params *params);

/**
 * The coefficients of weft_graph_toeplitz, causal, for the kernel of weft_graph_toeplitz_fd with that causal response
 * f32 [N + 1, d]: out is f32 [N, d], row k is lag k. The even kernel is the response's inverse real transform; lag 0
 * stays, the others are doubled. Errors: those of weft_graph_toeplitz_fd for its response.
 */
WEFT_API weft_status weft_graph_toeplitz_fd_taps(weft_tensor *out, weft_graph *graph,
                                                 weft_tensor response);

/** How a position is interpolated from the inducing points around it. */
typedef enum weft_interpolation {
    WEFT_INTERPOLATION_LINEAR = 0, /**< from two points */
    WEFT_INTERPOLATION_CUBIC = 1,  /**< from the four nearest, by Lagrange's polynomial */
    WEFT_INTERPOLATION_COUNT
} weft_interpolation;

typedef struct weft_ski_toeplitz_params {
    /** f32 [2g + 1, d], g at least 1: the RPE at -1, -1 + 1/g … 1 of the warped axis. Row g counts as 0. */
    weft_tensor rpe;
    /** f32 [m, d], or none: row s is the coefficient of lag s - ⌊m/2⌋, so an even m looks one further ahead than back. */
    weft_tensor taps;
    uint32_t points; /**< r, the inducing points: 1 … n; 0 means g */
    float gamma;     /**< decay of the warp, above 0 and at most 1; there is no default */
    weft_interpolation interpolation;
} weft_ski_toeplitz_params;

#ifndef __cplusplus
#define weft_ski_toeplitz_params(...) (&(weft_ski_toeplitz_params){__VA_ARGS__})
#endif

/**
 * SKI-TNO: sparse plus low-rank Toeplitz mixing by structured kernel interpolation, y = T_sparse x + W A Wᵀ x for each
 * channel. "SKI to go faster: accelerating Toeplitz neural networks via asymmetric kernels", algorithm 1. Bidirectional:
 * every output depends on every input.
 *   lag      i - j: positive lags look back.
 *   T_sparse the convolution with the taps, zeros around the sequence. PyTorch's Conv1d with padding "same" is that with
 *            its taps the other way round.
 *   W        [n, r] interpolates position i from the points p_k = k (n - 1)/(r - 1), 0 … n - 1: of degree 1 or 3,
 *            or r - 1 if that is lower (so r = 1 adds the whole sequence up). Never held in memory.
 *   A        [r, r], A_ij = RPE(x(p_i - p_j)), with the inverse time warp x(t) = sign(t) gamma^|t|, x(0) = +1.
 *   RPE      linear between the 2g + 1 rows of `rpe` over [-1, 1], the warped axis: its ends are lag 0 (row 2g) and the
 *            limit at 0 from negative lags (row 0), its middle is infinitely far away, where the paper has RPE(0) = 0.
 * r = n with linear interpolation is the Toeplitz matrix RPE(x(i - j)) itself. The warp takes lags in positions, so the
 * same parameters serve any n ≥ r. The rows of `rpe` alone determine the grid, not r. x f32 [B, n, d]. Time O(n (m + 1)
 * + r²) per channel, memory beside x and y O(r + n/1024).
 * Errors: WEFT_INVALID_ARGUMENT for gamma, interpolation, or points above n; WEFT_SHAPE_MISMATCH naming rpe or taps;
 * WEFT_UNSUPPORTED for n above 2^24 or (r - 1)(n - 1) of 2^32 and more.
 */
WEFT_API weft_status weft_graph_ski_toeplitz(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                             const weft_ski_toeplitz_params *params);

/** An RPE's input for lag k: "par_type" of TNN's public code. */
typedef enum weft_rpe_lag {
    WEFT_RPE_LAG = 0,          /**< k: par_type 1 */
    WEFT_RPE_LAG_FRACTION = 1, /**< k/N: par_type 2 */
    WEFT_RPE_LAG_EXP = 2,      /**< exp(k/N): par_type 3 */
    WEFT_RPE_LAG_COUNT
} weft_rpe_lag;

/** The input of a frequency response's RPE for frequency ω. */
typedef enum weft_rpe_frequency {
    WEFT_RPE_FREQUENCY = 0, /**< ω, as in the paper's Algorithm 2 */
    WEFT_RPE_COSINE = 1,    /**< cos ω */
    WEFT_RPE_FREQUENCY_COUNT
} weft_rpe_frequency;

/** linear(activation(norm(h))), one step of an RPE. */
typedef struct weft_rpe_layer {
    const weft_norm_params *norm; /**< over d_r; null: none */
    weft_tensor weight;           /**< f32 [d_r, d_r], of the last layer [d, d_r] */
    weft_tensor bias;             /**< f32 [d_r], of the last layer [d], or none */
} weft_rpe_layer;

/** A relative position encoder (RPE): h = p W_0ᵀ + b_0, then its layers, the last of which gives the channels. */
typedef struct weft_rpe_params {
    weft_tensor weight;           /**< W_0, f32 [d_r, 1] */
    weft_tensor bias;             /**< b_0, f32 [d_r], or none */
    const weft_rpe_layer *layers; /**< read during the call */
    uint32_t layer_count;         /**< at least 1 */
    weft_activation activation;   /**< of every layer; 0: none */
    bool residual;                /**< all layers but the last add their input */
} weft_rpe_params;

#ifndef __cplusplus
#define weft_rpe_params(...) (&(weft_rpe_params){__VA_ARGS__})
#endif

typedef struct weft_toeplitz_rpe_params {
    bool causal; /**< only lags 0 … n-1 */
    weft_rpe_lag input;
    uint32_t divisor; /**< N of the last two inputs; 0 means n. The public code uses n - 1 */
} weft_toeplitz_rpe_params;

#ifndef __cplusplus
#define weft_toeplitz_rpe_params(...) (&(weft_toeplitz_rpe_params){__VA_ARGS__})
#endif

/**
 * The coefficients of weft_graph_toeplitz for sequences of n tokens from TNN's relative position encoder: Qin et al.,
 * "Toeplitz neural network for sequence modeling", 2023. out is f32 [2n - 1, d], or [n, d] if causal, not decayed. Head
 * h of the public code's [h, n, d/h] is the channels h·d/heads …, as in all mixers.
 *
 * A helper made of linear, norm and activation ops on a column of positions. If the parameters are weights, a plan
 * computes the coefficients, and the transforms that weft_graph_toeplitz needs, once per device, weights and n; runs do
 * not. The same weights serve any n, with WEFT_RPE_LAG or the divisor of their training.
 * Errors, before anything is added: WEFT_INVALID_ARGUMENT naming n, layer_count, input or divisor ((n - 1)/divisor
 * below 87, as exp must not overflow), WEFT_UNSUPPORTED for n above 2^24; those of the ops. params may be null.
 */
WEFT_API weft_status weft_graph_toeplitz_rpe(weft_tensor *out, weft_graph *graph, uint32_t n,
                                             const weft_rpe_params *rpe,
                                             const weft_toeplitz_rpe_params *params);

/**
 * Learned decay γ = λ + (1 - λ) σ(θ) for weft_toeplitz_params: out is f32 [d] with theta's d elements, in order, under
 * whatever shape. Qin et al., 2023, public code ("use_multi_decay", λ its gamma). lambda is in 0 … 1, otherwise
 * WEFT_INVALID_ARGUMENT.
 */
WEFT_API weft_status weft_graph_toeplitz_decay(weft_tensor *out, weft_graph *graph,
                                               weft_tensor theta, float lambda);

/**
 * The response of weft_graph_toeplitz_fd at the frequencies ω_m = π m/N, m = 0 … N = grid: f32 [N + 1, c]. c is the
 * last layer's channels: 2d (real, then imaginary parts) or, causal, d. Moreno et al., 2023, Algorithm 2 and section
 * 3.3.2. Otherwise as weft_graph_toeplitz_rpe; the same weights serve any grid.
 *
 * Decay of the kernel (Theorems 2-4 of the paper: by the smoothness of the activation) needs a response that is smooth
 * as a function on the circle. MLP(cos ω) is as smooth as its activation. MLP(ω), made even in the causal case, has a
 * kink at 0 and at π, so k(n) falls as 1/n² for every activation; the theorems overlook this.
 * Errors: WEFT_INVALID_ARGUMENT naming grid, layer_count or input; WEFT_UNSUPPORTED for a grid above 2^24.
 */
WEFT_API weft_status weft_graph_toeplitz_fd_rpe(weft_tensor *out, weft_graph *graph, uint32_t grid,
                                                const weft_rpe_params *rpe,
                                                weft_rpe_frequency input);

/** The Toeplitz operator of a gated Toeplitz unit. */
typedef enum weft_gtu_mixer {
    WEFT_GTU_TOEPLITZ = 0, /**< TNN: weft_graph_toeplitz */
    WEFT_GTU_SKI = 1,      /**< SKI-TNN: weft_graph_ski_toeplitz */
    WEFT_GTU_FD = 2,       /**< FD-TNN: weft_graph_toeplitz_fd */
    WEFT_GTU_COUNT
} weft_gtu_mixer;

typedef struct weft_gtu_params {
    weft_tensor weight[3];      /**< of u and v f32 [m, d], of o [d_out, m] */
    weft_tensor bias[3];        /**< f32 [m], [m], [d_out]; any may be none */
    weft_activation activation; /**< of u and v; 0: none. The papers use SiLU */
    weft_gtu_mixer mixer;
    /** TOEPLITZ: coefficients [2n' - 1, m] or [n', m]; FD: the response [N + 1, 2m] or [N + 1, m]. SKI: none. */
    weft_tensor kernel;
    const weft_toeplitz_params *toeplitz; /**< for TOEPLITZ, or null */
    const weft_ski_toeplitz_params *ski;  /**< for SKI */
    const weft_toeplitz_fd_params *fd;    /**< for FD, or null */
    const weft_norm_params *norm;         /**< over m, before o; null: none */
} weft_gtu_params;

#ifndef __cplusplus
#define weft_gtu_params(...) (&(weft_gtu_params){__VA_ARGS__})
#endif

/**
 * The gated Toeplitz unit o(norm(activation(u x) ⊙ T activation(v x))) with l x = x Wᵀ + b: the token mixer of Qin et
 * al., "Toeplitz neural network for sequence modeling", 2023, with T one of the three operators, over m channels
 * (expand_ratio · d). x f32 [B, n, d], out [B, n, d_out].
 * Errors: WEFT_INVALID_ARGUMENT for missing params, missing params of the chosen mixer, params of another mixer, or an
 * unknown mixer; those of the ops.
 */
WEFT_API weft_status weft_graph_gtu(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                    const weft_gtu_params *params);

#ifdef __cplusplus
}
#endif

#endif
