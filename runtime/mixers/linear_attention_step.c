/* SPDX-License-Identifier: MIT */
/* Linear attention one token at a time: the sums that the causal op has at a chunk's start, and the chunk so far. */
#include <stdio.h>

#include "mixers/linear_attention.h"
#include "mixers/qkv.h"
#include "mixers/step.h"

struct weft_linear_attention_step_node {
    uint32_t heads;
    float epsilon;
};

#define SUMS \
    6 /* arrays of a state that have an element per sum: shaders/include/linear_attention_state.glsl */
#define COLUMNS_A_GROUP 128 /* of linear_attention/step */

/* ---- lowering ---- */

double weft_linear_attention_state_size(uint32_t heads, uint32_t features, uint32_t values) {
    return heads *
           (SUMS * (double)features * (values + 1.0) + WEFT_CHUNK * ((double)features + values));
}

static void push_state(struct weft_dispatch *dispatch,
                       const struct weft_linear_attention_step *step) {
    weft_dispatch_push_u32(dispatch, step->heads);
    weft_dispatch_push_u32(dispatch, step->features);
    weft_dispatch_push_u32(dispatch, step->values);
    weft_dispatch_push_u32(dispatch, step->stride);
    weft_dispatch_push_u32(dispatch, step->offset);
}

static void lower_sums(struct weft_lowering *lowering,
                       const struct weft_linear_attention_step *step) {
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/step_sums");
    weft_dispatch_read(dispatch, step->k);
    weft_dispatch_read(dispatch, step->v);
    weft_dispatch_read(dispatch, step->position);
    weft_dispatch_write(dispatch, step->state);
    uint64_t heads = (uint64_t)step->batch * step->heads;
    uint64_t sums = (uint64_t)step->features * (step->values + UINT64_C(1));
    weft_dispatch_items(dispatch, heads * (sums + step->features + step->values));
    push_state(dispatch, step);
    dispatch->flops = 2.0 * (double)(heads * sums);
    dispatch->bytes = 8.0 * (double)(heads * (sums + step->features + step->values));
}

static void lower_read(struct weft_lowering *lowering,
                       const struct weft_linear_attention_step *step) {
    uint32_t column_blocks = (step->values - 1) / COLUMNS_A_GROUP + 1;
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/step");
    weft_dispatch_read(dispatch, step->q);
    weft_dispatch_read(dispatch, step->position);
    weft_dispatch_read(dispatch, step->state);
    weft_dispatch_write(dispatch, step->result);
    weft_dispatch_specialize(dispatch, step->accumulate);
    uint64_t heads = (uint64_t)step->batch * step->heads;
    weft_dispatch_rows(dispatch,
                       (struct weft_rows){.rows = heads * column_blocks, .columns = column_blocks});
    push_state(dispatch, step);
    weft_dispatch_push_f32(dispatch, step->epsilon);
    weft_dispatch_push_f32(dispatch, step->weight);
    double reads = (double)step->features * (step->values + 1.0) +
                   WEFT_CHUNK * ((double)step->features + step->values);
    dispatch->flops = 2.0 * (double)heads * reads;
    dispatch->bytes = 4.0 * (double)heads * reads;
}

void weft_lower_linear_attention_step(struct weft_lowering *lowering,
                                      const struct weft_linear_attention_step *step) {
    lower_sums(lowering, step);
    lower_read(lowering, step);
}

/* ---- the op ---- */

weft_status weft_graph_linear_attention_step(weft_tensor *out, weft_graph *graph,
                                             weft_tensor q_features, weft_tensor k_features,
                                             weft_tensor v, const weft_step *step,
                                             const weft_linear_attention_params *params) {
    if (!out || !graph) {
        return weft_graph_missing(graph, "weft_graph_linear_attention_step");
    }
    struct weft_step_call call = {.op = &weft_op_linear_attention_step,
                                  .step = step,
                                  .input = {q_features, k_features, v},
                                  .input_count = WEFT_STEP_INPUTS,
                                  .heads = params && params->heads ? params->heads : 1};
    struct weft_linear_attention_step_node node = {.heads = call.heads,
                                                   .epsilon = params ? params->epsilon : 0.0F};
    weft_status status = weft_check_step(graph, &call);
    if (status == WEFT_OK) {
        status = weft_check_epsilon(graph, call.op->name, node.epsilon);
    }
    if (status != WEFT_OK) {
        return status;
    }
    if (node.epsilon < WEFT_LEAST_DENOMINATOR) {
        node.epsilon = WEFT_LEAST_DENOMINATOR;
    }
    const double size = weft_linear_attention_state_size(
        call.heads, call.shape[0].dim[2] / call.heads, call.shape[2].dim[2] / call.heads);
    return weft_add_step(out, graph, &call, size, &node, sizeof node);
}

static weft_status linear_attention_step_lower(struct weft_lowering *lowering,
                                               const struct weft_node *node) {
    const struct weft_linear_attention_step_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *v = weft_node_shape(lowering->graph, node, 2);
    const struct weft_linear_attention_step step = {
        .q = weft_lower_value(lowering, node->input[0]),
        .k = weft_lower_value(lowering, node->input[1]),
        .v = weft_lower_value(lowering, node->input[2]),
        .result = weft_lower_value(lowering, node->output),
        .position = weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]),
        .state = weft_lower_value(lowering, node->input[WEFT_STEP_STATE]),
        .stride = weft_node_shape(lowering->graph, node, WEFT_STEP_STATE)->dim[1],
        .batch = q->dim[0],
        .heads = params->heads,
        .features = q->dim[2] / params->heads,
        .values = v->dim[2] / params->heads,
        .epsilon = params->epsilon,
        .weight = 1.0F};
    weft_lower_linear_attention_step(lowering, &step);
    return weft_lower_status(lowering);
}

static void linear_attention_step_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_linear_attention_step_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%u heads]", params->heads);
}

const struct weft_op weft_op_linear_attention_step = {
    .name = "linear_attention_step",
    .min_inputs = WEFT_STEP_INPUTS,
    .max_inputs = WEFT_STEP_INPUTS,
    .params_size = sizeof(struct weft_linear_attention_step_node),
    .state_input = WEFT_STEP_STATE,
    .infer = weft_step_infer,
    .describe = linear_attention_step_describe,
    .implementation = {{.name = "step", .lower = linear_attention_step_lower}},
};
