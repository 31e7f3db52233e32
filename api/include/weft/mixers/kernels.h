/* SPDX-License-Identifier: MIT */
/*
 * Attention in linear time: with given features, with elementwise kernels, cosFormer, fast weights, and FMMformer's
 * blend of these with a band.
 */
#ifndef WEFT_MIXERS_KERNELS_H
#define WEFT_MIXERS_KERNELS_H

#include <weft/mixers/attention.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_linear_attention_params {
    uint32_t heads; /**< divides the features and d; 0 means 1 */
    bool causal;    /**< token i reads the tokens 0 … i; otherwise all */
    float epsilon;  /**< a denominator closer to 0 than this becomes ±epsilon; 0: only 0 itself */
    weft_tensor
        lengths; /**< i32 [B], how many keys of each sequence count: see weft_graph_mask; none: all */
} weft_linear_attention_params;

#ifndef __cplusplus
#define weft_linear_attention_params(...) (&(weft_linear_attention_params){__VA_ARGS__})
#endif

/**
 * Attention with given features: per head, y_i = Σ_j (φ_i · ψ_j) v_j / Σ_j φ_i · ψ_j. Katharopoulos et al.,
 * "Transformers are RNNs", 2020, equations (5) and (9). Time and memory are linear in n. q_features φ are f32 [B, n,
 * heads · m], k_features ψ [B, k, heads · m], v [B, k, d]; out [B, n, d]. Causal: k = n; the sequence is processed in
 * chunks of 64, dense within a chunk and with a state of m · (d/heads + 1) elements between them. A NaN or an infinity
 * spreads to every token that reads j, even if the weight φ_i · ψ_j is 0: from v_j to its channel, from ψ_j to all
 * channels of its head. One in φ_i reaches only token i. epsilon: default 2^-126 (a smaller denominator is 0, and so
 * are y_i's numerators if no feature is negative); features that change sign generally need a larger one.
 * Errors: WEFT_INVALID_ARGUMENT for heads that do not divide or an epsilon below 0. params may be null.
 */
WEFT_API weft_status weft_graph_linear_attention(weft_tensor *out, weft_graph *graph,
                                                 weft_tensor q_features, weft_tensor k_features,
                                                 weft_tensor v,
                                                 const weft_linear_attention_params *params);

/** Elementwise feature maps. */
typedef enum weft_feature_map {
    WEFT_FEATURE_ELU1 = 0,         /**< elu(x) + 1 */
    WEFT_FEATURE_ELU1_NEGATED = 1, /**< elu(-x) + 1 */
    WEFT_FEATURE_TANH = 2,         /**< tanh(x): changes sign, see epsilon below */
    WEFT_FEATURE_TANH1 = 3,        /**< tanh(x) + 1 */
    WEFT_FEATURE_RELU = 4,
    WEFT_FEATURE_EXP = 5,
    WEFT_FEATURE_COUNT
} weft_feature_map;

/** A constant name such as "elu1"; never null. */
WEFT_API const char *weft_feature_map_name(weft_feature_map map);

#define WEFT_MAX_KERNELS 5

/** One kernel of a far field. */
typedef struct weft_kernel {
    weft_feature_map map; /**< ignored when glsl is given */
    /**
     * A map of your own: GLSL that defines `float weft_feature(float x)`, copied. It may use math.glsl and
     * activation.glsl of shaders/include (weft_exp, weft_tanh, weft_silu …). In reproducible mode it may use only these
     * and + - ×: otherwise the lint rejects it when a plan is compiled. Null: `map`.
     */
    const char *glsl;
    float weight; /**< w_l; 0 means 1 */
} weft_kernel;

typedef struct weft_kernel_attention_params {
    uint32_t heads;             /**< divides the channels; 0 means 1 */
    bool causal;                /**< token i reads the tokens 0 … i; otherwise all */
    const weft_kernel *kernels; /**< copied; null: one, elu(x) + 1 */
    uint32_t kernel_count;      /**< 1 … WEFT_MAX_KERNELS; 0 with kernels null */
    /** A denominator closer to 0 becomes ±epsilon. 0: 1e-6 for tanh and GLSL maps, only 0 itself for the others. */
    float epsilon;
    weft_tensor
        lengths; /**< i32 [B], how many keys of each sequence count: see weft_graph_mask; none: all */
} weft_kernel_attention_params;

#ifndef __cplusplus
#define weft_kernel_attention_params(...) (&(weft_kernel_attention_params){__VA_ARGS__})
#endif

/**
 * FMMformer's far field of rank r, per head: Σ_l w_l φ_l(q)(φ_l(k)ᵀ v) / (φ_l(q) φ_l(k)ᵀ 1), each kernel normalised
 * separately. Nguyen et al., "FMMformer", 2021, equation (10); one kernel elu(x) + 1 is the linear transformer. q f32
 * [B, n, d], k [B, m, d], v [B, m, d_v] (d_v = d as a rule), out [B, n, d_v]; heads as weft_graph_attention; causal: m
 * = n. q and k are not scaled. Time and memory are linear in n. If every kernel weight of a token is 0, which can
 * happen with relu, out is 0.
 * Errors: WEFT_INVALID_ARGUMENT naming heads, kernel_count, map, weight, glsl or epsilon; compiling a plan returns
 * WEFT_COMPILE_ERROR for a map that is not valid GLSL, and WEFT_UNSUPPORTED for one that the lint rejects. With elu(x)
 * + 1, exp and relu, a key that is -infinity in all channels of a head does not count; a single +infinity makes
 * everything that reads it NaN. Otherwise special values are those of weft_graph_linear_attention over the features.
 * Range: maps are not rescaled, and reproducible math treats magnitudes below 2^-126 = e^-87.3 as 0. For x < 0 elu(x) +
 * 1 is e^x, like exp. A channel contributes if e^q, the sum of e^k over the keys read, and the product of both are at
 * least 2^-126. If no channel does, as for q = k = -45 and a few keys, out is 0. If q + k is near -87.3, out loses
 * accuracy: each key and channel adds an error of at most e^(-87.3 - q - k) of the largest |v|, 6e-7 where q + k = -73.
 * With exp, out is NaN if e^q, e^k, or the product of e^q and the sum of e^k exceeds the largest float32, e^88.7.
 * params may be null.
 */
WEFT_API weft_status weft_graph_kernel_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                                 weft_tensor k, weft_tensor v,
                                                 const weft_kernel_attention_params *params);

typedef struct weft_cosformer_params {
    uint32_t heads;  /**< divides the channels; 0 means 1 */
    bool causal;     /**< token i reads the tokens 0 … i; otherwise all */
    uint32_t length; /**< M, at least n and m; 0 means the larger of n and m */
    float epsilon;   /**< a smaller denominator becomes epsilon; 0: only 0 itself */
    weft_tensor
        lengths; /**< i32 [B], as in weft_linear_attention_params; `length` must be given then */
} weft_cosformer_params;

#ifndef __cplusplus
#define weft_cosformer_params(...) (&(weft_cosformer_params){__VA_ARGS__})
#endif

/**
 * cosFormer: per head, y_i = Σ_j w_ij v_j / Σ_j w_ij with w_ij = relu(q_i)·relu(k_j) cos(π (i - j) / 2M), computed in
 * time and memory linear in n from the features relu(x_i) cos(π i / 2M) and relu(x_i) sin(π i / 2M). Qin et al.,
 * "cosFormer: Rethinking softmax in attention", 2022, equation (10). No weight is negative, as |i - j| < M. q f32 [B,
 * n, d], k [B, m, d], v [B, m, d_v], out [B, n, d_v]; heads as weft_graph_attention; causal: m = n. q and k are not
 * scaled. If every weight of a token is 0, out is 0. The authors' code uses the larger of n and m as M, and 1e-6 as
 * epsilon. With such an M the weights depend on the sequence's length; with a fixed M they do not. +infinity in q or k
 * of token 0 becomes NaN, because its sine is 0; otherwise special values are those of weft_graph_linear_attention over
 * the features.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT naming heads, length or epsilon; compiling a plan returns
 * WEFT_UNSUPPORTED for more than 2^31 - 1 features. params may be null.
 */
WEFT_API weft_status weft_graph_cosformer(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                          weft_tensor k, weft_tensor v,
                                          const weft_cosformer_params *params);

typedef struct weft_fast_weight_params {
    uint32_t heads; /**< divides the channels; 0 means 1 */
} weft_fast_weight_params;

#ifndef __cplusplus
#define weft_fast_weight_params(...) (&(weft_fast_weight_params){__VA_ARGS__})
#endif

/**
 * The fast-weight far field (delta rule), causal: per head, with φ(x) = (elu(x) + 1) / Σ (elu(x) + 1) over the head's
 * channels, S_i = S_{i-1} + β_i (v_i - S_{i-1} φ(k_i)) φ(k_i)ᵀ, S_{-1} = 0, and out_i = S_i φ(q_i). Schlag et al.,
 * "Linear transformers are secretly fast weight programmers", 2021, section 4.2. q, k f32 [B, n, d], v [B, n, d_v],
 * beta [B, n, heads] (after its sigmoid: 0 … 1), out [B, n, d_v]. Computed in chunks of 64: each solves a triangular
 * system, and multiplies the d/heads × d/heads matrix that the next chunk receives. A NaN or an infinity stays in S.
 * One in v_i makes its channel NaN for all later tokens, and NaN or infinite for token i. One in beta_i, and a NaN or
 * +infinity in k_i, has this effect on all channels of the head. A k_i that is -infinity in all channels of a head
 * writes nothing. Lengths are not needed: later tokens do not influence earlier ones.
 * Errors: WEFT_INVALID_ARGUMENT for heads that do not divide, WEFT_UNSUPPORTED for d/heads over 512. params may be
 * null.
 */
WEFT_API weft_status weft_graph_fast_weight(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                            weft_tensor k, weft_tensor v, weft_tensor beta,
                                            const weft_fast_weight_params *params);

typedef struct weft_fmm_attention_params {
    uint32_t heads; /**< divides the channels; 0 means 1 */
    bool causal;
    uint32_t half_width;        /**< of the near field's band, as weft_banded_attention_params */
    const weft_kernel *kernels; /**< of the far field, as weft_kernel_attention_params */
    uint32_t kernel_count;
    weft_tensor
        beta; /**< if given, the far field is weft_graph_fast_weight; causal, kernels null */
    /** w_1, f32 [d], after its sigmoid, equal in all channels of a head; none: 1 */
    weft_tensor near_weight;
    weft_tensor far_weight; /**< w_2, likewise */
    weft_tensor lengths;    /**< i32 [B], how many keys of each sequence count: of both fields */
} weft_fmm_attention_params;

#ifndef __cplusplus
#define weft_fmm_attention_params(...) (&(weft_fmm_attention_params){__VA_ARGS__})
#endif

/**
 * FMMformer's attention, w_1 D v + w_2 L v: weft_graph_banded_attention and weft_graph_kernel_attention (or
 * weft_graph_fast_weight) of the same q, k, v, blended. Nguyen et al., "FMMformer", 2021, equation (12). q, k, v and
 * out f32 [B, n, d]. A helper that adds these ops, with their errors; a failed call leaves the graph unchanged. params
 * must not be null.
 */
WEFT_API weft_status weft_graph_fmm_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                              weft_tensor k, weft_tensor v,
                                              const weft_fmm_attention_params *params);

#ifdef __cplusplus
}
#endif

#endif
