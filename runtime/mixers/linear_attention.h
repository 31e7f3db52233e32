/* SPDX-License-Identifier: MIT */
/*
 * The dispatches of linear attention, for every mixer that replaces softmax(q kᵀ) by φ(q) φ(k)ᵀ: features and values
 * in, time and memory linear in the sequence. Order of every sum: by the shapes alone (shaders/linear_attention).
 */
#ifndef WEFT_MIXERS_LINEAR_ATTENTION_H
#define WEFT_MIXERS_LINEAR_ATTENTION_H

#include "kernels/linear_attention/apply.h"
#include "lower/lowering.h"

/** Shapes and storages; features are f32 [batch, tokens, heads, features], values [batch, tokens, heads, values]. */
struct weft_linear_attention {
    uint32_t q; /* features of n tokens */
    uint32_t k; /* features of `keys` tokens */
    uint32_t v;
    uint32_t result; /* [batch, n, heads, values] */
    uint32_t batch, heads;
    uint32_t n, keys; /* equal when causal */
    uint32_t features, values;
    bool causal;
    bool accumulate;  /* adds to the result, which earlier dispatches have written */
    float epsilon;    /* > 0: a denominator closer to 0 becomes this, with its own sign */
    float weight;     /* factor on the result */
    uint32_t lengths; /* keys of each sequence; WEFT_NO_STORAGE: all */

    bool has_state; /* a step (step.h), causal; only then: */
    bool is_step; /* of one token of each sequence; otherwise those that the sequences begin with */
    uint32_t position, state;
    uint32_t stride; /* elements of the state of a sequence */
    uint32_t offset; /* and how many of them come before this call's */
};

/**
 * The storages of v, the result, lengths and a step's position and state, and the shapes, of a node with the inputs q, k and v
 * or of a step; `features` of a head. Where sequences have lengths and it is not causal, v is a copy without the values behind
 * them. Weight is 1, and fields that only the caller knows are 0.
 */
struct weft_linear_attention weft_linear_attention_of(struct weft_lowering *lowering,
                                                      const struct weft_node *node, uint32_t heads,
                                                      uint32_t features, bool causal);

/**
 * Appends result (+)= weight · φ(q_i)·Σ_j φ(k_j) v_jᵀ / φ(q_i)·Σ_j φ(k_j), over all j or j ≤ i. Keeps one state of
 * features · (values + 1) elements for every 256 (causal: 64) keys of a head as scratch; a step adds its token to the
 * state that it is given, and the tokens that sequences begin with make one.
 */
void weft_lower_linear_attention(struct weft_lowering *lowering,
                                 const struct weft_linear_attention *attention);

/** The least denominator that a float32 can have without being taken for 0: guards only against dividing by 0. */
#define WEFT_LEAST_DENOMINATOR 0x1p-126F

/** Checks an epsilon as weft_check_epsilon does, and raises it to the least denominator. */
weft_status weft_take_epsilon(float *epsilon, const weft_graph *graph, const char *op);

/* ---- its parts ---- */

#define WEFT_CHUNK WEFT_LINEAR_ATTENTION_APPLY_CHUNK /* tokens of a causal sequence */

/** Sums of outer products, chunk by chunk. */
struct weft_chunk_states {
    uint32_t features,
        values; /* storages: [batch, n, heads, feature_count], [batch, n, heads, value_count] */
    uint32_t batch, heads, n;
    uint32_t feature_count, value_count;
    uint32_t chunk; /* tokens; a multiple of 64 */
    bool ones;      /* also the sums of the features, behind the products' */
};

/** How many chunks a sequence has. */
uint32_t weft_chunk_count(uint32_t n, uint32_t chunk);

/**
 * Appends the dispatch that makes state[f, t] = Σ_i features[i, f] values[i, t] over the tokens of each chunk, in
 * a new scratch storage [batch, heads, chunks, feature_count · (value_count + ones)], which it returns. Fails with
 * WEFT_UNSUPPORTED when the states have more than 2^31 - 1 elements.
 */
uint32_t weft_lower_chunk_states(struct weft_lowering *lowering,
                                 const struct weft_chunk_states *states);

/** Operands of the chunks of queries: the states and, when causal, their own chunk. */
struct weft_chunk_apply {
    const struct weft_linear_attention *attention;
    uint32_t state; /* storage; WEFT_NO_STORAGE: a single chunk, causal, has none before it */
    uint32_t state_chunks; /* of a head; bidirectional attention reads the first, causal its own */
    bool normalize;        /* divide by the denominator; the states then have ones */
};

void weft_lower_chunk_apply(struct weft_lowering *lowering, const struct weft_chunk_apply *apply);

/** weft_lower_linear_attention for steps of one token. */
void weft_lower_linear_attention_step(struct weft_lowering *lowering,
                                      const struct weft_linear_attention *step);

/** Makes the state that steps of all tokens would leave behind. */
void weft_lower_linear_attention_prompt(struct weft_lowering *lowering,
                                        const struct weft_linear_attention *prompt);

/** True if rows of that length start at multiples of four elements and hold whole fours. */
static inline bool weft_whole_fours(uint32_t length) {
    return length % 4 == 0;
}

#endif
