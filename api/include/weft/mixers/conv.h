/* SPDX-License-Identifier: MIT */
/* Convolutions: short ones along the tokens. */
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
 * A short filter for each channel: y[i, c] = Σ_t weight[c, t] x[i + t - b, c] + bias[c], with b = taps-1 if causal, else
 * (taps-1)/2 rounded down, and zeros around the sequence: PyTorch's Conv1d with groups = d and padding taps-1 (of which the
 * last outputs are cut off) or "same". Mamba, H3, Hyena and LFM2 have it before their mixers. x f32 [B, n, d], weight f32
 * [d, taps], out f32 [B, n, d]. Time O(n d taps). params may be null.
 * Errors: WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_graph_conv1d(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       weft_tensor weight, const weft_conv1d_params *params);

#ifdef __cplusplus
}
#endif

#endif
