/* SPDX-License-Identifier: MIT */
/* Token mixers as graph ops. Each takes and gives activations f32 [B, n, d]. Errors as the ops of graph.h. */
#ifndef WEFT_MIXERS_H
#define WEFT_MIXERS_H

#include <weft/features.h>
#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FNet's Fourier sublayer: Re(F_seq(F_hidden(x))), unnormalised, over the axes n and d.
 * Lee-Thorp et al., "FNet: Mixing tokens with Fourier transforms", 2022, equation (3). No mask exists: padding changes
 * the result, so n is the exact length.
 *
 * Implementations: "fft" (VkFFT, real input) and "matrix" (C_n X C_d - S_n X S_d with precomputed cosine and sine
 * matrices). Reproducible mode chooses by shape alone, fast mode by measuring both once and remembering the answer.
 */
WEFT_API weft_status weft_graph_fourier(weft_tensor *out, weft_graph *graph, weft_tensor x);

typedef struct weft_attention_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    float scale;    /**< on the scores; 0 means 1/sqrt(d/heads) */
} weft_attention_params;

#ifndef __cplusplus
#define weft_attention_params(...) (&(weft_attention_params){__VA_ARGS__})
#endif

/**
 * Softmax self-attention without a mask, head h using channels h·d/heads …: softmax(scale · q kᵀ) v per head.
 * Vaswani et al., "Attention is all you need", 2017, equation (1). The sequence lengths of q and of k, v may differ.
 * Holds the [B, heads, n, n] scores: FNet's Hybrid sibling and the baseline use it. params may be null.
 */
WEFT_API weft_status weft_graph_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                          weft_tensor k, weft_tensor v,
                                          const weft_attention_params *params);

typedef struct weft_linear_attention_params {
    uint32_t heads; /**< divides the features and d; 0 means 1 */
    bool causal;    /**< token i reads the tokens 0 … i; otherwise all */
    float epsilon;  /**< a denominator closer to 0 than this becomes ±epsilon; 0: only 0 itself */
} weft_linear_attention_params;

#ifndef __cplusplus
#define weft_linear_attention_params(...) (&(weft_linear_attention_params){__VA_ARGS__})
#endif

/**
 * Attention with given features: per head, y_i = Σ_j (φ_i · ψ_j) v_j / Σ_j φ_i · ψ_j. Katharopoulos et al.,
 * "Transformers are RNNs", 2020, equations (5) and (9). Time and memory are linear in n.
 * q_features φ are f32 [B, n, heads · m], k_features ψ [B, k, heads · m], v [B, k, d]; out [B, n, d]. Causal: k = n;
 * then the sequence is cut into chunks of 64, dense within and with a state of m · (d/heads + 1) elements between.
 * A NaN or an infinity in v_j reaches its channel, one in ψ_j all channels of its head, of every token that reads j,
 * also where the weight φ_i · ψ_j is 0; one in φ_i only token i.
 * epsilon: default 2^-126 (a smaller denominator is 0, and so are y_i's numerators with features that are not
 * negative), in general needed where features change sign. Errors: WEFT_INVALID_ARGUMENT for heads that do not divide
 * or an epsilon below 0. params may be null.
 */
WEFT_API weft_status weft_graph_linear_attention(weft_tensor *out, weft_graph *graph,
                                                 weft_tensor q_features, weft_tensor k_features,
                                                 weft_tensor v,
                                                 const weft_linear_attention_params *params);

/** Elementwise feature maps. The numbers are those of shaders/kernel_attention/feature.comp. */
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
     * A map of the caller's: GLSL that defines `float weft_feature(float x)`, copied. It may use math.glsl and
     * activation.glsl of shaders/include (weft_exp, weft_tanh, weft_silu …). In reproducible mode the lint refuses
     * what is not built from these and + - × when a plan is compiled. Null: `map`.
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
} weft_kernel_attention_params;

#ifndef __cplusplus
#define weft_kernel_attention_params(...) (&(weft_kernel_attention_params){__VA_ARGS__})
#endif

/**
 * FMMformer's far field of rank r, per head: Σ_l w_l φ_l(q)(φ_l(k)ᵀ v) / (φ_l(q) φ_l(k)ᵀ 1), each kernel normalised by
 * itself. Nguyen et al., "FMMformer", 2021, equation (11); one kernel elu(x) + 1 is the linear transformer.
 * q f32 [B, n, d], k [B, m, d], v [B, m, d_v] (d_v = d as a rule), out [B, n, d_v]; heads as weft_graph_attention;
 * causal: m = n. q and k are not scaled. Time and memory are linear in n. Where every kernel weight of a token is 0, as
 * relu can have it, out is 0. Errors: WEFT_INVALID_ARGUMENT naming heads, kernel_count, map, weight, glsl or epsilon;
 * a plan gives WEFT_COMPILE_ERROR for a GLSL map that is no GLSL and WEFT_UNSUPPORTED for one the lint refuses.
 * A key of -infinity in all channels of a head is no key at all with elu(x) + 1, exp and relu; one +infinity in it makes
 * all NaN that read it. Otherwise special values are those of weft_graph_linear_attention over the features.
 * params may be null.
 */
WEFT_API weft_status weft_graph_kernel_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                                 weft_tensor k, weft_tensor v,
                                                 const weft_kernel_attention_params *params);

typedef struct weft_cosformer_params {
    uint32_t heads;  /**< divides the channels; 0 means 1 */
    bool causal;     /**< token i reads the tokens 0 … i; otherwise all */
    uint32_t length; /**< M, at least n and m; 0 means the larger of n and m */
    float epsilon;   /**< a smaller denominator becomes this; 0: only 0 itself */
} weft_cosformer_params;

#ifndef __cplusplus
#define weft_cosformer_params(...) (&(weft_cosformer_params){__VA_ARGS__})
#endif

/**
 * cosFormer: per head, y_i = Σ_j w_ij v_j / Σ_j w_ij with w_ij = relu(q_i)·relu(k_j) cos(π (i - j) / 2M), computed in
 * time and memory linear in n from the features relu(x_i) cos(π i / 2M) and relu(x_i) sin(π i / 2M). Qin et al.,
 * "cosFormer: Rethinking softmax in attention", 2022, equation (10). No weight is negative, as |i - j| < M.
 * q f32 [B, n, d], k [B, m, d], v [B, m, d_v], out [B, n, d_v]; heads as weft_graph_attention; causal: m = n. q and k
 * are not scaled. Where every weight of a token is 0, out is 0. The authors' code has the larger of n and m as M and
 * 1e-6 as epsilon; with such an M the weights depend on the length of the sequence, with a fixed one they do not.
 * +infinity in q or k of token 0 becomes NaN, for its sine is 0; otherwise special values are those of
 * weft_graph_linear_attention over the features.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT naming heads, length or epsilon; a plan gives WEFT_UNSUPPORTED for
 * more than 2^31 - 1 features. params may be null.
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
 * "Linear transformers are secretly fast weight programmers", 2021, section 4.2.
 * q, k f32 [B, n, d], v [B, n, d_v], beta [B, n, heads] (after its sigmoid: 0 … 1), out [B, n, d_v]. Computed in chunks
 * of 64: a triangular system within each, and from chunk to chunk one product with its d/heads × d/heads matrix.
 * A NaN or an infinity stays in S: one in v_i makes its channel, one in beta_i, a NaN or +infinity in k_i all channels of
 * the head NaN for all later tokens, and NaN or infinite for token i. A k_i that is -infinity in all channels of a head
 * writes nothing.
 * Errors: WEFT_INVALID_ARGUMENT for heads that do not divide, WEFT_UNSUPPORTED for d/heads over 512. params may be null.
 */
WEFT_API weft_status weft_graph_fast_weight(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                            weft_tensor k, weft_tensor v, weft_tensor beta,
                                            const weft_fast_weight_params *params);

typedef struct weft_banded_attention_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    uint32_t
        half_width; /**< k, 0 … n-1: token i reads the tokens j with |i-j| ≤ k; 0: only itself */
    bool causal;    /**< 0 ≤ i-j ≤ k instead */
    float scale;    /**< on the scores; 0 means 1/sqrt(d/heads) */
} weft_banded_attention_params;

#ifndef __cplusplus
#define weft_banded_attention_params(...) (&(weft_banded_attention_params){__VA_ARGS__})
#endif

/**
 * FMMformer's near field: softmax(band_k(scale · q kᵀ)) v per head, the softmax over the band alone. Nguyen et al.,
 * "FMMformer", 2021, equation (4). q, k, v and out f32 [B, n, d]; head h has the channels h·d/heads …, as
 * weft_graph_attention. k = n-1 is softmax attention, or causal softmax attention.
 * Time is linear in n·k·d, and memory is that of the result: no score is stored. The bandwidth "k" of the authors' code
 * keeps |i-j| < k: it is half_width + 1. Implementations, of the same bits: "direct" and "tiled". params may be null.
 * Errors: WEFT_INVALID_ARGUMENT for heads that do not divide d, half_width ≥ n, or a scale that is not finite.
 */
WEFT_API weft_status weft_graph_banded_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                                 weft_tensor k, weft_tensor v,
                                                 const weft_banded_attention_params *params);

/** How a position is interpolated from the inducing points around it. */
typedef enum weft_interpolation {
    WEFT_INTERPOLATION_LINEAR = 0, /**< from two points */
    WEFT_INTERPOLATION_CUBIC = 1,  /**< from the four nearest, by Lagrange's polynomial */
    WEFT_INTERPOLATION_COUNT
} weft_interpolation;

typedef struct weft_ski_toeplitz_params {
    /** f32 [2g + 1, d], g at least 1: RPE at -1, -1 + 1/g … 1 of the warped axis. Row g counts as 0. */
    weft_tensor rpe;
    /** f32 [m, d], m odd, or none: row s is the coefficient of lag s - (m - 1)/2. */
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
 *   T_sparse the convolution with the taps, zeros around the sequence. PyTorch's Conv1d has its taps the other way
 *            round.
 *   W        [n, r] interpolates position i from the points p_k = k (n - 1)/(r - 1), 0 … n - 1: of degree 1 or 3,
 *            or r - 1 if that is lower (so r = 1 adds the whole sequence up). Never held in memory.
 *   A        [r, r], A_ij = RPE(x(p_i - p_j)), with the inverse time warp x(t) = sign(t) gamma^|t|, x(0) = +1.
 *   RPE      linear between the 2g + 1 rows of `rpe` over [-1, 1], the warped axis: its ends are lag 0 (row 2g) and the
 *            limit at 0 from negative lags (row 0), its middle is infinitely far away, where the paper has RPE(0) = 0.
 * r = n with linear interpolation is the Toeplitz matrix RPE(x(i - j)) itself. The warp takes lags in positions, so the
 * same parameters serve any n ≥ r; the grid is as fine as its rows, whatever r is.
 * x f32 [B, n, d]. Time O(n (m + 1) + r²) per channel, memory beside x and y O(r + n/1024). Errors:
 * WEFT_INVALID_ARGUMENT for gamma, interpolation, or points above n; WEFT_SHAPE_MISMATCH naming rpe or taps;
 * WEFT_UNSUPPORTED for n above 2^24 or (r - 1)(n - 1) of 2^32 and more.
 */
WEFT_API weft_status weft_graph_ski_toeplitz(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                             const weft_ski_toeplitz_params *params);

typedef struct weft_toeplitz_params {
    bool causal;       /**< lags 0 … n-1 alone: T is lower triangular */
    weft_tensor decay; /**< γ, f32 [d], each in (0, 1]; none: all 1 */
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
 * used, so one tensor serves all lengths up to m. When coefficients and decay are weights, what is made of them (decay,
 * transform) is made once per device, weights and n, with the bits that every run would make; otherwise in every run.
 *
 * Implementations: "direct", by the definition in O(n²); "fft_shared", O(n log n) for n up to 2048 in one dispatch,
 * without scratch memory but for the kernels' transforms, 2n to 4n floats a channel, where they are made in every run;
 * and "fft", O(n log n) with 4 to 8 n d B floats of scratch memory, 192 MiB at most unless one channel needs more.
 * Reproducible mode takes "direct" up to n = 96 (causal: 192), "fft_shared" up to 2048 and "fft" beyond, fast mode what
 * it measures to be faster. "direct" is exactly causal; with the others a later element shows in an earlier result of
 * its channel by its rounding errors, 1e-7 of it, and zeros are +0. params may be null: bidirectional, no decay.
 * With "direct" a NaN or an infinity in x reaches the elements that read it. With the others it makes its channel NaN in
 * all tokens of the sequence, earlier ones included, as finite numbers can whose transform overflows. A NaN or an infinity
 * in the coefficients does the same in all sequences.
 * Errors: WEFT_SHAPE_MISMATCH for shapes; WEFT_INVALID_ARGUMENT for a weight as decay with an element outside (0, 1]. A
 * decay that is no weight is taken as it is.
 */
WEFT_API weft_status weft_graph_toeplitz(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor coefficients,
                                         const weft_toeplitz_params *params);

typedef struct weft_toeplitz_attention_params {
    uint32_t heads; /**< divides the features and d; 0 means 1 */
    bool causal;    /**< token i reads the tokens 0 … i; otherwise all */
    float epsilon;  /**< a denominator closer to 0 than this becomes ±epsilon; 0: only 0 itself */
} weft_toeplitz_attention_params;

#ifndef __cplusplus
#define weft_toeplitz_attention_params(...) (&(weft_toeplitz_attention_params){__VA_ARGS__})
#endif

/**
 * Kernelized attention with relative positions (log-linear Performer): per head, y_i = Σ_j e^b(i-j) (φ_i · ψ_j) v_j /
 * Σ_j e^b(i-j) φ_i · ψ_j. Luo et al., "Stable, fast and accurate: Kernelized attention with relative positional
 * encoding", 2021, whose b_{j-i} is b(i - j) here. With all b equal it is weft_graph_linear_attention.
 * q_features φ and k_features ψ are f32 [B, n, heads · m], such as weft_graph_random_features makes, v [B, n, d], out
 * [B, n, d]. bias b is laid out as the coefficients of weft_graph_toeplitz: f32 [2r - 1, heads] with r ≥ n, row r - 1 + s
 * being lag s = i - j of all heads, or causal [r, heads], row s being lag s. Lags of n and more are not used. -infinity
 * leaves a lag out. A head's largest b of the lags in use is subtracted first, which cancels; a weight below 2^-126 of
 * the largest is 0.
 *
 * Implementations: "direct", by the definition in O(n² (m + d)) without memory for scores, and "fft", O(n log n · m d):
 * a Toeplitz matrix per head times the m (d/heads + 1) products of a key's features with its value and 1, which it holds
 * twice over, 8 B n m (d + heads) bytes, beside the slabs of weft_graph_toeplitz. Reproducible mode takes "direct" up to
 * n ≈ 12 log2(2n) m d/(m + d) with d that of a head (causal: twice that), 5200 for m = d = 64; fast mode what it
 * measures to be faster. "direct" is exactly causal, also for NaN. With "fft" a sum has errors of 1e-7 of the largest of
 * its sequence (causal: of those up to 8 times as far along), so that a denominator much smaller than that is
 * inaccurate, and a later token shows in an earlier result by as much.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT naming heads or epsilon; a plan gives WEFT_UNSUPPORTED for "fft" with
 * more than 2^31 - 1 products. params may be null.
 */
WEFT_API weft_status weft_graph_toeplitz_attention(weft_tensor *out, weft_graph *graph,
                                                   weft_tensor q_features, weft_tensor k_features,
                                                   weft_tensor v, weft_tensor bias,
                                                   const weft_toeplitz_attention_params *params);

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
 * parts, of which those of frequencies 0 and π count as 0. The kernel k is the inverse real transform of that over 2N
 * points, and y[b, i, c] = Σ_j k_c((i-j) mod 2N) x[b, j, c]. N fixes the kernel: n in the paper, half of the next power
 * of two from 2n on in the authors' checkpoints; a longer sequence takes a response on a finer grid.
 * Causal (Algorithm 2): f32 [N + 1, d], real parts; the imaginary parts are minus their discrete Hilbert transform,
 * which makes k(0) what it was, doubles the positive lags and makes the negative ones 0.
 *
 * When response is a weight, its transforms are made once per device, with the bits that every run would make.
 * Implementations: "fft_shared" in one dispatch, for an N that is a power of two from 4 to 2048, where reproducible mode
 * takes it, and "fft". Scratch memory and the exactness of causality are those of weft_graph_toeplitz's; where the
 * transforms are made in every run, "fft_shared" has those of "fft" beside its own. params may be null: bidirectional.
 * Errors: WEFT_SHAPE_MISMATCH for shapes; a plan gives WEFT_UNSUPPORTED for an N that VkFFT cannot plan.
 */
WEFT_API weft_status weft_graph_toeplitz_fd(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                            weft_tensor response,
                                            const weft_toeplitz_fd_params *params);

typedef struct weft_norm_params weft_norm_params; /* below, among the blocks */

/** What an RPE reads of lag k: "par_type" of TNN's public code. */
typedef enum weft_rpe_lag {
    WEFT_RPE_LAG = 0,          /**< k: par_type 1 */
    WEFT_RPE_LAG_FRACTION = 1, /**< k/N: par_type 2 */
    WEFT_RPE_LAG_EXP = 2,      /**< exp(k/N): par_type 3 */
    WEFT_RPE_LAG_COUNT
} weft_rpe_lag;

/** What an RPE of a frequency response reads of frequency ω. */
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
    bool residual;                /**< all layers but the last add what they read */
} weft_rpe_params;

#ifndef __cplusplus
#define weft_rpe_params(...) (&(weft_rpe_params){__VA_ARGS__})
#endif

typedef struct weft_toeplitz_rpe_params {
    bool causal; /**< lags 0 … n-1 alone */
    weft_rpe_lag input;
    uint32_t
        divisor; /**< N of the two inputs that have one; 0 means n. The public code has n - 1 */
} weft_toeplitz_rpe_params;

#ifndef __cplusplus
#define weft_toeplitz_rpe_params(...) (&(weft_toeplitz_rpe_params){__VA_ARGS__})
#endif

/**
 * The coefficients of weft_graph_toeplitz for sequences of n tokens from TNN's relative position encoder: Qin et al.,
 * "Toeplitz neural network for sequence modeling", 2023. out is f32 [2n - 1, d], or [n, d] if causal, not
 * decayed. Head h of the public code's [h, n, d/h] is the channels h·d/heads …, as in all mixers.
 *
 * A helper made of linear, norm and activation ops on a column of positions. When the parameters are weights, a plan
 * evaluates them once per device, weights and n, and so it does what weft_graph_toeplitz makes of them; no run does.
 * The same weights serve any n, with WEFT_RPE_LAG or the divisor they were trained with.
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
 * The response of weft_graph_toeplitz_fd at the frequencies ω_m = π m/N, m = 0 … N = grid: f32 [N + 1, channels of the
 * last layer], which are 2d (real, then imaginary parts) or, causal, d. Moreno et al., 2023, Algorithm 2 and section
 * 3.3.2. As weft_graph_toeplitz_rpe otherwise; the same weights serve any grid.
 *
 * Decay of the kernel (Theorems 2-4 of the paper: by the smoothness of the activation) needs a response that is smooth
 * as a function on the circle. MLP(cos ω) is as smooth as its activation. MLP(ω), made even as the causal case makes
 * it, has a kink at 0 and at π, so that k(n) falls as 1/n² whatever the activation; the theorems overlook that.
 * Errors: WEFT_INVALID_ARGUMENT naming grid, layer_count or input; WEFT_UNSUPPORTED for a grid above 2^24.
 */
WEFT_API weft_status weft_graph_toeplitz_fd_rpe(weft_tensor *out, weft_graph *graph, uint32_t grid,
                                                const weft_rpe_params *rpe,
                                                weft_rpe_frequency input);

typedef struct weft_fmm_attention_params {
    uint32_t heads; /**< divides the channels; 0 means 1 */
    bool causal;
    uint32_t half_width;        /**< of the near field's band, as weft_banded_attention_params */
    const weft_kernel *kernels; /**< of the far field, as weft_kernel_attention_params */
    uint32_t kernel_count;
    weft_tensor
        beta; /**< given: the far field is weft_graph_fast_weight with it; causal, kernels null */
    weft_tensor
        near_weight; /**< w_1, f32 [d], after its sigmoid, a head's in all its channels; none: 1 */
    weft_tensor far_weight; /**< w_2, likewise */
} weft_fmm_attention_params;

#ifndef __cplusplus
#define weft_fmm_attention_params(...) (&(weft_fmm_attention_params){__VA_ARGS__})
#endif

/**
 * FMMformer's attention, w_1 D v + w_2 L v: weft_graph_banded_attention and weft_graph_kernel_attention (or
 * weft_graph_fast_weight) of the same q, k, v, blended. Nguyen et al., "FMMformer", 2021, equation (12). q, k, v and
 * out f32 [B, n, d]. A helper that adds those ops, with their errors; a call that
 * fails leaves the graph as it was. params must not be null.
 */
WEFT_API weft_status weft_graph_fmm_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                              weft_tensor k, weft_tensor v,
                                              const weft_fmm_attention_params *params);

/* ---- blocks: what models put around their mixers. A call that fails leaves the graph as it was. ---- */

/**
 * x / sqrt(mean(x²) + epsilon) · gain over the last axis: Zhang and Sennrich, "Root mean square layer normalization",
 * 2019, equation (4), with epsilon ≥ 0 within the root as PyTorch's RMSNorm has it. gain is f32 [d] or none; d is at
 * most 2^24.
 */
WEFT_API weft_status weft_graph_rms_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor gain, float epsilon);

/**
 * x / (‖x‖₂/√d + 1e-8) over the last axis: Qin et al., "Toeplitz neural network for sequence modeling", 2023, whose
 * public code adds the 1e-8.
 */
WEFT_API weft_status weft_graph_simple_rms_norm(weft_tensor *out, weft_graph *graph, weft_tensor x);

/**
 * gain · x / max(‖x‖₂, epsilon) over the last axis: Nguyen and Salazar, "Transformers without tears", 2019, equation
 * (5), with the lower bound that their public code puts on the length. gain is one number, f32 [1]; epsilon ≥ 0.
 */
WEFT_API weft_status weft_graph_scale_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                           weft_tensor gain, float epsilon);

typedef struct weft_batch_norm_params {
    weft_tensor mean;     /**< f32 [d]: the running mean of training */
    weft_tensor variance; /**< f32 [d]: the running variance */
    weft_tensor gamma;    /**< f32 [d], or none: 1 */
    weft_tensor beta;     /**< f32 [d], or none: 0 */
    float epsilon;        /**< ≥ 0; 0 means 0 */
} weft_batch_norm_params;

#ifndef __cplusplus
#define weft_batch_norm_params(...) (&(weft_batch_norm_params){__VA_ARGS__})
#endif

/**
 * (x - mean) / sqrt(variance + epsilon) · gamma + beta, channel by channel of the last axis: the inference form of
 * Ioffe and Szegedy, "Batch normalization", 2015, algorithm 2. A negative variance + epsilon gives NaN.
 */
WEFT_API weft_status weft_graph_batch_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                           const weft_batch_norm_params *params);

/** A norm by number, for models that name theirs in a config. */
typedef enum weft_norm {
    WEFT_NORM_LAYER = 0, /**< gamma, beta, epsilon */
    WEFT_NORM_RMS,       /**< gamma or none, epsilon */
    WEFT_NORM_SIMPLE_RMS,
    WEFT_NORM_SCALE, /**< gamma [1], epsilon */
    WEFT_NORM_BATCH, /**< mean, variance, gamma or none, beta or none, epsilon */
    WEFT_NORM_COUNT
} weft_norm;

struct weft_norm_params {
    weft_norm kind;
    weft_tensor gamma, beta, mean, variance; /**< those that the kind has; the others are ignored */
    float epsilon;                           /**< where the kind has one; 0 means 0 */
};

#ifndef __cplusplus
#define weft_norm_params(...) (&(weft_norm_params){__VA_ARGS__})
#endif

/** The norm of that kind. Errors: WEFT_INVALID_ARGUMENT for a kind that there is not; those of the norm. */
WEFT_API weft_status weft_graph_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                     const weft_norm_params *params);

/**
 * norm(x + y), or x + y with params null: what ends a residual block. A post-norm block is y = f(x), then this with the
 * norm; a pre-norm block is y = f(weft_graph_norm(x)), then this without one. y as in weft_graph_binary.
 */
WEFT_API weft_status weft_graph_add_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor y, const weft_norm_params *params);

typedef struct weft_project_qkv_params {
    weft_tensor weight[3]; /**< of q, k, v: f32 [d, d_x], d_x the channels of what it projects */
    weft_tensor bias[3];   /**< f32 [d], or none */
} weft_project_qkv_params;

#ifndef __cplusplus
#define weft_project_qkv_params(...) (&(weft_project_qkv_params){__VA_ARGS__})
#endif

/**
 * The multi-head projections q = x W_qᵀ + b_q, k and v likewise from memory, or from x without one: Vaswani et al.,
 * 2017, section 3.2.2. Head h of all mixers here is the channels h·d/heads …, so no axis is split or moved; the
 * projection behind the mixer is weft_graph_linear.
 */
WEFT_API weft_status weft_graph_project_qkv(weft_tensor qkv[3], weft_graph *graph, weft_tensor x,
                                            weft_tensor memory,
                                            const weft_project_qkv_params *params);

typedef struct weft_glu_params {
    weft_tensor weight[3];      /**< of l1 and l2 f32 [m, d], of l3 [d_out, m] */
    weft_tensor bias[3];        /**< f32 [m], [m], [d_out]; any may be none */
    weft_activation activation; /**< 0: none */
} weft_glu_params;

#ifndef __cplusplus
#define weft_glu_params(...) (&(weft_glu_params){__VA_ARGS__})
#endif

/**
 * The gated linear unit l3(activation(l1 x) ⊙ l2 x) with l x = x Wᵀ + b: Shazeer, "GLU variants improve transformer",
 * 2020, equation (6), as TNN's channel mixer has it. Errors: those of weft_graph_linear and weft_graph_activate.
 */
WEFT_API weft_status weft_graph_glu(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                    const weft_glu_params *params);

/** Which Toeplitz operator a gated Toeplitz unit has. */
typedef enum weft_gtu_mixer {
    WEFT_GTU_TOEPLITZ = 0, /**< TNN: weft_graph_toeplitz */
    WEFT_GTU_SKI = 1,      /**< SKI-TNN: weft_graph_ski_toeplitz */
    WEFT_GTU_FD = 2,       /**< FD-TNN: weft_graph_toeplitz_fd */
    WEFT_GTU_COUNT
} weft_gtu_mixer;

typedef struct weft_gtu_params {
    weft_tensor weight[3];      /**< of u and v f32 [m, d], of o [d_out, m] */
    weft_tensor bias[3];        /**< f32 [m], [m], [d_out]; any may be none */
    weft_activation activation; /**< of u and v; 0: none. The papers have SiLU */
    weft_gtu_mixer mixer;
    /** TOEPLITZ: coefficients [2n' - 1, m] or [n', m]; FD: the response [N + 1, 2m] or [N + 1, m]. SKI: none. */
    weft_tensor kernel;
    const weft_toeplitz_params *toeplitz; /**< for TOEPLITZ, or null */
    const weft_ski_toeplitz_params *ski;  /**< for SKI */
    const weft_toeplitz_fd_params *fd;    /**< for FD, or null */
    const weft_norm_params *norm;         /**< over m, in front of o; null: none */
} weft_gtu_params;

#ifndef __cplusplus
#define weft_gtu_params(...) (&(weft_gtu_params){__VA_ARGS__})
#endif

/**
 * The gated Toeplitz unit o(norm(activation(u x) ⊙ T activation(v x))) with l x = x Wᵀ + b: the token mixer of Qin et
 * al., "Toeplitz neural network for sequence modeling", 2023, with T one of the three operators, over m channels
 * (expand_ratio · d). x f32 [B, n, d], out [B, n, d_out].
 * Errors: WEFT_INVALID_ARGUMENT for params, or those of the chosen mixer, that are missing, for params of a mixer that
 * is not chosen, and naming mixer; those of the ops.
 */
WEFT_API weft_status weft_graph_gtu(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                    const weft_gtu_params *params);

typedef struct weft_structured_projection_params {
    weft_features_kind kind; /**< SORF, ROM, S_HYBRID, FASTFOOD or SCRF */
    uint32_t rows;           /**< s, 1 to WEFT_FEATURES_MAX_ROWS; S_HYBRID: even */
    uint32_t heads;          /**< divides d; 0 means 1 */
    float scale;             /**< on x; 0 means (d/heads)^(-1/4), for queries and keys */
    weft_tensor permutation; /**< FASTFOOD alone: i32 [blocks, size] */
} weft_structured_projection_params;

#ifndef __cplusplus
#define weft_structured_projection_params(...) (&(weft_structured_projection_params){__VA_ARGS__})
#endif

/**
 * scale · W x per token and head, W [s, d/heads] a structured matrix of weft/features.h that is never made: it is
 * applied by its fast transform. Spectraformer, (17) to (19) and (22) to (24). x f32 [B, n, d], out [B, n, heads · s].
 * The parts of W are tensors, the same for all heads, in the layout of weft_features_parts: diagonals f32
 * [blocks, diagonals, size] with the sizes of weft_features_get_structure (of ROM and S_HYBRID, `diagonals` says how
 * many factors there are), and a permutation. All are free to be learned, or not to be signs (FastFood-L). To random
 * features of it:
 *
 *   weft_features_get_structure, weft_features_parts        on the host: then weights of the parts
 *   weft_graph_structured_projection(&p, graph, x, diagonals, params)     of queries, and of keys
 *   weft_graph_random_features(&phi, graph, x, none, .projection = p)
 *   weft_graph_linear_attention(&y, graph, phi of queries, phi of keys, v)
 *
 * Walsh-Hadamard transforms of a row are made in shared memory, all factors in one dispatch: time O(n s log d), no
 * scratch memory, and intermediate results no larger than √2 to the number of factors times their parts' norms.
 * SCRF is multiplied by its definition ("circulant", O(n s d)) below 128 columns and by FFT ("circulant_fft", O(n s log d))
 * above, in slabs with at most 64 MiB of each intermediate result. The transform's length is d/heads where that is 1, 3, 5
 * or 7 times a power of two, else at least 2 d/heads - 1.
 * Errors: WEFT_INVALID_ARGUMENT naming params, kind, rows, heads, scale, columns (d/heads above
 * WEFT_FEATURES_MAX_COLUMNS), factors or permutation (also an entry of it that is not 0 to size - 1, if it is a weight; one
 * of another tensor makes its results NaN); WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_structured_projection(
    weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor diagonals,
    const weft_structured_projection_params *params);

/**
 * The component functions f of random features that are exponentials of a projection, for the softmax kernel exp(xᵀy).
 * With w a row of the weight matrix. (DIRF and HRF: weft_graph_discrete_features, weft_graph_hybrid_features.)
 */
typedef enum weft_component {
    /** exp(+‖x‖²/2) [cos wᵀx, sin wᵀx]. Rahimi and Recht, 2007; Spectraformer, appendix A.5, as a pair. */
    WEFT_COMPONENT_TRIGONOMETRIC = 0,
    /** PosRF: exp(wᵀx - ‖x‖²/2). Choromanski et al., 2021; Spectraformer, (32). */
    WEFT_COMPONENT_POSITIVE = 1,
    /** PosRF-Hyp: exp(±wᵀx - ‖x‖²/2)/√2. Choromanski et al., 2021, lemma 1; (33), which garbles it. */
    WEFT_COMPONENT_HYPERBOLIC = 2,
    /**
     * OPRF: D exp(A‖w‖² + B wᵀx - ‖x‖²/2) with the A of least variance for the mean of ‖x_i + y_j‖² over all pairs of
     * a sequence and head, B = √(1 - 4A), D = (1 - 4A)^(d/4). Likhosherstov et al., 2022; (34), (35).
     */
    WEFT_COMPONENT_OPTIMAL = 3,
    /**
     * GERF: D exp(A‖w‖² + B wᵀx - s‖x‖²/2), B = √(s(1 - 4A)), D = (1 - 4A)^(d/4), of real A and s = ±1: params' a and s.
     * For s = -1, where B is imaginary, D exp(A‖w‖² + ‖x‖²/2) [cos |B|wᵀx, sin |B|wᵀx]. The mean is the kernel for
     * A < 1/4, and the variance finite for A < 1/8 alone. A = 0 is POSITIVE for s = 1 and TRIGONOMETRIC for s = -1, bit
     * for bit. Likhosherstov et al., 2022; (34).
     */
    WEFT_COMPONENT_GENERALIZED = 4,
    /**
     * SADERF: OPRF of Ψx for queries and Ψ⁻¹y for keys, Ψ_l = (Σ_j y_jl² / Σ_i x_il²)^(1/4) over the tokens of a sequence
     * and head; Ψ_l = 1 where one of the sums is 0 (or below 2^-126), as such a channel adds nothing to xᵀy whatever Ψ_l
     * is. x and other take exchanged places for keys. The paper has as many queries as keys; with sums, and not means, the
     * longer side counts more here. As with OPTIMAL, all tokens of both decide on the parameters, under causal attention
     * too: the mean stays the kernel, but how far an estimate is from it depends on later tokens. Likhosherstov et al.,
     * 2023; (36).
     */
    WEFT_COMPONENT_ASYMMETRIC = 5,
    WEFT_COMPONENT_COUNT
} weft_component;

/** A constant name such as "positive"; never null. */
WEFT_API const char *weft_component_name(weft_component component);

/** A factor that keeps exponentials in range and cancels in attention, which is normalised. */
typedef enum weft_stabilizer {
    WEFT_STABILIZER_NONE = 0,
    /** For queries: each token and head is divided by its largest exponential, ‖x‖² included. */
    WEFT_STABILIZER_QUERY = 1,
    /** For keys: each sequence and head is divided by its largest exponential over all tokens and features. */
    WEFT_STABILIZER_KEY = 2,
    WEFT_STABILIZER_COUNT
} weft_stabilizer;

/** A constant name such as "query"; never null. */
WEFT_API const char *weft_stabilizer_name(weft_stabilizer stabilizer);

typedef struct weft_random_features_params {
    weft_component component;
    uint32_t heads; /**< divides d; 0 means 1 */
    weft_stabilizer stabilizer;
    float scale; /**< on x; 0 means (d/heads)^(-1/4), for queries and keys */
    /**
     * At least 0, added to each exponential (after the stabilizer's division): keeps a token from having no features
     * at all. 1e-6 is usual with stabilizers. Trigonometric features take none, nor does GENERALIZED with s = -1.
     */
    float epsilon;
    /**
     * f32 [s], factors of the features of the rows of w; none: 1/√s. With weights that differ (weft/features.h),
     * √|weight| for queries and sign(weight) √|weight| for keys.
     */
    weft_tensor coefficients;
    /** OPTIMAL and ASYMMETRIC alone: [B, m, d], the keys if x is queries, and the reverse. */
    weft_tensor other;
    /**
     * f32 [B, n, heads · s], scale · w_i x, made already: instead of w, which is then no tensor (id 0). Its scale is to be
     * the one above. weft_graph_structured_projection makes it. Not with ASYMMETRIC, which scales x first.
     */
    weft_tensor projection;
    /** f32 [s], ‖w_i‖²: OPTIMAL and GENERALIZED with a projection alone, see weft_features_square_norms */
    weft_tensor square_norms;
    float a;   /**< GENERALIZED alone: A, finite and below 1/4 */
    int32_t s; /**< GENERALIZED alone: 1 or -1; 0 means 1 */
} weft_random_features_params;

#ifndef __cplusplus
#define weft_random_features_params(...) (&(weft_random_features_params){__VA_ARGS__})
#endif

/**
 * Random features of queries or keys, for weft_graph_linear_attention: per token and head, coefficient_i f(w_i, scale x).
 * Spectraformer, equation (11). x f32 [B, n, d], w f32 [s, d/heads], the same for all heads, such as weft_features_fill
 * makes; out [B, n, heads · s], or [B, n, heads · 2s] for the components with pairs, whose first features (cos, or +)
 * come before their second ones (sin, or -) within a head. Time O(n d s), with the projection [B, n, heads, s] as scratch
 * memory; keys and OPTIMAL take two passes, and ASYMMETRIC copies of x and other. params may be null.
 * A NaN in x makes all features of its token and head NaN, an infinity each of them NaN or what exp(-infinity) gives.
 * With WEFT_STABILIZER_KEY both can make all features of the sequence and head NaN.
 * Errors: WEFT_INVALID_ARGUMENT naming component, stabilizer, heads, scale, epsilon, a, s, other, projection or
 * square_norms; WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_random_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                                weft_tensor w,
                                                const weft_random_features_params *params);

/**
 * SADERF's change of variables by itself: out[b, i, l] = Ψ_l x[b, i, l], Ψ_l = (Σ_j other[b, j, l]² / Σ_i x[b, i, l]²)^(1/4),
 * 1 where a sum is 0 (or below 2^-126). x f32 [B, n, d], other f32 [B, m, d], out [B, n, d]; for keys with the two in
 * exchanged places. OPTIMAL features of the two results are ASYMMETRIC features of x and other, bit for bit; here they can
 * be projected in another way first. Likhosherstov et al., 2023; Spectraformer, (36). Errors: WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_balance_channels(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                                 weft_tensor other);

/**
 * Rows of a weight matrix w for weft_graph_random_features, drawn from a learned mixture of Gaussians: Σ_c n + μ_c, with n a
 * row of the noise. Spectraformer, (29) (GMM, all components with weight 1/C); Chowdhury et al., 2022.
 * noise f32 [s, d], such as weft_features_fill makes of WEFT_FEATURES_BASE or ORF; sigma f32 [C, d] for diagonal Σ_c or
 * [C, d, d] for full ones, which multiply the noise: component c has the covariance Σ_c Σ_cᵀ; mu f32 [C, d]; out f32
 * [s, d]. C divides s, and the rows c·s/C … (c+1)·s/C - 1 are those of component c. The features then estimate the kernel
 * that has the mixture as its spectrum, no longer the softmax kernel. A helper that adds plain ops, run with the rest of
 * the graph: O(s d), O(s d²) with full ones. Errors, before anything is added: WEFT_SHAPE_MISMATCH;
 * WEFT_INVALID_ARGUMENT for C that does not divide s.
 */
WEFT_API weft_status weft_graph_gmm_weights(weft_tensor *out, weft_graph *graph, weft_tensor noise,
                                            weft_tensor sigma, weft_tensor mu);

#define WEFT_DGM_MAX_LAYERS 8U

typedef struct weft_dgm_weights_params {
    uint32_t layers; /**< 1 to WEFT_DGM_MAX_LAYERS */
    weft_tensor weight
        [WEFT_DGM_MAX_LAYERS]; /**< f32 [m_i, m_(i-1)] of each layer: m_0 of the noise, d of the last */
    weft_tensor bias[WEFT_DGM_MAX_LAYERS]; /**< f32 [m_i], or none */
    weft_activation activation;            /**< behind every layer but the last */
} weft_dgm_weights_params;

#ifndef __cplusplus
#define weft_dgm_weights_params(...) (&(weft_dgm_weights_params){__VA_ARGS__})
#endif

/**
 * Likewise from a learned generator: w_i = g(n_i), g a small multi-layer perceptron and n_i a row of noise f32 [s, m_0];
 * out f32 [s, d]. Spectraformer, appendix A.4 (DGM); Kingma and Welling, 2013; Chowdhury et al., 2022. A helper that adds
 * weft_graph_linear and weft_graph_activate; when it fails the graph stays as it was. Errors: WEFT_INVALID_ARGUMENT naming
 * layers or activation; those of weft_graph_linear.
 */
WEFT_API weft_status weft_graph_dgm_weights(weft_tensor *out, weft_graph *graph, weft_tensor noise,
                                            const weft_dgm_weights_params *params);

typedef struct weft_discrete_features_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    /** QUERY and KEY divide by a power of two, the one next below the largest feature's magnitude. */
    weft_stabilizer stabilizer;
    float scale; /**< on x; 0 means (d/heads)^(-1/4), for queries and keys */
} weft_discrete_features_params;

#ifndef __cplusplus
#define weft_discrete_features_params(...) (&(weft_discrete_features_params){__VA_ARGS__})
#endif

/**
 * Discretely-induced random features (DIRF: PoisRF and GeomRF) of queries or keys, for weft_graph_linear_attention: per
 * token and head c_i Π_l (scale x_l)^w_il. With w from WEFT_FEATURES_POISSON or WEFT_FEATURES_GEOMETRIC and c_i the square
 * roots of the weights that weft_features_fill gives with it, for queries and for keys, products have the mean exp(xᵀy):
 * the terms of its Taylor series, picked at random. Likhosherstov et al., 2022; Spectraformer, (37), whose
 * exp(-‖x‖²/2) makes it the Gaussian kernel's. Features have both signs, unless x is positive.
 *
 * x f32 [B, n, d], w f32 [s, d/heads] of whole numbers 0 … 1023, the same for all heads, coefficients f32 [s], out
 * [B, n, heads · s]. Time O(n s d), times the logarithm of the powers, and twice that with a stabilizer. Powers are made
 * by repeated squaring with a binary exponent beside them, so that nothing but the feature itself (divided by what the
 * stabilizer says) can leave the range of float32: it is then infinite, or 0 below 2^-126. Binary exponents beyond ±2^23
 * count as that. An infinite or NaN x to a power above 0, and a power that is not such a whole number, give NaN; x to the
 * power 0 is 1. params may be null.
 * Errors: WEFT_INVALID_ARGUMENT naming stabilizer, heads, scale or the width, which is at most 4096; WEFT_SHAPE_MISMATCH;
 * WEFT_UNSUPPORTED for 2^31 features or more.
 */
WEFT_API weft_status weft_graph_discrete_features(weft_tensor *out, weft_graph *graph,
                                                  weft_tensor x, weft_tensor w,
                                                  weft_tensor coefficients,
                                                  const weft_discrete_features_params *params);

typedef struct weft_hybrid_features_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    bool keys;      /**< features of keys, not of queries: the two have different signs */
    weft_stabilizer stabilizer;
    float scale; /**< on x; 0 means (d/heads)^(-1/4), for queries and keys */
    /** f32 [s], factors of the features of the rows of w, as in weft_random_features_params; none: 1/√s. */
    weft_tensor coefficients;
} weft_hybrid_features_params;

#ifndef __cplusplus
#define weft_hybrid_features_params(...) (&(weft_hybrid_features_params){__VA_ARGS__})
#endif

/**
 * Hybrid random features (HRF) of queries or keys, for weft_graph_linear_attention: their products estimate exp(xᵀy) by
 * λ̂ · PosRF + (1 - λ̂) · TrigRF, with λ̂ = (1 - Σ_k sgn(τ_kᵀx) sgn(τ_kᵀy) / r)/2 an estimate of the angle of x and y divided
 * by π. It is exact for x = y and PosRF's estimate for opposite x and y, where each of the two is at its best, and its
 * mean is the kernel for any τ that are independent of w. Choromanski et al., "Hybrid random features", 2022, the angular
 * hybrid; Spectraformer, (38) with p = 1.
 *
 * x f32 [B, n, d], w f32 [s, d/heads] from N(0, I), directions τ f32 [r, d/heads] likewise (or any distribution without a
 * preferred direction), both the same for all heads; out [B, n, heads · 3s(1 + r)]: per head [PosRF, cos, sin]/√2 and then,
 * for each k, sgn(τ_kᵀx) [∓PosRF, cos, sin]/√(2r) with - for keys. sgn(0) is 1. Time O(n (d (s + r) + s r)), and attention
 * costs 3(1 + r) times that with as many positive features. Stabilizers divide by the largest of PosRF's features and
 * exp(‖x‖²/2), the size of TrigRF's, of a token or a sequence. params may be null.
 * Errors: WEFT_INVALID_ARGUMENT naming stabilizer, heads or scale; WEFT_SHAPE_MISMATCH; WEFT_UNSUPPORTED for 2^31
 * features or more.
 */
WEFT_API weft_status weft_graph_hybrid_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                                weft_tensor w, weft_tensor directions,
                                                const weft_hybrid_features_params *params);

/** Which factor of N = E[queries keysᵀ] weft_graph_flt_features makes. */
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
        phases; /**< queries alone: arg(w)/2π of complex weights, shaped as weights; none: 0 */
} weft_flt_features_params;

#ifndef __cplusplus
#define weft_flt_features_params(...) (&(weft_flt_features_params){__VA_ARGS__})
#endif

/**
 * Queries or keys with relative positions: per token and head [scale · x ‖ a_k cos 2π t_k ‖ a_k sin 2π t_k], k = 1 … r,
 * t_k = positions · frequencies_k (+ phases_k), a_k = √(|weights_k| / r), with the sign of weights_k on keys. The
 * product of query i and key j is then x_i·x_j/√(d/heads) + N̂_ij, an unbiased estimate N̂ of f(r_i - r_j) with
 * weights_k = g(ξ_k)/p(ξ_k) (weft/flt.h makes them; learned ones are weights like others). Choromanski et al., "Learning
 * a Fourier transform for linear relative positional encodings in transformers", 2024, Theorem 4.1 and Algorithm 1.
 *
 * x f32 [B, n, d], frequencies f32 [r, l] or, for each head its own, [heads, r, l], weights f32 [r] or [heads, r], of any
 * l ≥ 1; out f32 [B, n, heads · (d/heads + 2r)], for weft_graph_random_features with scale 1 (w has d/heads + 2r
 * columns), or another feature map, and weft_graph_linear_attention. Time and memory O(n (d + heads r)).
 *
 * Phases are reduced modulo 1 exactly, so cosines and sines have an absolute error below 1.5e-7 however large positions
 * and frequencies are. A product of a position and a frequency below 2^-80 counts as 0, and one that overflows gives
 * NaN. params may be null.
 * Errors: WEFT_INVALID_ARGUMENT naming side, heads, scale or phases; WEFT_SHAPE_MISMATCH; WEFT_UNSUPPORTED for n above
 * 2^24 without positions.
 */
WEFT_API weft_status weft_graph_flt_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                             weft_tensor frequencies, weft_tensor weights,
                                             const weft_flt_features_params *params);

typedef struct weft_performer_attention_params {
    uint32_t heads;    /**< divides the channels; 0 means 1 */
    bool causal;       /**< token i reads the tokens 0 … i; otherwise all */
    bool unstabilized; /**< plain exponentials, epsilon added to them as they are */
    float epsilon;     /**< at least 0, added to each exponential; 0 means 1e-6, unstabilized 0 */
} weft_performer_attention_params;

#ifndef __cplusplus
#define weft_performer_attention_params(...) (&(weft_performer_attention_params){__VA_ARGS__})
#endif

/**
 * The Performer's attention with positive features (FAVOR+): per head, y_i = Σ_j φ(q_i)·ψ(k_j) v_j / Σ_j φ(q_i)·ψ(k_j),
 * an estimate of softmax(q kᵀ/√(d/heads)) v. φ(x)_f = e^(w_f·x' - ‖x'‖²/2 - c) + epsilon with x' = x (d/heads)^(-1/4)
 * and c the largest exponent of the token and head, ψ likewise with the largest of the whole sequence and head.
 * Choromanski et al., "Rethinking attention with Performers", 2021, lemma 1; c and epsilon are of the authors' code,
 * whose c leaves ‖x'‖² out: that cancels but for epsilon.
 * q f32 [B, n, d], k [B, m, d], v [B, m, d_v], w [s, d/heads], the same for all heads, out [B, n, d_v]; causal: m = n.
 * FAVOR+ takes orthogonal rows: weft_features_fill with WEFT_FEATURES_ORF. The keys' c is that of all tokens also when
 * causal, so a later token shows in an earlier result by its share of epsilon; unstabilized is exactly causal. A helper
 * that adds weft_graph_random_features and weft_graph_linear_attention, with their errors; a call that fails leaves the
 * graph as it was. params may be null.
 */
WEFT_API weft_status weft_graph_performer_attention(weft_tensor *out, weft_graph *graph,
                                                    weft_tensor q, weft_tensor k, weft_tensor v,
                                                    weft_tensor w,
                                                    const weft_performer_attention_params *params);

typedef struct weft_sine_spe_params {
    uint32_t heads;          /**< divides d; 0 means 1 */
    weft_tensor frequencies; /**< f32 [d, t], in cycles per token: 0 … 1/2 */
    weft_tensor gains;       /**< f32 [d, t] */
    weft_tensor phases;      /**< f32 [d, t], in cycles, for one of queries and keys; none: 0 */
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
 * With the same normal noise for queries and keys, the product of query i and key j of a head has the mean
 * Σ_c q_ic P_c(i - j) k_jc / √w with P_c(l) = Σ_k gains² cos(2π (frequencies l + phases)) if phases are the queries':
 * scaled attention with relative positions, for any kernel feature attention over heads of s channels without a scale of
 * its own (weft_graph_random_features with scale 1). A gated code (the paper's δ) is one whose first frequency and phase
 * are 0 and first gain is √δ, the others' being multiplied by √(1 - δ).
 * In the authors' code a frequency is sigmoid(freqs)/2, a phase offsets/2π and a gain softplus(gains)/√(2t); it leaves
 * s^(-1/4) of the factor to the attention.
 *
 * x f32 [B, n, d], noise f32 [d, 2t, s], such as weft_features_fill makes of d · 2t rows and s columns of kind
 * WEFT_FEATURES_BASE; out f32 [B, n, heads · s]. Time O(n d s (B + t)), memory 4 n d (2t + s) bytes beside the result;
 * when noise and params are weights the codes are made once per device and n, and kept: 4 n d s bytes.
 * Errors: WEFT_INVALID_ARGUMENT naming heads; WEFT_SHAPE_MISMATCH; WEFT_UNSUPPORTED for n above 2^24. params must not be
 * null.
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
 * The same with convolved noise, convSPE: code[i, c, r] = Σ_u filters[u, c] noise[i + u, c, r], u = 0 … p - 1, so that
 * P_c(l) = Σ_u filters_q[u, c] filters_k[u + l, c], which is 0 from |l| = p on. Liutkus et al., 2021; the order of the taps
 * is that of the authors' code (PyTorch's Conv1d).
 * noise f32 [m, d, s] with m ≥ n + p - 1, the same for queries and keys, such as weft_features_fill makes of m · d rows;
 * one tensor serves all n up to m - p + 1. Time O(n d s (B + p)); the rest as weft_graph_sine_spe.
 */
WEFT_API weft_status weft_graph_conv_spe(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor noise, const weft_conv_spe_params *params);

typedef struct weft_rfa_attention_params {
    uint32_t heads; /**< divides the channels; 0 means 1 */
    bool causal;    /**< token i reads the tokens 0 … i; otherwise all */
    float epsilon;  /**< a denominator closer to 0 becomes ±epsilon; 0 means 1e-6 */
} weft_rfa_attention_params;

#ifndef __cplusplus
#define weft_rfa_attention_params(...) (&(weft_rfa_attention_params){__VA_ARGS__})
#endif

/**
 * Random feature attention with the Gaussian kernel (RFA-Gaussian, without gates): per head, y_i = Σ_j a_ij v_j / Σ_j
 * a_ij, a_ij = φ(q_i/‖q_i‖) · φ(k_j/‖k_j‖), φ(x) = [cos w_f·x, sin w_f·x]/√s over the rows of w. Peng et al., "Random
 * feature attention", 2021, section 3.1. With rows from N(0, I/σ²) the mean of a_ij is exp(-‖x - y‖²/2σ²) of those unit
 * vectors, and attention is that of softmax(x·y/σ²).
 * q f32 [B, n, d], k [B, m, d], v [B, m, d_v], w [s, d/heads], the same for all heads, out [B, n, d_v]; causal: m = n.
 * An infinite or NaN element makes all features of its token and head NaN: those of a key reach all that read it.
 * A query or key shorter than 1e-12 is divided by 1e-12. Weights a_ij can be negative: see epsilon. A helper that adds
 * weft_graph_scale_norm, weft_graph_random_features and weft_graph_linear_attention. Errors: WEFT_SHAPE_MISMATCH;
 * WEFT_INVALID_ARGUMENT naming heads or epsilon, both before anything is added. params may be null.
 */
WEFT_API weft_status weft_graph_rfa_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                              weft_tensor k, weft_tensor v, weft_tensor w,
                                              const weft_rfa_attention_params *params);

#ifdef __cplusplus
}
#endif

#endif
