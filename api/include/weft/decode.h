/* SPDX-License-Identifier: MIT */
/*
 * Steps: causal mixers for one new token at a time, after a first call with any number of tokens. A step computes row p
 * of its mixer over the tokens 0 … p, from token p alone and a state of bounded size. In reproducible mode it gives the
 * mixer's bits; fast mode adds in another order. Time and memory do not depend on p, but for the time of Toeplitz matrices.
 *
 *   the graph of one token: inputs for token p of each sequence, `position` = p, steps with states
 *   → weft_plan_compile → for p = 0, 1, 2 …: weft_bindings_set or weft_buffer_write, weft_plan_run
 *
 * A state is an input of the plan (weft_port_info.is_state) whose buffer every run reads and changes. The buffer's
 * owner keeps it from run to run. A sequence starts at p = 0, whatever the buffer contains, and continues with p + 1.
 * A step of n > 1 tokens begins sequences: it runs the mixer itself on the tokens 0 … n-1. It leaves the state that
 * single steps of the tokens 0 … `position` would leave; `position` is n - 1, or less for a shorter sequence.
 * Positions that are not consecutive give meaningless results, but nothing outside the state is read. Steps of one
 * graph run in the order in which they were added; steps with the same state name share the state.
 */
#ifndef WEFT_DECODE_H
#define WEFT_DECODE_H

#include <weft/mixers.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of every step. */
typedef struct weft_step {
    weft_tensor
        position; /**< i32 [B], the number p of each sequence's token, its last one, 0 … 2^31 - 1 */
    const char *
        state; /**< name of the state, an input f32 [B, size] that the step adds to the graph; f16 where the step says so */
} weft_step;

/*
 * Operands, params, errors and special values are those of the mixer of the same name, with n = 1 or the n tokens that
 * begin a sequence; `causal` is ignored. step must not be null.
 * Errors also: WEFT_INVALID_ARGUMENT naming step or position, or the state's name if the graph already uses it for
 * something else; WEFT_SHAPE_MISMATCH if another step has this state with another size or type; WEFT_UNSUPPORTED for a state of
 * more than 2^31 - 1 elements. A failed call leaves the graph unchanged.
 */

/**
 * weft_graph_linear_attention with causal: q_features, k_features f32 [B, n, heads · m], v f32 [B, n, d]. The state
 * has, per sequence and head with w = d/heads, 6 m (w + 1) + 64 (m + w) elements. It holds the sums before the
 * current chunk of 64 tokens, in the mixer's order of addition, the chunk's sums so far, and its keys and values.
 * Time O(64 (m + w) + m w) per token and head.
 */
WEFT_API weft_status weft_graph_linear_attention_step(weft_tensor *out, weft_graph *graph,
                                                      weft_tensor q_features,
                                                      weft_tensor k_features, weft_tensor v,
                                                      const weft_step *step,
                                                      const weft_linear_attention_params *params);

/** weft_graph_kernel_attention with causal: a state like that of linear attention, with m = d/heads, for each kernel. */
WEFT_API weft_status weft_graph_kernel_attention_step(weft_tensor *out, weft_graph *graph,
                                                      weft_tensor q, weft_tensor k, weft_tensor v,
                                                      const weft_step *step,
                                                      const weft_kernel_attention_params *params);

/**
 * weft_graph_cosformer with causal: a state like that of linear attention, with m = 2d/heads. params->length is
 * required, and positions must be below it: with a length of 0 the weights would depend on the sequence's length.
 */
WEFT_API weft_status weft_graph_cosformer_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                               weft_tensor k, weft_tensor v, const weft_step *step,
                                               const weft_cosformer_params *params);

/**
 * weft_graph_fast_weight: beta f32 [B, n, heads]. The state has, per sequence and head of m and w channels, m (m + 2w) +
 * 128 (m + w) elements. Time O(64 (m + w) + m (m + w)) per token and head, and m² w more every 64 tokens.
 */
WEFT_API weft_status weft_graph_fast_weight_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                                 weft_tensor k, weft_tensor v, weft_tensor beta,
                                                 const weft_step *step,
                                                 const weft_fast_weight_params *params);

/**
 * weft_graph_banded_attention with causal: the state holds the last half_width + 1 keys and values, 2 d (half_width + 1)
 * elements (with kv_heads, of d·kv_heads/heads channels instead of d), and time is O(half_width · d). Sequences may be shorter than the band: with half_width one less than the
 * longest sequence's length it is causal softmax attention, and the state is its key-value cache. With f16 the state is of that type,
 * with half_width + 1 rounded up to a multiple of 16 and the channels of a head to one of 2. Its layout is the library's own.
 */
WEFT_API weft_status weft_graph_banded_attention_step(weft_tensor *out, weft_graph *graph,
                                                      weft_tensor q, weft_tensor k, weft_tensor v,
                                                      const weft_step *step,
                                                      const weft_banded_attention_params *params);

/**
 * weft_graph_conv1d with causal: the state holds the last taps - 1 tokens, (taps - 1) d elements, or d with one tap.
 */
WEFT_API weft_status weft_graph_conv1d_step(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                            weft_tensor weight, const weft_step *step,
                                            const weft_conv1d_params *params);

/**
 * weft_graph_gated_state, with its bits wherever the tokens are cut into steps: the state holds S, heads·d_k·d_v elements, zeros in
 * front of token 0. Of the tokens that begin sequences, those behind a position give zeros. params->state must be absent. Time
 * O(d_k d_v) per token and head.
 * Errors also: WEFT_INVALID_ARGUMENT naming a state that is given.
 */
WEFT_API weft_status weft_graph_gated_state_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                                 weft_tensor k, weft_tensor v,
                                                 const weft_step *step,
                                                 const weft_gated_state_params *params);

/**
 * weft_graph_selective_scan, with its bits wherever the tokens are cut into steps: the state holds h, states·channels elements, zeros
 * in front of token 0. Of the tokens that begin sequences, those behind a position give zeros. params->state must be absent. Time
 * O(states) per token and channel.
 * Errors also: WEFT_INVALID_ARGUMENT naming a state that is given.
 */
WEFT_API weft_status weft_graph_selective_scan_step(weft_tensor *out, weft_graph *graph,
                                                    weft_tensor x, weft_tensor delta, weft_tensor a,
                                                    weft_tensor b, weft_tensor c,
                                                    const weft_step *step,
                                                    const weft_selective_scan_params *params);

/**
 * weft_graph_toeplitz with causal, by its definition (implementation "direct", whose bits a step has at every position):
 * coefficients f32 [m, d], and positions below m. The state holds the tokens so far, m d elements. Time O(p d); of the n
 * tokens that begin a sequence O(n² d).
 */
WEFT_API weft_status weft_graph_toeplitz_step(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                              weft_tensor coefficients, const weft_step *step,
                                              const weft_toeplitz_params *params);

/**
 * weft_graph_gtu with a causal operator: TOEPLITZ by weft_graph_toeplitz_step, whose state it has, with a kernel f32 [m,
 * channels]; FD with a response f32 [N + 1, channels] by the same step with the coefficients of
 * weft_graph_toeplitz_fd_taps. WEFT_UNSUPPORTED for SKI, which is bidirectional.
 */
WEFT_API weft_status weft_graph_gtu_step(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         const weft_step *step, const weft_gtu_params *params);

#ifdef __cplusplus
}
#endif

#endif
