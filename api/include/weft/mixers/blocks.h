/* SPDX-License-Identifier: MIT */
/* Blocks that models put around their mixers. A failed call leaves the graph unchanged. */
#ifndef WEFT_MIXERS_BLOCKS_H
#define WEFT_MIXERS_BLOCKS_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * x / sqrt(mean(x²) + epsilon) · gain over the last axis: Zhang and Sennrich, "Root mean square layer normalization",
 * 2019, equation (4), with epsilon ≥ 0 within the root as in PyTorch's RMSNorm. gain is f32 [d] or none; d is at most
 * 2^24. Here and in the two norms below a row whose sum of squares is beyond float32, as of elements from 1.8e19 on,
 * gives zeros.
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
 * (5), with the lower bound on the length from their public code. gain is one number, f32 [1]; epsilon ≥ 0.
 */
WEFT_API weft_status weft_graph_scale_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                           weft_tensor gain, float epsilon);

typedef struct weft_batch_norm_params {
    weft_tensor mean;     /**< f32 [d]: the running mean of training */
    weft_tensor variance; /**< f32 [d]: the running variance */
    weft_tensor gamma;    /**< f32 [d], or none: 1 */
    weft_tensor beta;     /**< f32 [d], or none: 0 */
    float epsilon;        /**< ≥ 0; 0 means 0 */
    bool channels_first;  /**< x is [batch, d, …], not […, d] */
} weft_batch_norm_params;

#ifndef __cplusplus
#define weft_batch_norm_params(...) (&(weft_batch_norm_params){__VA_ARGS__})
#endif

/**
 * (x - mean) / sqrt(variance + epsilon) · gamma + beta, channel by channel of the last axis or of axis 1: the inference form
 * of Ioffe and Szegedy, "Batch normalization", 2015, algorithm 2. A negative variance + epsilon gives NaN.
 */
WEFT_API weft_status weft_graph_batch_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                           const weft_batch_norm_params *params);

/** Norms by number, for models that choose one in a config. */
typedef enum weft_norm {
    WEFT_NORM_LAYER = 0, /**< gamma, beta, epsilon */
    WEFT_NORM_RMS,       /**< gamma or none, epsilon */
    WEFT_NORM_SIMPLE_RMS,
    WEFT_NORM_SCALE, /**< gamma [1], epsilon */
    WEFT_NORM_BATCH, /**< mean, variance, gamma or none, beta or none, epsilon */
    WEFT_NORM_COUNT
} weft_norm;

typedef struct weft_norm_params {
    weft_norm kind;
    weft_tensor gamma, beta, mean, variance; /**< fields that the kind does not use are ignored */
    float epsilon;                           /**< if the kind has one; 0 means 0 */
} weft_norm_params;

#ifndef __cplusplus
#define weft_norm_params(...) (&(weft_norm_params){__VA_ARGS__})
#endif

/** The norm of that kind. Errors: WEFT_INVALID_ARGUMENT for an unknown kind; those of the norm. */
WEFT_API weft_status weft_graph_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                     const weft_norm_params *params);

/**
 * The end of a residual block: norm(x + y). params may be null: then x + y alone. A post-norm block is y = f(x), then this with
 * the norm; a pre-norm block is y = f(weft_graph_norm(x)), then this without one. y as in weft_graph_binary.
 */
WEFT_API weft_status weft_graph_add_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor y, const weft_norm_params *params);

typedef struct weft_project_qkv_params {
    weft_tensor weight[3]; /**< of q, k, v: f32 [d, d_x], d_x the channels of its input */
    weft_tensor bias[3];   /**< f32 [d], or none */
} weft_project_qkv_params;

#ifndef __cplusplus
#define weft_project_qkv_params(...) (&(weft_project_qkv_params){__VA_ARGS__})
#endif

/**
 * The multi-head projections q = x W_qᵀ + b_q, k and v likewise from memory, or from x without one: Vaswani et al.,
 * 2017, section 3.2.2. Head h of all mixers here is the channels h·d/heads …, so no axis is reshaped or moved. For the
 * projection after the mixer use weft_graph_linear.
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
 * 2020, equation (6), as in TNN's channel mixer.
 * Errors: those of weft_graph_linear and weft_graph_activate.
 */
WEFT_API weft_status weft_graph_glu(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                    const weft_glu_params *params);

#ifdef __cplusplus
}
#endif

#endif
