/* SPDX-License-Identifier: MIT */
/*
 * Random features: maps of queries and keys whose products estimate a kernel. Their projection matrices come from
 * weft/features.h, from structured transforms or from learned generators.
 */
#ifndef WEFT_MIXERS_RANDOM_FEATURES_H
#define WEFT_MIXERS_RANDOM_FEATURES_H

#include <weft/features.h>
#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Component functions f of random features that are exponentials of a projection, for the softmax kernel exp(xᵀy); w is
 * a row of the weight matrix. (For DIRF and HRF see weft_graph_discrete_features and weft_graph_hybrid_features.)
 */
typedef enum weft_component {
    /** exp(+‖x‖²/2) [cos wᵀx, sin wᵀx]. Rahimi and Recht, 2007; Spectraformer, appendix A.5, as a pair. */
    WEFT_COMPONENT_TRIGONOMETRIC = 0,
    /** PosRF: exp(wᵀx - ‖x‖²/2). Choromanski et al., 2021; Spectraformer, (32). */
    WEFT_COMPONENT_POSITIVE = 1,
    /** PosRF-Hyp: exp(±wᵀx - ‖x‖²/2)/√2. Choromanski et al., 2021, lemma 1; (33) prints it garbled. */
    WEFT_COMPONENT_HYPERBOLIC = 2,
    /**
     * OPRF: D exp(A‖w‖² + B wᵀx - ‖x‖²/2) with the A of least variance for the mean of ‖x_i + y_j‖² over all pairs of
     * a sequence and head, B = √(1 - 4A), D = (1 - 4A)^(d/4). Likhosherstov et al., 2022; (34), (35).
     */
    WEFT_COMPONENT_OPTIMAL = 3,
    /**
     * GERF: D exp(A‖w‖² + B wᵀx - s‖x‖²/2), B = √(s(1 - 4A)), D = (1 - 4A)^(d/4), for real A and s = ±1, the params a
     * and s. For s = -1, where B is imaginary, D exp(A‖w‖² + ‖x‖²/2) [cos |B|wᵀx, sin |B|wᵀx]. The mean is the kernel
     * for A < 1/4; the variance is finite only for A < 1/8. A = 0 is POSITIVE for s = 1 and TRIGONOMETRIC for s = -1,
     * bit for bit. Likhosherstov et al., 2022; (34).
     */
    WEFT_COMPONENT_GENERALIZED = 4,
    /**
     * SADERF: OPRF of Ψx for queries and Ψ⁻¹y for keys, Ψ_l = (Σ_j y_jl² / Σ_i x_il²)^(1/4) over the tokens of a
     * sequence and head; Ψ_l = 1 if one of the sums is 0 (or below 2^-126), as such a channel adds nothing to xᵀy for
     * any Ψ_l. For keys exchange x and other. The paper has as many queries as keys; here the longer side counts more,
     * as these are sums, not means. As with OPTIMAL, the parameters depend on all tokens of both, even under causal
     * attention. The mean stays the kernel, but an estimate's error depends on later tokens. Likhosherstov et al.,
     * 2023; (36).
     */
    WEFT_COMPONENT_ASYMMETRIC = 5,
    WEFT_COMPONENT_COUNT
} weft_component;

/** A constant name such as "positive"; never null. */
WEFT_API const char *weft_component_name(weft_component component);

/** A factor that keeps exponentials in range and cancels in normalised attention. */
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
     * At least 0, added to each exponential (after the stabilizer's division): keeps all features of a token from being
     * 0. 1e-6 is usual with stabilizers. Must be 0 for trigonometric features and for GENERALIZED with s = -1.
     */
    float epsilon;
    /**
     * f32 [s], factors of the features, one per row of w; none: 1/√s. If weights differ (weft/features.h): √|weight|
     * for queries and sign(weight) √|weight| for keys.
     */
    weft_tensor coefficients;
    /** Only OPTIMAL and ASYMMETRIC: [B, m, d], the keys if x is queries, and the reverse. */
    weft_tensor other;
    /**
     * f32 [B, n, heads · s], the projection scale · w_i x in place of w, which is then no tensor (id 0). Its scale must
     * be the one above. weft_graph_structured_projection computes it. Not with ASYMMETRIC, which scales x first.
     */
    weft_tensor projection;
    /** f32 [s], ‖w_i‖²: only OPTIMAL and GENERALIZED with a projection, see weft_features_square_norms */
    weft_tensor square_norms;
    /**
     * i32 [B], how many tokens of each sequence of x, and of other, count (weft_graph_mask); none: all. All tokens get
     * features. With WEFT_STABILIZER_KEY, OPTIMAL and ASYMMETRIC these depend only on other tokens before the length.
     */
    weft_tensor lengths;
    weft_tensor other_lengths;
    float a;   /**< only GENERALIZED: A, finite and below 1/4 */
    int32_t s; /**< only GENERALIZED: 1 or -1; 0 means 1 */
} weft_random_features_params;

#ifndef __cplusplus
#define weft_random_features_params(...) (&(weft_random_features_params){__VA_ARGS__})
#endif

/**
 * Random features of queries or keys, for weft_graph_linear_attention: per token and head, coefficient_i f(w_i, scale
 * x). Spectraformer, equation (11). x f32 [B, n, d], w f32 [s, d/heads], the same for all heads, for example from
 * weft_features_fill; out [B, n, heads · s]. Components with pairs have out [B, n, heads · 2s]: within a head the first
 * features (cos, or +) precede the second ones (sin, or -). Time O(n d s), with the projection [B, n, heads, s] as
 * scratch memory; keys and OPTIMAL take two passes, and ASYMMETRIC copies x and other. params may be null. A NaN in x
 * makes all features of its token and head NaN; an infinity makes each of them NaN or exp(-infinity). With
 * WEFT_STABILIZER_KEY both can make all features of the sequence and head NaN.
 * Errors: WEFT_INVALID_ARGUMENT naming component, stabilizer, heads, scale, epsilon, a, s, other, projection or
 * square_norms; WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_random_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                                weft_tensor w,
                                                const weft_random_features_params *params);

/**
 * SADERF's change of variables: out[b, i, l] = Ψ_l x[b, i, l], Ψ_l = (Σ_j other[b, j, l]² / Σ_i x[b, i, l]²)^(1/4), 1
 * if a sum is 0 (or below 2^-126). x f32 [B, n, d], other f32 [B, m, d], out [B, n, d]; for keys exchange the two.
 * OPTIMAL features of the two results are ASYMMETRIC features of x and other, bit for bit, but can use another
 * projection. With lengths, apply weft_graph_mask to both first. Likhosherstov et al., 2023; Spectraformer, (36).
 * Errors: WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_balance_channels(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                                 weft_tensor other);

typedef struct weft_discrete_features_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    /** QUERY and KEY divide by the largest power of two not above the largest feature's magnitude. */
    weft_stabilizer stabilizer;
    float scale;         /**< on x; 0 means (d/heads)^(-1/4), for queries and keys */
    weft_tensor lengths; /**< i32 [B], as in weft_random_features_params */
} weft_discrete_features_params;

#ifndef __cplusplus
#define weft_discrete_features_params(...) (&(weft_discrete_features_params){__VA_ARGS__})
#endif

/**
 * Discretely-induced random features (DIRF: PoisRF and GeomRF) of queries or keys, for weft_graph_linear_attention:
 * per token and head c_i Π_l (scale x_l)^w_il. w comes from WEFT_FEATURES_POISSON or WEFT_FEATURES_GEOMETRIC; the c_i
 * are the square roots of the weights that weft_features_fill gives with it, for queries and for keys. Products then
 * have the mean exp(xᵀy): they pick terms of its Taylor series at random. Likhosherstov et al., 2022; Spectraformer,
 * (37), with a factor exp(-‖x‖²/2) for the Gaussian kernel. Features have both signs, unless x is positive.
 *
 * x f32 [B, n, d], w f32 [s, d/heads] of whole numbers 0 … 1023, the same for all heads, coefficients f32 [s], out
 * [B, n, heads · s]. Time O(n s d), times the logarithm of the powers, and twice that with a stabilizer. Powers are
 * computed by repeated squaring with a separate binary exponent. So only the feature itself, after the stabilizer's
 * division, can leave the range of float32: it is then infinite, or 0 below 2^-126. Binary exponents beyond ±2^23 are
 * clamped. An infinite or NaN x to a power above 0, and a power that is not such a whole number, give NaN; x to the
 * power 0 is 1. params may be null.
 * Errors: WEFT_INVALID_ARGUMENT naming stabilizer, heads, scale or the width, which is at most 4096;
 * WEFT_SHAPE_MISMATCH; WEFT_UNSUPPORTED for 2^31 features or more.
 */
WEFT_API weft_status weft_graph_discrete_features(weft_tensor *out, weft_graph *graph,
                                                  weft_tensor x, weft_tensor w,
                                                  weft_tensor coefficients,
                                                  const weft_discrete_features_params *params);

typedef struct weft_hybrid_features_params {
    uint32_t heads; /**< divides d; 0 means 1 */
    bool keys;      /**< features of keys, not of queries: their signs differ */
    weft_stabilizer stabilizer;
    float scale; /**< on x; 0 means (d/heads)^(-1/4), for queries and keys */
    /** f32 [s], factors of the features, one per row of w, as in weft_random_features_params; none: 1/√s. */
    weft_tensor coefficients;
    weft_tensor lengths; /**< i32 [B], as in weft_random_features_params */
} weft_hybrid_features_params;

#ifndef __cplusplus
#define weft_hybrid_features_params(...) (&(weft_hybrid_features_params){__VA_ARGS__})
#endif

/**
 * Hybrid random features (HRF) of queries or keys, for weft_graph_linear_attention: their products estimate exp(xᵀy) by
 * λ̂ · PosRF + (1 - λ̂) · TrigRF, with λ̂ = (1 - Σ_k sgn(τ_kᵀx) sgn(τ_kᵀy) / r)/2 an estimate of the angle of x and y
 * divided by π. It is exact for x = y and equals PosRF's estimate for opposite x and y: each is used where it is best.
 * Its mean is the kernel for any τ independent of w. Choromanski et al., "Hybrid random features", 2022, the angular
 * hybrid; Spectraformer, (38) with p = 1.
 *
 * x f32 [B, n, d], w f32 [s, d/heads] from N(0, I), directions τ f32 [r, d/heads] likewise (or any distribution without
 * a preferred direction), both the same for all heads; out [B, n, heads · 3s(1 + r)]: per head [PosRF, cos, sin]/√2 and
 * then, for each k, sgn(τ_kᵀx) [∓PosRF, cos, sin]/√(2r) with - for keys. sgn(0) is 1. Time O(n (d (s + r) + s r)), and
 * attention costs 3(1 + r) times attention with s positive features. Stabilizers divide by the largest of PosRF's
 * features and exp(‖x‖²/2), the size of TrigRF's features, of a token or a sequence. params may be null.
 * Errors: WEFT_INVALID_ARGUMENT naming stabilizer, heads or scale; WEFT_SHAPE_MISMATCH; WEFT_UNSUPPORTED for 2^31
 * features or more.
 */
WEFT_API weft_status weft_graph_hybrid_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                                weft_tensor w, weft_tensor directions,
                                                const weft_hybrid_features_params *params);

typedef struct weft_structured_projection_params {
    weft_features_kind kind; /**< SORF, ROM, S_HYBRID, FASTFOOD or SCRF */
    uint32_t rows;           /**< s, 1 to WEFT_FEATURES_MAX_ROWS; S_HYBRID: even */
    uint32_t heads;          /**< divides d; 0 means 1 */
    float scale;             /**< on x; 0 means (d/heads)^(-1/4), for queries and keys */
    weft_tensor permutation; /**< only FASTFOOD: i32 [blocks, size] */
} weft_structured_projection_params;

#ifndef __cplusplus
#define weft_structured_projection_params(...) (&(weft_structured_projection_params){__VA_ARGS__})
#endif

/**
 * scale · W x per token and head. W [s, d/heads] is a structured matrix of weft/features.h, applied by its fast
 * transform without being stored. Spectraformer, (17) to (19) and (22) to (24). x f32 [B, n, d], out [B, n, heads ·
 * s]. The factors of W are tensors, the same for all heads, in the layout of weft_features_parts: diagonals f32
 * [blocks, diagonals, size] and a permutation. weft_features_get_structure gives the sizes; for ROM and S_HYBRID
 * `diagonals` determines the number of factors. They may be learned, and need not be signs (FastFood-L). For random
 * features:
 *
 *   weft_features_get_structure, weft_features_parts        on the host: then weights of the parts
 *   weft_graph_structured_projection(&p, graph, x, diagonals, params)     of queries, and of keys
 *   weft_graph_random_features(&phi, graph, x, none, .projection = p)
 *   weft_graph_linear_attention(&y, graph, phi of queries, phi of keys, v)
 *
 * Walsh-Hadamard transforms of a row run in shared memory, all factors in one dispatch: time O(n s log d), no scratch
 * memory. Intermediate results are at most √2 to the number of factors times the factors' norms. SCRF is multiplied by
 * its definition ("circulant", O(n s d)) below 128 columns and by FFT ("circulant_fft", O(n s log d)) above, in slabs
 * with at most 64 MiB of each intermediate result. The transform's length is d/heads if this is 1, 3, 5 or 7 times a
 * power of two, else at least 2 d/heads - 1.
 * Errors: WEFT_INVALID_ARGUMENT naming params, kind, rows, heads, scale, columns (d/heads above
 * WEFT_FEATURES_MAX_COLUMNS), factors or permutation (in a weight also an entry outside 0 to size - 1; in another
 * tensor such an entry gives NaN); WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_structured_projection(
    weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor diagonals,
    const weft_structured_projection_params *params);

/**
 * Rows of a weight matrix w for weft_graph_random_features, drawn from a learned mixture of Gaussians: Σ_c n + μ_c,
 * with n a row of the noise. Spectraformer, (29) (GMM, all components with weight 1/C); Chowdhury et al., 2022. noise
 * f32 [s, d], for example from weft_features_fill with WEFT_FEATURES_BASE or ORF; sigma f32 [C, d] for diagonal or [C,
 * d, d] for full Σ_c, which multiply the noise: component c has the covariance Σ_c Σ_cᵀ; mu f32 [C, d]; out f32 [s, d].
 * C divides s, and component c has the rows c·s/C … (c+1)·s/C - 1. The features then estimate the kernel with this
 * mixture as its spectrum, not the softmax kernel. A helper that adds plain ops, run with the rest of the graph: O(s
 * d), O(s d²) for full Σ_c.
 * Errors, before anything is added: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT for C that does not divide s.
 */
WEFT_API weft_status weft_graph_gmm_weights(weft_tensor *out, weft_graph *graph, weft_tensor noise,
                                            weft_tensor sigma, weft_tensor mu);

#define WEFT_DGM_MAX_LAYERS 8U

typedef struct weft_dgm_weights_params {
    uint32_t layers; /**< 1 to WEFT_DGM_MAX_LAYERS */
    weft_tensor weight
        [WEFT_DGM_MAX_LAYERS]; /**< f32 [m_i, m_(i-1)]: m_0 of the noise, d for the last layer */
    weft_tensor bias[WEFT_DGM_MAX_LAYERS]; /**< f32 [m_i], or none */
    weft_activation activation;            /**< after every layer but the last */
} weft_dgm_weights_params;

#ifndef __cplusplus
#define weft_dgm_weights_params(...) (&(weft_dgm_weights_params){__VA_ARGS__})
#endif

/**
 * Rows of w from a learned generator: w_i = g(n_i), with g a small multi-layer perceptron and n_i a row of noise f32
 * [s, m_0]; out f32 [s, d]. Spectraformer, appendix A.4 (DGM); Kingma and Welling, 2013; Chowdhury et al., 2022. A
 * helper that adds weft_graph_linear and weft_graph_activate; a failed call leaves the graph unchanged.
 * Errors: WEFT_INVALID_ARGUMENT naming layers or activation; those of weft_graph_linear.
 */
WEFT_API weft_status weft_graph_dgm_weights(weft_tensor *out, weft_graph *graph, weft_tensor noise,
                                            const weft_dgm_weights_params *params);

typedef struct weft_performer_attention_params {
    uint32_t heads;    /**< divides the channels; 0 means 1 */
    bool causal;       /**< token i reads the tokens 0 … i; otherwise all */
    bool unstabilized; /**< plain exponentials without c; epsilon is added to them */
    float epsilon;     /**< at least 0, added to each exponential; 0 means 1e-6, unstabilized 0 */
    weft_tensor
        lengths; /**< i32 [B], how many keys of each sequence count: see weft_graph_mask; none: all */
} weft_performer_attention_params;

#ifndef __cplusplus
#define weft_performer_attention_params(...) (&(weft_performer_attention_params){__VA_ARGS__})
#endif

/**
 * The Performer's attention with positive features (FAVOR+): per head, y_i = Σ_j φ(q_i)·ψ(k_j) v_j / Σ_j φ(q_i)·ψ(k_j),
 * an estimate of softmax(q kᵀ/√(d/heads)) v. φ(x)_f = e^(w_f·x' - ‖x'‖²/2 - c) + epsilon with x' = x (d/heads)^(-1/4)
 * and c the largest exponent of the token and head, ψ likewise with the largest of the whole sequence and head.
 * Choromanski et al., "Rethinking attention with Performers", 2021, lemma 1; c and epsilon come from the authors' code.
 * Its c omits ‖x'‖², which cancels except for epsilon. q f32 [B, n, d], k [B, m, d], v [B, m, d_v], w [s, d/heads], the
 * same for all heads, out [B, n, d_v]; causal: m = n. FAVOR+ uses orthogonal rows: weft_features_fill with
 * WEFT_FEATURES_ORF. The keys' c covers all tokens even when causal, so a later token changes earlier results through
 * epsilon; unstabilized is exactly causal. A helper that adds weft_graph_random_features and
 * weft_graph_linear_attention, with their errors; a failed call leaves the graph unchanged. params may be null.
 */
WEFT_API weft_status weft_graph_performer_attention(weft_tensor *out, weft_graph *graph,
                                                    weft_tensor q, weft_tensor k, weft_tensor v,
                                                    weft_tensor w,
                                                    const weft_performer_attention_params *params);

typedef struct weft_rfa_attention_params {
    uint32_t heads; /**< divides the channels; 0 means 1 */
    bool causal;    /**< token i reads the tokens 0 … i; otherwise all */
    float epsilon;  /**< a denominator closer to 0 becomes ±epsilon; 0 means 1e-6 */
    weft_tensor
        lengths; /**< i32 [B], how many keys of each sequence count: see weft_graph_mask; none: all */
} weft_rfa_attention_params;

#ifndef __cplusplus
#define weft_rfa_attention_params(...) (&(weft_rfa_attention_params){__VA_ARGS__})
#endif

/**
 * Random feature attention with the Gaussian kernel (RFA-Gaussian, without gates): per head, y_i = Σ_j a_ij v_j / Σ_j
 * a_ij, a_ij = φ(q_i/‖q_i‖) · φ(k_j/‖k_j‖), φ(x) = [cos w_f·x, sin w_f·x]/√s over the rows of w. Peng et al., "Random
 * feature attention", 2021, section 3.1. With rows from N(0, I/σ²) the mean of a_ij is exp(-‖x - y‖²/2σ²) of these unit
 * vectors x and y, and attention is softmax attention with x·y/σ². q f32 [B, n, d], k [B, m, d], v [B, m, d_v], w [s,
 * d/heads], the same for all heads, out [B, n, d_v]; causal: m = n. An infinite or NaN element makes all features of
 * its token and head NaN; a key's NaN reaches all tokens that read it. A query or key shorter than 1e-12 is divided by
 * 1e-12. Weights a_ij can be negative: see epsilon. A helper that adds weft_graph_scale_norm,
 * weft_graph_random_features and weft_graph_linear_attention.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT naming heads or epsilon, both before anything is added. params may
 * be null.
 */
WEFT_API weft_status weft_graph_rfa_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                              weft_tensor k, weft_tensor v, weft_tensor w,
                                              const weft_rfa_attention_params *params);

#ifdef __cplusplus
}
#endif

#endif
