/* SPDX-License-Identifier: MIT */
/* Relative positions: rotary ones; for attention in linear time FLT, sineSPE and convSPE, and the log-linear Performer. */
#ifndef WEFT_MIXERS_POSITIONS_H
#define WEFT_MIXERS_POSITIONS_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The factor of N = E[queries keysᵀ] that weft_graph_flt_features computes. */
typedef enum weft_flt_side {
    WEFT_FLT_QUERY = 0,
    WEFT_FLT_KEY = 1 /**< with the signs of the weights */
} weft_flt_side;

typedef struct weft_flt_features_params {
    weft_flt_side side;
    uint32_t heads; /**< divides d; 0 means 1 */
    float scale;    /**< on x; 0 means (d/heads)^(-1/4) */
    weft_tensor
        positions; /**< f32 [n, l] or [B, n, l]; none: the token's number 0 … n-1, with l = 1 */
    weft_tensor
        phases; /**< only queries: arg(w)/2π of complex weights, shaped as weights; none: 0 */
} weft_flt_features_params;

#ifndef __cplusplus
#define weft_flt_features_params(...) (&(weft_flt_features_params){__VA_ARGS__})
#endif

/**
 * Queries or keys with relative positions: per token and head [scale · x ‖ a_k cos 2π t_k ‖ a_k sin 2π t_k], k = 1 … r,
 * t_k = positions · frequencies_k (+ phases_k), a_k = √(|weights_k| / r), with the sign of weights_k on keys. The
 * product of query i and key j is then x_i·x_j/√(d/heads) + N̂_ij, an unbiased estimate N̂ of f(r_i - r_j) with
 * weights_k = g(ξ_k)/p(ξ_k) (weft/flt.h computes them; learned ones are ordinary weights). Choromanski et al.,
 * "Learning a Fourier transform for linear relative positional encodings in transformers", 2024, Theorem 4.1 and
 * Algorithm 1.
 *
 * x f32 [B, n, d]; frequencies f32 [r, l] or, per head, [heads, r, l], with any l ≥ 1; weights f32 [r] or [heads, r];
 * out f32 [B, n, heads · (d/heads + 2r)]. Pass it to weft_graph_random_features with scale 1 (w has d/heads + 2r
 * columns) or another feature map, and then to weft_graph_linear_attention. Time and memory O(n (d + heads r)).
 *
 * Phases are reduced modulo 1 exactly, so cosines and sines have an absolute error below 1.5e-7 for positions and
 * frequencies of any size. A product of a position and a frequency below 2^-80 counts as 0; a product that overflows
 * gives NaN. params may be null.
 * Errors: WEFT_INVALID_ARGUMENT naming side, heads, scale or phases; WEFT_SHAPE_MISMATCH; WEFT_UNSUPPORTED for n above
 * 2^24 without positions.
 */
WEFT_API weft_status weft_graph_flt_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                             weft_tensor frequencies, weft_tensor weights,
                                             const weft_flt_features_params *params);

typedef struct weft_sine_spe_params {
    uint32_t heads;          /**< divides d; 0 means 1 */
    weft_tensor frequencies; /**< f32 [d, t], in cycles per token: 0 … 1/2 */
    weft_tensor gains;       /**< f32 [d, t] */
    weft_tensor phases;      /**< f32 [d, t], in cycles, of queries or of keys; none: 0 */
} weft_sine_spe_params;

#ifndef __cplusplus
#define weft_sine_spe_params(...) (&(weft_sine_spe_params){__VA_ARGS__})
#endif

/**
 * Queries or keys with stochastic positional encoding, sineSPE: out[b, i, h, r] = (w s²)^(-1/4) Σ_c x[b, i, c] code[i, c,
 * r] over the w = d/heads channels c of head h, r = 0 … s - 1, with code[i, c, r] = Σ_k gains[c, k] (cos(2π a) noise[c,
 * 2k, r] + sin(2π a) noise[c, 2k + 1, r]), a = frequencies[c, k] i + phases[c, k]. Liutkus et al., "Relative positional
 * encoding for transformers with linear complexity", 2021.
 *
 * Give queries and keys the same normal noise, and only the queries the phases. The product of query i and key j of a
 * head then has the mean Σ_c q_ic P_c(i - j) k_jc / √w with P_c(l) = Σ_k gains² cos(2π (frequencies l + phases)).
 * This is scaled attention with relative positions, for any kernel feature attention over heads of s channels that
 * adds no scale (weft_graph_random_features with scale 1). For a gated code (the paper's δ) set the first frequency
 * and phase to 0 and the first gain to √δ, and multiply the other gains by √(1 - δ). In the authors' code a frequency
 * is sigmoid(freqs)/2, a phase offsets/2π and a gain softplus(gains)/√(2t); its attention applies s^(-1/4) of the
 * factor.
 *
 * x f32 [B, n, d]; noise f32 [d, 2t, s], for example from weft_features_fill with kind WEFT_FEATURES_BASE, d · 2t rows
 * and s columns; out f32 [B, n, heads · s]. Time O(n d s (B + t)), memory 4 n d (2t + s) bytes beside the result. If
 * noise and params are weights, the codes are computed once per device and n, and kept: 4 n d s bytes.
 * Errors: WEFT_INVALID_ARGUMENT naming heads; WEFT_SHAPE_MISMATCH; WEFT_UNSUPPORTED for n above 2^24. params must not
 * be null.
 */
WEFT_API weft_status weft_graph_sine_spe(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor noise, const weft_sine_spe_params *params);

typedef struct weft_conv_spe_params {
    uint32_t heads;      /**< divides d; 0 means 1 */
    weft_tensor filters; /**< f32 [p, d], of queries or of keys */
} weft_conv_spe_params;

#ifndef __cplusplus
#define weft_conv_spe_params(...) (&(weft_conv_spe_params){__VA_ARGS__})
#endif

/**
 * Queries or keys with stochastic positional encoding by convolved noise, convSPE: as weft_graph_sine_spe with
 * code[i, c, r] = Σ_u filters[u, c] noise[i + u, c, r], u = 0 … p - 1. Then P_c(l) = Σ_u filters_q[u, c] filters_k[u
 * + l, c], which is 0 from |l| = p on. Liutkus et al., 2021, with the taps in the order of the authors' code
 * (PyTorch's Conv1d). noise f32 [m, d, s] with m ≥ n + p - 1, the same for queries and keys, for example from
 * weft_features_fill with m · d rows; one tensor serves all n up to m - p + 1. Time O(n d s (B + p)); the rest as
 * weft_graph_sine_spe.
 */
WEFT_API weft_status weft_graph_conv_spe(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor noise, const weft_conv_spe_params *params);

typedef struct weft_toeplitz_attention_params {
    uint32_t heads; /**< divides the features and d; 0 means 1 */
    bool causal;    /**< token i reads the tokens 0 … i; otherwise all */
    float epsilon;  /**< a denominator closer to 0 than this becomes ±epsilon; 0: only 0 itself */
    weft_tensor lengths; /**< i32 [B], how many keys of each sequence count: see below; none: all */
} weft_toeplitz_attention_params;

#ifndef __cplusplus
#define weft_toeplitz_attention_params(...) (&(weft_toeplitz_attention_params){__VA_ARGS__})
#endif

/**
 * Kernelized attention with relative positions (log-linear Performer): per head, y_i = Σ_j e^b(i-j) (φ_i · ψ_j) v_j /
 * Σ_j e^b(i-j) φ_i · ψ_j. Luo et al., "Stable, fast and accurate: Kernelized attention with relative positional
 * encoding", 2021; its b_{j-i} is b(i - j) here. With all b equal it is weft_graph_linear_attention. q_features φ and
 * k_features ψ are f32 [B, n, heads · m], for example from weft_graph_random_features; v [B, n, d], out [B, n, d]. bias
 * b has the layout of the coefficients of weft_graph_toeplitz: f32 [2r - 1, heads] with r ≥ n, where row r - 1 + s is
 * lag s = i - j of all heads; causal [r, heads], where row s is lag s. Lags of n and more are not used. -infinity
 * excludes a lag. The largest b of a head's lags is subtracted first, which cancels; a weight below 2^-126 of the
 * largest is 0.
 *
 * Implementations: "direct", by the definition in O(n² (m + d)) without memory for scores, and "fft", O(n log n · m d).
 * "fft" multiplies a Toeplitz matrix per head with the m (d/heads + 1) products of a key's features with its value and
 * 1. It stores these twice, 8 B n m (d + heads) bytes, beside the slabs of weft_graph_toeplitz. Reproducible mode takes
 * "direct" up to n ≈ 12 log2(2n) m d/(m + d), d per head (causal: twice this n): 5200 for m = d = 64. Fast mode takes
 * the faster by measurement. "direct" is exactly causal, also for NaN. With "fft" a sum has errors of 1e-7 of the
 * largest sum of its sequence (causal: of the sums up to 8 times as far along). A much smaller denominator is then
 * inaccurate, and later tokens change earlier results by as much. With lengths (weft_graph_mask) later keys have no
 * influence, but the bits differ from those of the sequence alone, since n decides on the implementation and on the
 * largest b.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT naming heads or epsilon; compiling a plan returns WEFT_UNSUPPORTED
 * for "fft" with more than 2^31 - 1 products. params may be null.
 */
WEFT_API weft_status weft_graph_toeplitz_attention(weft_tensor *out, weft_graph *graph,
                                                   weft_tensor q_features, weft_tensor k_features,
                                                   weft_tensor v, weft_tensor bias,
                                                   const weft_toeplitz_attention_params *params);

typedef struct weft_rope_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    uint32_t width; /**< the first channels of each head that turn; even; 0: all of them */
    float base;     /**< at least 1; 0 means 10000 */
    bool
        interleaved; /**< pairs are the channels 2j and 2j+1, as in the paper; else j and j + width/2, as in Llama */
    int32_t offset; /**< added to all positions */
    weft_tensor
        positions; /**< i32 [B], of each sequence's first token, or [B, n], of each token; none: 0 */
    /**
     * Slower turns for a longer context: divides the angles of all pairs, or with scale_length of slow ones. At least 1; 0
     * means 1.
     */
    float scale_factor;
    /**
     * The context that the model had before, in tokens; 0: all pairs are slow. A pair that turns fewer than scale_low
     * times in it is slow; one that turns more than scale_high times keeps its angle. Between the two, slow and kept
     * angles mix linearly in the number of turns, as in Llama 3.1. 0 < scale_low < scale_high.
     */
    uint32_t scale_length;
    float scale_low, scale_high;
    /**
     * f32 [width/2], a weight (weft_graph_weight): divides the angle of each pair, as YaRN and LongRoPE do. A pair whose factor is
     * below 2^-32, or not finite, does not turn. None: all are 1.
     */
    weft_tensor factors;
} weft_rope_params;

#ifndef __cplusplus
#define weft_rope_params(...) (&(weft_rope_params){__VA_ARGS__})
#endif

/**
 * Rotary positions of queries or keys: pair j of a head of token p is turned by the angle a = p · base^(-2j/width),
 * (u, v) → (u cos a - v sin a, u sin a + v cos a); the other channels stay. Su et al., "RoFormer: Enhanced transformer
 * with rotary position embedding", 2021, equation (34). x f32 [B, …, n, d], such as [B, n, heads · w] or, with heads 1,
 * [B, heads, n, w]; out likewise. Positions may have any value. Angles are reduced exactly: cosines and sines have an
 * absolute error below 2e-7 for positions below 2^20. It has no state: for a step, positions is the step's `position`.
 * params may be null.
 * Errors: WEFT_INVALID_ARGUMENT naming heads, width, base or what scales; WEFT_SHAPE_MISMATCH, also for factors that are no
 * weight.
 */
WEFT_API weft_status weft_graph_rope(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                     const weft_rope_params *params);

#ifdef __cplusplus
}
#endif

#endif
