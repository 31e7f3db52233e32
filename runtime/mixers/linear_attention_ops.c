/* SPDX-License-Identifier: MIT */
/* Linear attention over given features, of whole sequences and a token at a time. */
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "mixers/linear_attention.h"
#include "mixers/step.h"
#include "ops/mask.h"

#define LENGTHS 3 /* an input, behind q, k and v */

struct weft_linear_attention_node {
    uint32_t heads;
    uint32_t causal;
    float epsilon;
};

static struct weft_linear_attention_node node_of(const weft_linear_attention_params *params) {
    return (struct weft_linear_attention_node){.heads = params && params->heads ? params->heads : 1,
                                               .causal = params && params->causal,
                                               .epsilon = params ? params->epsilon : 0.0F};
}

weft_status weft_graph_linear_attention(weft_tensor *out, weft_graph *graph, weft_tensor q_features,
                                        weft_tensor k_features, weft_tensor v,
                                        const weft_linear_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_linear_attention_node node = node_of(params);
    weft_tensor inputs[] = {q_features, k_features, v, params ? params->lengths : (weft_tensor){0}};
    return weft_graph_add(out, graph, &weft_op_linear_attention, inputs, LENGTHS + 1, &node,
                          sizeof node);
}

weft_status weft_graph_linear_attention_step(weft_tensor *out, weft_graph *graph,
                                             weft_tensor q_features, weft_tensor k_features,
                                             weft_tensor v, const weft_step *step,
                                             const weft_linear_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    struct weft_linear_attention_node node = node_of(params);
    struct weft_step_call call = {.op = &weft_op_linear_attention_step,
                                  .step = step,
                                  .input = {q_features, k_features, v},
                                  .input_count = WEFT_STEP_INPUTS,
                                  .heads = node.heads,
                                  .lengths = params ? params->lengths : (weft_tensor){0}};
    WEFT_TRY(weft_check_step(graph, &call));
    WEFT_TRY(weft_take_epsilon(&node.epsilon, graph, call.op->name));
    node.causal = true;
    return weft_add_step(out, graph, &call, weft_linear_attention_state_size(&call, 1), &node,
                         sizeof node);
}

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct weft_linear_attention_node *params = (void *)node->params.bytes;
    uint32_t width = weft_node_shape(graph, node, 0)->dim[2];
    uint32_t values = weft_node_shape(graph, node, 2)->dim[2];
    if (width % params->heads != 0 || values % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "linear_attention: %u heads do not divide %u features and %u values",
                         params->heads, width, values);
    }
    return weft_take_epsilon(&params->epsilon, graph, "linear_attention");
}

static weft_status linear_attention_infer(const weft_graph *graph, struct weft_node *node,
                                          weft_dtype *dtype, weft_shape *shape) {
    const struct weft_linear_attention_node *params = (const void *)node->params.bytes;
    const char *const names[] = {"q_features", "k_features", "v"};
    for (uint32_t i = 0; i < 3; i++) {
        WEFT_TRY(weft_expect_f32(graph, node, i, names[i]));
    }
    weft_shape q = *weft_node_shape(graph, node, 0);
    weft_shape k = *weft_node_shape(graph, node, 1);
    weft_shape v = *weft_node_shape(graph, node, 2);
    bool fits = q.rank == 3 && k.rank == 3 && v.rank == 3 && q.dim[0] == k.dim[0] &&
                q.dim[2] == k.dim[2] && k.dim[0] == v.dim[0] && k.dim[1] == v.dim[1];
    if (!fits || (params->causal && q.dim[1] != k.dim[1])) {
        char text[3][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "linear_attention: q_features %s, k_features %s and v %s must be "
                         "[B, n, heads·m], [B, k, heads·m] and [B, k, d]%s",
                         weft_shape_text(q, text[0]), weft_shape_text(k, text[1]),
                         weft_shape_text(v, text[2]), params->causal ? " with k = n" : "");
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(q.dim[0], q.dim[1], v.dim[2]);
    return check_params(graph, node);
}

static weft_status linear_attention_lower(struct weft_lowering *lowering,
                                          const struct weft_node *node) {
    const struct weft_linear_attention_node *params = (const void *)node->params.bytes;
    const uint32_t q = weft_lower_value(lowering, node->input[0]);
    const uint32_t k = weft_lower_value(lowering, node->input[1]);
    struct weft_linear_attention attention = weft_linear_attention_of(
        lowering, node, params->heads,
        weft_node_shape(lowering->graph, node, 0)->dim[2] / params->heads, params->causal);
    attention.q = q;
    attention.k = k;
    attention.epsilon = params->epsilon;
    weft_lower_linear_attention(lowering, &attention);
    return weft_lower_status(lowering);
}

static const struct weft_member linear_attention_fields[] = {
    WEFT_FIELD(weft_linear_attention_node, heads, COUNT),
    WEFT_FIELD(weft_linear_attention_node, causal, BOOL),
    WEFT_FIELD(weft_linear_attention_node, epsilon, F32),
    {.name = NULL}};

const struct weft_op weft_op_linear_attention = {
    .name = "linear_attention",
    .min_inputs = 3,
    .max_inputs = LENGTHS + 1,
    .lengths = {{.input = LENGTHS, .of = 1}},
    .params_size = sizeof(struct weft_linear_attention_node),
    .fields = linear_attention_fields,
    .infer = linear_attention_infer,
    .cuts = WEFT_CUTS({.inputs = 7 | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "chunks", .lower = linear_attention_lower}),
};

const struct weft_op weft_op_linear_attention_step = {
    .name = "linear_attention_step",
    .min_inputs = WEFT_STEP_INPUTS,
    .max_inputs = WEFT_STEP_INPUTS,
    .params_size = sizeof(struct weft_linear_attention_node),
    .fields = linear_attention_fields,
    .state_input = WEFT_STEP_STATE,
    .infer = weft_step_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = linear_attention_lower}),
};
