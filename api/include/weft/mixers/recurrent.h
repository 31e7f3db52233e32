/* SPDX-License-Identifier: MIT */
/* Recurrent networks: LSTM, GRU and the simple cells. */
#ifndef WEFT_MIXERS_RECURRENT_H
#define WEFT_MIXERS_RECURRENT_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a recurrence computes of a token's gates x, the hidden state h of the token before it, and a = W h + bias. σ is the
 * logistic function, · a product element by element. Parts of x and a are in the order of the names: x_r is the first.
 */
typedef enum weft_cell {
    WEFT_CELL_TANH = 0, /**< h' = tanh(x + a) */
    WEFT_CELL_RELU = 1, /**< h' = max(x + a, 0) */
    /** r, z, n: r = σ(x_r + a_r), z = σ(x_z + a_z), n = tanh(x_n + r · a_n), h' = (1 - z) · n + z · h: PyTorch's GRU */
    WEFT_CELL_GRU = 2,
    /** The same but n = tanh(x_n + W_n (r · h) + bias_n): Cho et al., 2014, and ONNX's linear_before_reset = 0 */
    WEFT_CELL_GRU_RESET_FIRST = 3,
    /** i, f, g, o: c' = σ(x_f + a_f) · c + σ(x_i + a_i) · tanh(x_g + a_g), h' = σ(x_o + a_o) · tanh(c') */
    WEFT_CELL_LSTM = 4,
    WEFT_CELL_COUNT
} weft_cell;

/** The widest hidden state of a recurrence. */
#define WEFT_MAX_RECURRENT_WIDTH 2048

typedef struct weft_recurrence_params {
    weft_cell cell;
    weft_tensor bias;    /**< f32 [gates·d], of W h; none: 0 */
    weft_tensor state;   /**< f32 [B, d], LSTM [B, 2d]: what is before the first token; none: 0 */
    weft_tensor lengths; /**< i32 [B]: tokens of each sequence, 1 … n; none: n */
    bool reverse;        /**< from the last token of each sequence to its first */
} weft_recurrence_params;

#ifndef __cplusplus
#define weft_recurrence_params(...) (&(weft_recurrence_params){__VA_ARGS__})
#endif

/**
 * Recurrence along the tokens. gates f32 [B, n, gates·d] are the products of all inputs with the input weights, with their
 * bias (weft_graph_linear): 1 part of d channels for simple cells, 3 for GRUs, 4 for LSTM. weight W f32 [gates·d, d] has the
 * recurrent weights in the same order. out f32 [B, n, d] has the hidden states, of LSTM [B, n, 2d]: h and behind it c of each
 * token. Tokens behind a sequence's length are zeros.
 *
 * A text in pieces gives the bits of the whole one: the last token of a piece (weft_graph_gather_last; the first with
 * `reverse`) is the `state` of the next. Two nodes and weft_graph_concat make a bidirectional layer. Time O(n d²), the tokens
 * one after the other. params may be null: WEFT_CELL_TANH.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT for an unknown cell; WEFT_UNSUPPORTED above
 * WEFT_MAX_RECURRENT_WIDTH channels.
 */
WEFT_API weft_status weft_graph_recurrence(weft_tensor *out, weft_graph *graph, weft_tensor gates,
                                           weft_tensor weight,
                                           const weft_recurrence_params *params);

#ifdef __cplusplus
}
#endif

#endif
