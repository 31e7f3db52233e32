/* SPDX-License-Identifier: MIT */
/* Convolutions and pooling: short filters along the tokens, and windows over one or two axes behind the channels. */
#ifndef WEFT_MIXERS_CONV_H
#define WEFT_MIXERS_CONV_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_conv1d_params {
    weft_tensor bias; /**< f32 [d]; none: 0 */
    bool causal;      /**< the last tap is the token's own; else tap (taps-1)/2 is */
    weft_tensor
        lengths; /**< i32 [B]: tokens from there on count as zeros, see weft_graph_mask; none: all count */
} weft_conv1d_params;

#ifndef __cplusplus
#define weft_conv1d_params(...) (&(weft_conv1d_params){__VA_ARGS__})
#endif

/**
 * Short filter for each channel: y[i, c] = Σ_t weight[c, t] x[i + t - b, c] + bias[c], with zeros around the
 * sequence. b is taps-1 if causal, else (taps-1)/2 rounded down. This is PyTorch's Conv1d with groups = d and padding
 * "same", or if causal padding taps-1 with the last outputs cut off. Mamba, H3, Hyena and LFM2 have it before their
 * mixers. x f32 [B, n, d], weight f32 [d, taps], out f32 [B, n, d]. Time O(n d taps). params may be null.
 * Errors: WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_conv1d(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       weft_tensor weight, const weft_conv1d_params *params);

/* ---- windows over [B, c, l] or [B, c, h, w]: parameters have a number for each axis, [B, c, l] only the first ---- */

typedef struct weft_conv_params {
    weft_tensor bias;      /**< f32 [o]; none: 0 */
    uint32_t strides[2];   /**< from window to window; 0: 1 */
    uint32_t dilations[2]; /**< from element to element of a window; 0: 1 */
    uint32_t before[2];    /**< zeros in front of each axis */
    uint32_t after[2];     /**< zeros behind it */
    uint32_t groups;       /**< divides c and o: each c/groups channels make o/groups; 0: 1 */
} weft_conv_params;

#ifndef __cplusplus
#define weft_conv_params(...) (&(weft_conv_params){__VA_ARGS__})
#endif

/**
 * Convolution as PyTorch and ONNX have it, Σ weight · window + bias without turning the weight around: x f32 [B, c, l] or
 * [B, c, h, w], weight f32 [o, c/groups, k] or [o, c/groups, k, k']; out f32 [B, o, …] with (padded axis - dilation (k-1) -
 * 1)/stride + 1 windows, rounded down. Windows are first copied one beside the other, B c k k' floats for each window, but
 * for k = 1 without strides and padding; a product with the weight follows. params may be null.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT for windows that do not fit.
 */
WEFT_API weft_status weft_graph_conv(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                     weft_tensor weight, const weft_conv_params *params);

typedef enum weft_pool_op { WEFT_POOL_MAX = 0, WEFT_POOL_AVERAGE = 1 } weft_pool_op;

typedef struct weft_pool_params {
    uint32_t sizes[2];     /**< of a window; 0: 1 */
    uint32_t strides[2];   /**< from window to window; 0: 1 */
    uint32_t dilations[2]; /**< from element to element of a window; 0: 1 */
    uint32_t before[2];    /**< padding in front of each axis, which is no element */
    uint32_t after[2];     /**< padding behind it */
    bool counts_padding;   /**< averages: padding counts as elements of 0 */
    bool
        partial; /**< also the last window that begins inside and ends behind the padding: the number is rounded up */
} weft_pool_params;

#ifndef __cplusplus
#define weft_pool_params(...) (&(weft_pool_params){__VA_ARGS__})
#endif

/**
 * The largest element of each window, or their mean, as PyTorch and ONNX have them: x f32 [B, c, l] or [B, c, h, w], out f32
 * [B, c, …]. A NaN in a window is its result. A window without elements gives -infinity, or the mean 0.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT for null params, an unknown op, and windows that do not fit.
 */
WEFT_API weft_status weft_graph_pool(weft_tensor *out, weft_graph *graph, weft_pool_op op,
                                     weft_tensor x, const weft_pool_params *params);

#ifdef __cplusplus
}
#endif

#endif
