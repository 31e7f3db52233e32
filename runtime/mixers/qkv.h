/* SPDX-License-Identifier: MIT */
/* Checks shared by mixers of queries, keys and values. Every message starts with the op's name. */
#ifndef WEFT_MIXERS_QKV_H
#define WEFT_MIXERS_QKV_H

#include "graph/op.h"

/**
 * The shapes of q [B, n, d], k [B, m, d] and v [B, m, d_v]; causal: m = n. Errors: WEFT_SHAPE_MISMATCH, also for a tensor
 * that is not f32; those of weft_graph_get_tensor.
 */
weft_status weft_check_qkv(weft_shape shape[3], const weft_graph *graph, const char *op,
                           const weft_tensor tensor[3], bool causal);

/** WEFT_INVALID_ARGUMENT unless heads divide the last axes of q and v. */
weft_status weft_check_heads(const weft_graph *graph, const char *op, uint32_t heads,
                             const weft_shape shape[3]);

/** WEFT_INVALID_ARGUMENT unless epsilon, a bound for denominators, is at least 0 and finite. */
weft_status weft_check_epsilon(const weft_graph *graph, const char *op, float epsilon);

/** The heads of k and v, of which 0 stands for as many as q has. */
static inline uint32_t weft_kv_heads(uint32_t kv_heads, uint32_t heads) {
    return kv_heads != 0 ? kv_heads : heads;
}

/**
 * As weft_check_qkv, of k and v with a head for each `heads`/kv_heads heads of q: q [B, n, heads · w], k and v [B, m, kv_heads · w];
 * same_length: m = n. WEFT_INVALID_ARGUMENT unless kv_heads (0: heads) divide heads; whether those divide d it does not check.
 */
weft_status weft_check_grouped(weft_shape shape[3], const weft_graph *graph, const char *op,
                               const weft_tensor tensor[3], uint32_t heads, uint32_t kv_heads,
                               bool same_length);

/** Infers mixers of a node's inputs 0 to 2: checks them and the heads, and gives the result's [B, n, d_v]. */
weft_status weft_infer_qkv(weft_dtype *dtype, weft_shape *shape, const weft_graph *graph,
                           const struct weft_node *node, uint32_t heads, bool causal);

#endif
