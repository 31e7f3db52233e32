/* SPDX-License-Identifier: MIT */
/* What the steps of weft/decode.h share. Their nodes' inputs: q, k, v, position, state, and the mixer's own. */
#ifndef WEFT_MIXERS_STEP_H
#define WEFT_MIXERS_STEP_H

#include <weft/decode.h>

#include "graph/lowering.h"

#define WEFT_STEP_POSITION 3
#define WEFT_STEP_STATE    4
#define WEFT_STEP_INPUTS   5 /* those that all have; the mixer's own follow */

/** The node of a step before it is there. */
struct weft_step_call {
    const struct weft_op *op;
    const weft_step *step;
    weft_tensor input[WEFT_MAX_NODE_INPUTS]; /* q, k, v, -, -, and the mixer's own */
    uint32_t input_count;
    uint32_t heads;
    weft_shape shape[3]; /* of q, k and v; set by weft_check_step */
};

/**
 * Checks q, k and v f32 [B, 1, …], heads, and position i32 [B]; fills in the shapes. Every message starts with the op's
 * name. Errors: WEFT_INVALID_ARGUMENT, WEFT_SHAPE_MISMATCH.
 */
weft_status weft_check_step(const weft_graph *graph, struct weft_step_call *call);

/**
 * Adds the state, of that many elements for each sequence, and the node. Errors: those of weft_graph_state;
 * WEFT_UNSUPPORTED for a state that 32-bit indices do not reach.
 */
weft_status weft_add_step(weft_tensor *out, weft_graph *graph, struct weft_step_call *call,
                          double state_elements, const void *params, size_t params_size);

/** The infer function of all steps: what weft_check_step has passed. */
weft_status weft_step_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                            weft_shape *shape);

/* ---- linear attention ---- */

/** Storages and shapes of a step over features: as struct weft_linear_attention with n = 1. */
struct weft_linear_attention_step {
    uint32_t q, k, v, result;
    uint32_t position, state;
    uint32_t stride; /* elements of the state of a sequence */
    uint32_t offset; /* and how many of them come before this step's */
    uint32_t batch, heads;
    uint32_t features, values;
    bool accumulate;
    float epsilon;
    float weight;
};

/** Elements of the state of a sequence. */
double weft_linear_attention_state_size(uint32_t heads, uint32_t features, uint32_t values);

/** Appends the step's dispatches: the sums with this token, and what its query reads from them. */
void weft_lower_linear_attention_step(struct weft_lowering *lowering,
                                      const struct weft_linear_attention_step *step);

#endif
