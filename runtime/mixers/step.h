/* SPDX-License-Identifier: MIT */
/* Helpers of the steps of weft/decode.h. Their nodes' inputs: q, k, v, position, state, and the mixer's own. */
#ifndef WEFT_MIXERS_STEP_H
#define WEFT_MIXERS_STEP_H

#include <weft/decode.h>

#include "lower/lowering.h"

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
    uint32_t kv_heads; /* of k and v, where not all have as many; 0: they have */
    weft_tensor
        lengths; /* of the mixer's parameters, where they have some: weft_check_step refuses them */
    weft_shape shape[3];           /* of q, k and v; set by weft_check_step */
    struct weft_state_rings rings; /* of which the state consists, or zeros; tells its type */
};

/**
 * Checks that no lengths are given, q, k and v f32 [B, n, …], heads, and position i32 [B]; fills in the shapes. Every message starts with the op's
 * name. Errors: WEFT_INVALID_ARGUMENT, WEFT_SHAPE_MISMATCH.
 */
weft_status weft_check_step(const weft_graph *graph, struct weft_step_call *call);

/**
 * Checks only the state's name, the absence of lengths, and the position of the sequences of shape[0], which the
 * caller has set.
 */
weft_status weft_check_step_place(const weft_graph *graph, const struct weft_step_call *call);

/**
 * Adds the state, of that many elements for each sequence, and the node. Errors: those of weft_graph_state;
 * WEFT_UNSUPPORTED for a state that 32-bit indices do not reach.
 */
weft_status weft_add_step(weft_tensor *out, weft_graph *graph, struct weft_step_call *call,
                          double state_elements, const void *params, size_t params_size);

/** The infer function of all steps: what weft_check_step has passed. */
weft_status weft_step_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                            weft_shape *shape);

/**
 * Takes results and states out of what a node gives behind one another, [B, elements of both]: out[0] with the shape of the results
 * and out[1] with that of the states. Errors: those of weft_graph_slice and weft_graph_reshape.
 */
weft_status weft_take_both(weft_tensor out[2], weft_graph *graph, weft_tensor made,
                           weft_shape results, weft_shape states);

/**
 * Elements of the state of linear attention over a sequence whose call has passed weft_check_step: `factor` features for
 * each channel of q and k.
 */
double weft_linear_attention_state_size(const struct weft_step_call *call, uint32_t factor);

#endif
