/* SPDX-License-Identifier: MIT */
/* Recurrent networks: LSTM, GRU and the simple cells, mixers with a gated matrix as their state, and selective scans. */
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
 * recurrent weights in the same order; of WEFT_STORED_I8 it is multiplied by the bytes of h, as in products, but for
 * WEFT_CELL_GRU_RESET_FIRST, where bytes are the numbers that they stand for. out f32 [B, n, d] has the hidden states, of LSTM [B, n, 2d]: h and behind it c of each
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

/** The most rows of a gated state. */
#define WEFT_MAX_GATED_STATE_ROWS 256

typedef struct weft_gated_state_params {
    uint32_t heads;    /**< of v, each with a state; 0: 1 */
    uint32_t q_heads;  /**< of q; divides heads or is a multiple of them; 0: heads */
    uint32_t k_heads;  /**< of k and the erase; divides heads; 0: heads */
    float scale;       /**< a factor of what q reads, finite; 0: 1 */
    weft_tensor decay; /**< a: f32 [B, n, heads], or [B, n, heads·d_k] for each row of S; none: 1 */
    weft_tensor beta;  /**< f32 [B, n, heads]; none: 1 */
    weft_tensor
        erase; /**< e: f32 [B, n, k_heads·d_k]; none: nothing is erased. The delta rule: the tensor k */
    weft_tensor erase_along; /**< r: f32 [B, n, k_heads·d_k]; none: beta k */
    weft_tensor state;       /**< f32 [B, heads, d_k, d_v]: S before the first token; none: zeros */
    weft_tensor lengths;     /**< i32 [B]: tokens of each sequence, 1 … n; none: n */
    bool erase_first;        /**< e reads S before its decay */
    bool read_first;         /**< q reads S before the token */
} weft_gated_state_params;

#ifndef __cplusplus
#define weft_gated_state_params(...) (&(weft_gated_state_params){__VA_ARGS__})
#endif

/**
 * A matrix S [d_k, d_v] for each head, which every token decays, erases, writes and reads. Of token t
 *
 *     S' = diag(a) S,   S = S' - r (S'ᵀ e)ᵀ + k (beta v)ᵀ,   y = scale Sᵀ q
 *
 * With erase = k this is the gated delta rule, S = S' + k (beta (v - S'ᵀ k))ᵀ; without erase and beta, gated linear attention.
 * docs/mixers.md, section 5, has the operands of Mamba-2, GLA, RWKV, DeltaNet, KDA and others. q f32 [B, n, q_heads·d_k],
 * k [B, n, k_heads·d_k], v [B, n, heads·d_v]; out [B, n, m·d_v] of m = max(heads, q_heads) heads. Head i of m reads the state of
 * head ⌊i heads/m⌋ with q's head ⌊i q_heads/m⌋; state i has k's head ⌊i k_heads/heads⌋. Tokens behind a sequence's length are zeros.
 *
 * The bits are those of token by token, in one order of all sums: a text in pieces, with the state that
 * weft_graph_gated_state_with_last gives behind one as the `state` of the next, has the bits of the whole. Time O(n d_k d_v) of a head,
 * the tokens one after the other. A NaN or an infinity stays in the elements of S that it reaches, for all tokens behind it. params
 * may be null.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_INVALID_ARGUMENT naming heads, q_heads, k_heads or scale, for a width that heads do not
 * divide, and for erase_along or erase_first without an erase; WEFT_UNSUPPORTED for more than WEFT_MAX_GATED_STATE_ROWS rows.
 */
WEFT_API weft_status weft_graph_gated_state(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                            weft_tensor k, weft_tensor v,
                                            const weft_gated_state_params *params);

/**
 * Both results and states: out[0] is what weft_graph_gated_state gives, out[1] f32 [B, heads, d_k, d_v] the states behind the last token of
 * each sequence. Operands are those of weft_graph_gated_state; params may be null.
 * Errors: those of weft_graph_gated_state; WEFT_UNSUPPORTED for results and states of a sequence beyond 2^31 - 1 elements.
 */
WEFT_API weft_status weft_graph_gated_state_with_last(weft_tensor out[2], weft_graph *graph,
                                                      weft_tensor q, weft_tensor k, weft_tensor v,
                                                      const weft_gated_state_params *params);

/** The most states of a channel of a selective scan. */
#define WEFT_MAX_SELECTIVE_SCAN_STATES 128

typedef struct weft_selective_scan_params {
    weft_tensor skip;    /**< D: f32 [channels], a factor of x in y; none: 0 */
    weft_tensor state;   /**< f32 [B, states, channels]: h before the first token; none: zeros */
    weft_tensor lengths; /**< i32 [B]: tokens of each sequence, 1 … n; none: n */
} weft_selective_scan_params;

#ifndef __cplusplus
#define weft_selective_scan_params(...) (&(weft_selective_scan_params){__VA_ARGS__})
#endif

/**
 * Mamba's selective scan (Gu and Dao, "Mamba: Linear-time sequence modeling with selective state spaces", 2023, section 3.2): each
 * channel i has numbers h of its own, which every token decays by its own step, writes and reads. Of token t, for each state s
 *
 *     h[s, i] = exp(delta_i a[s, i]) h[s, i] + delta_i b_s x_i,   y_i = Σ_s c_s h[s, i] + D_i x_i
 *
 * x and delta f32 [B, n, channels], delta behind its softplus; a f32 [states, channels], the transpose of the published weights,
 * -exp(A_log); b and c f32 [B, n, states], of all channels; out [B, n, channels]. Tokens behind a sequence's length are zeros.
 *
 * The bits are those of token by token, in one order of all sums: a text in pieces, with the state that
 * weft_graph_selective_scan_with_last gives behind one as the `state` of the next, has the bits of the whole. Time O(n states) of a
 * channel, the tokens one after the other; nothing of the size of n·states·channels is kept. A NaN or an infinity stays in the
 * states that it reaches, for all tokens behind it. params may be null.
 * Errors: WEFT_SHAPE_MISMATCH; WEFT_UNSUPPORTED for more than WEFT_MAX_SELECTIVE_SCAN_STATES states.
 */
WEFT_API weft_status weft_graph_selective_scan(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                               weft_tensor delta, weft_tensor a, weft_tensor b,
                                               weft_tensor c,
                                               const weft_selective_scan_params *params);

/**
 * Both results and states: out[0] is what weft_graph_selective_scan gives, out[1] f32 [B, states, channels] h behind the last token of
 * each sequence. Operands are those of weft_graph_selective_scan; params may be null.
 * Errors: those of weft_graph_selective_scan; WEFT_UNSUPPORTED for results and states of a sequence beyond 2^31 - 1 elements.
 */
WEFT_API weft_status weft_graph_selective_scan_with_last(weft_tensor out[2], weft_graph *graph,
                                                         weft_tensor x, weft_tensor delta,
                                                         weft_tensor a, weft_tensor b,
                                                         weft_tensor c,
                                                         const weft_selective_scan_params *params);

#ifdef __cplusplus
}
#endif

#endif
