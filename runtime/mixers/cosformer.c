/* SPDX-License-Identifier: MIT */
/* cosFormer: linear attention over relu features, reweighted by the cosine of the distance in position. */
#include <stdio.h>

#include <weft/mixers.h>

#include "core/trig.h"
#include "mixers/linear_attention.h"
#include "mixers/qkv.h"
#include "mixers/step.h"

struct weft_cosformer_node {
    uint32_t heads;
    uint32_t causal;
    uint32_t length; /* M */
    float epsilon;
};

#define MAX_STEP_LENGTH (1U << 24) /* positions: a table has two numbers for each */

/* ---- building ---- */

weft_status weft_graph_cosformer(weft_tensor *out, weft_graph *graph, weft_tensor q, weft_tensor k,
                                 weft_tensor v, const weft_cosformer_params *params) {
    struct weft_cosformer_node node = {.heads = params && params->heads ? params->heads : 1,
                                       .causal = params && params->causal,
                                       .length = params ? params->length : 0,
                                       .epsilon = params ? params->epsilon : 0.0F};
    weft_tensor inputs[] = {q, k, v};
    return weft_graph_add(out, graph, &weft_op_cosformer, inputs, 3, &node, sizeof node);
}

static uint32_t longest(const weft_graph *graph, const struct weft_node *node) {
    uint32_t n = weft_node_shape(graph, node, 0)->dim[1];
    uint32_t keys = weft_node_shape(graph, node, 1)->dim[1];
    return n > keys ? n : keys;
}

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct weft_cosformer_node *params = (void *)node->params.bytes;
    const uint32_t tokens = longest(graph, node);
    if (params->length != 0 && params->length < tokens) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "cosformer: length %u must be 0 or at least the %u tokens of the sequence",
                         params->length, tokens);
    }
    const weft_status status = weft_check_epsilon(graph, "cosformer", params->epsilon);
    if (status != WEFT_OK) {
        return status;
    }
    if (params->length == 0) {
        params->length = tokens;
    }
    if (params->epsilon < WEFT_LEAST_DENOMINATOR) {
        params->epsilon = WEFT_LEAST_DENOMINATOR;
    }
    return WEFT_OK;
}

static weft_status cosformer_infer(const weft_graph *graph, struct weft_node *node,
                                   weft_dtype *dtype, weft_shape *shape) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    weft_shape qkv[3];
    weft_status status = weft_check_node_qkv(qkv, graph, node, params->causal);
    if (status == WEFT_OK) {
        status = weft_check_heads(graph, "cosformer", params->heads, qkv);
    }
    if (status != WEFT_OK) {
        return status;
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(qkv[0].dim[0], qkv[0].dim[1], qkv[2].dim[2]);
    return check_params(graph, node);
}

/* ---- lowering ---- */

struct positions {
    uint32_t tokens, length;
};

/** [tokens, 2]: cos and sin of π i / 2M for each position i. */
static weft_status fill_positions(void *user, void *data) {
    const struct positions *positions = user;
    float *pair = data;
    for (uint32_t i = 0; i < positions->tokens; i++, pair += 2) {
        double cosine;
        double sine;
        weft_unit_root(&cosine, &sine, i, UINT64_C(4) * positions->length);
        pair[0] = (float)cosine;
        pair[1] = (float)sine;
    }
    return WEFT_OK;
}

static uint32_t lower_positions(struct weft_lowering *lowering, const struct weft_node *node,
                                uint32_t tokens) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    struct positions positions = {.tokens = tokens, .length = params->length};
    char key[48];
    snprintf(key, sizeof key, "cosformer/%u/%u", positions.length, positions.tokens);
    return weft_lower_table(lowering, key, UINT64_C(8) * positions.tokens, fill_positions,
                            &positions);
}

/** Features [B, n, heads · 2 · width] of q or k in a scratch storage of their own. */
static uint32_t lower_features(struct weft_lowering *lowering, const struct weft_node *node,
                               uint32_t input, uint32_t positions) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, input);
    uint64_t count = weft_shape_elements(*shape);
    if (count > INT32_MAX / 2) {
        weft_lower_fail(lowering, weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                                            "%s: %llu features, more than %d", lowering->label,
                                            2 * (unsigned long long)count, INT32_MAX));
        return 0;
    }
    uint32_t features = weft_lower_scratch(lowering, 2 * count * sizeof(float));
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "cosformer/features");
    weft_dispatch_read(dispatch, weft_lower_value(lowering, node->input[input]));
    weft_dispatch_read(dispatch, positions);
    weft_dispatch_write(dispatch, features);
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, shape->dim[1]);
    weft_dispatch_push_u32(dispatch, shape->dim[2]);
    weft_dispatch_push_u32(dispatch, shape->dim[2] / params->heads);
    dispatch->flops = 2.0 * (double)count;
    dispatch->bytes = 12.0 * (double)count;
    return features;
}

static weft_status cosformer_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *v = weft_node_shape(lowering->graph, node, 2);
    uint32_t positions = lower_positions(lowering, node, longest(lowering->graph, node));
    uint32_t queries = lower_features(lowering, node, 0, positions);
    bool same = node->input[0] == node->input[1];
    struct weft_linear_attention attention = {
        .q = queries,
        .k = same ? queries : lower_features(lowering, node, 1, positions),
        .v = weft_lower_value(lowering, node->input[2]),
        .result = weft_lower_value(lowering, node->output),
        .batch = q->dim[0],
        .heads = params->heads,
        .n = q->dim[1],
        .keys = v->dim[1],
        .features = 2 * (q->dim[2] / params->heads),
        .values = v->dim[2] / params->heads,
        .causal = params->causal,
        .epsilon = params->epsilon,
        .weight = 1.0F};
    weft_lower_linear_attention(lowering, &attention);
    return weft_lower_status(lowering);
}

static void cosformer_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%u heads, length %u%s]", params->heads, params->length,
             params->causal ? ", causal" : "");
}

const struct weft_op weft_op_cosformer = {
    .name = "cosformer",
    .min_inputs = 3,
    .max_inputs = 3,
    .params_size = sizeof(struct weft_cosformer_node),
    .infer = cosformer_infer,
    .describe = cosformer_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "chunks", .lower = cosformer_lower}),
};

/* ---- one token at a time ---- */

weft_status weft_graph_cosformer_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                      weft_tensor k, weft_tensor v, const weft_step *step,
                                      const weft_cosformer_params *params) {
    if (!out || !graph) {
        return weft_graph_missing(graph, "weft_graph_cosformer_step");
    }
    struct weft_step_call call = {.op = &weft_op_cosformer_step,
                                  .step = step,
                                  .input = {q, k, v},
                                  .input_count = WEFT_STEP_INPUTS,
                                  .heads = params && params->heads ? params->heads : 1};
    struct weft_cosformer_node node = {.heads = call.heads,
                                       .causal = true,
                                       .length = params ? params->length : 0,
                                       .epsilon = params ? params->epsilon : 0.0F};
    weft_status status = weft_check_step(graph, &call);
    if (status == WEFT_OK && (node.length == 0 || node.length > MAX_STEP_LENGTH)) {
        status = weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: length %u must be in 1 … %u",
                           call.op->name, node.length, MAX_STEP_LENGTH);
    }
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
        call.heads, 2 * (call.shape[0].dim[2] / call.heads), call.shape[2].dim[2] / call.heads);
    return weft_add_step(out, graph, &call, size, &node, sizeof node);
}

/** Features [B, 1, heads · 2 · width] of q or k. */
static uint32_t lower_step_features(struct weft_lowering *lowering, const struct weft_node *node,
                                    uint32_t input, uint32_t angles) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, input);
    const uint64_t count = weft_shape_elements(*shape);
    const uint32_t features = weft_lower_scratch(lowering, 2 * count * sizeof(float));
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "cosformer/step_features");
    weft_dispatch_read(dispatch, weft_lower_value(lowering, node->input[input]));
    weft_dispatch_read(dispatch, angles);
    weft_dispatch_read(dispatch, weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]));
    weft_dispatch_write(dispatch, features);
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, params->length);
    weft_dispatch_push_u32(dispatch, shape->dim[2]);
    weft_dispatch_push_u32(dispatch, shape->dim[2] / params->heads);
    dispatch->flops = 2.0 * (double)count;
    dispatch->bytes = 12.0 * (double)count;
    return features;
}

static weft_status step_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *v = weft_node_shape(lowering->graph, node, 2);
    const uint32_t angles = lower_positions(lowering, node, params->length);
    const bool same = node->input[0] == node->input[1];
    const uint32_t queries = lower_step_features(lowering, node, 0, angles);
    const struct weft_linear_attention_step step = {
        .q = queries,
        .k = same ? queries : lower_step_features(lowering, node, 1, angles),
        .v = weft_lower_value(lowering, node->input[2]),
        .result = weft_lower_value(lowering, node->output),
        .position = weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]),
        .state = weft_lower_value(lowering, node->input[WEFT_STEP_STATE]),
        .stride = weft_node_shape(lowering->graph, node, WEFT_STEP_STATE)->dim[1],
        .batch = q->dim[0],
        .heads = params->heads,
        .features = 2 * (q->dim[2] / params->heads),
        .values = v->dim[2] / params->heads,
        .epsilon = params->epsilon,
        .weight = 1.0F};
    weft_lower_linear_attention_step(lowering, &step);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_cosformer_step = {
    .name = "cosformer_step",
    .min_inputs = WEFT_STEP_INPUTS,
    .max_inputs = WEFT_STEP_INPUTS,
    .params_size = sizeof(struct weft_cosformer_node),
    .state_input = WEFT_STEP_STATE,
    .infer = weft_step_infer,
    .describe = cosformer_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = step_lower}),
};
