/* SPDX-License-Identifier: MIT */
/* cosFormer: linear attention over relu features, reweighted by the cosine of the distance in position. */
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/math/trig.h"
#include "core/try.h"
#include "kernels/cosformer/features.h"
#include "kernels/cosformer/features_lanes.h"
#include "lower/divisor.h"
#include "mixers/linear_attention.h"
#include "mixers/qkv.h"
#include "mixers/step.h"
#include "ops/mask.h"
#include "ops/row.h"

struct weft_cosformer_node {
    uint32_t heads;
    uint32_t causal;
    uint32_t length; /* M */
    float epsilon;
};

#define LENGTHS         3          /* an input, behind q, k and v */
#define MAX_STEP_LENGTH (1U << 24) /* positions: a table has two numbers for each */

/* ---- building ---- */

static struct weft_cosformer_node node_of(const weft_cosformer_params *params) {
    return (struct weft_cosformer_node){.heads = params && params->heads ? params->heads : 1,
                                        .causal = params && params->causal,
                                        .length = params ? params->length : 0,
                                        .epsilon = params ? params->epsilon : 0.0F};
}

weft_status weft_graph_cosformer(weft_tensor *out, weft_graph *graph, weft_tensor q, weft_tensor k,
                                 weft_tensor v, const weft_cosformer_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_cosformer_node node = node_of(params);
    weft_tensor inputs[] = {q, k, v, params ? params->lengths : (weft_tensor){0}};
    return weft_graph_add(out, graph, &weft_op_cosformer, inputs, LENGTHS + 1, &node, sizeof node);
}

weft_status weft_graph_cosformer_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                      weft_tensor k, weft_tensor v, const weft_step *step,
                                      const weft_cosformer_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    struct weft_cosformer_node node = node_of(params);
    struct weft_step_call call = {.op = &weft_op_cosformer_step,
                                  .step = step,
                                  .input = {q, k, v},
                                  .input_count = WEFT_STEP_INPUTS,
                                  .heads = node.heads,
                                  .lengths = params ? params->lengths : (weft_tensor){0}};
    node.causal = true;
    WEFT_TRY(weft_check_step(graph, &call));
    if (node.length == 0 || node.length > MAX_STEP_LENGTH) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: length %u must be in 1 … %u",
                         call.op->name, node.length, MAX_STEP_LENGTH);
    }
    if (call.shape[0].dim[1] > node.length) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: length %u must be at least the %u tokens of the sequence",
                         call.op->name, node.length, call.shape[0].dim[1]);
    }
    WEFT_TRY(weft_take_epsilon(&node.epsilon, graph, call.op->name));
    return weft_add_step(out, graph, &call, weft_linear_attention_state_size(&call, 2), &node,
                         sizeof node);
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
    if (params->length == 0 && weft_node_has_input(node, LENGTHS)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "cosformer: with lengths, length must be given, at least %u: otherwise a "
                         "sequence's weights would depend on the others of its batch",
                         tokens);
    }
    WEFT_TRY(weft_take_epsilon(&params->epsilon, graph, "cosformer"));
    if (params->length == 0) {
        params->length = tokens;
    }
    return WEFT_OK;
}

static weft_status cosformer_infer(const weft_graph *graph, struct weft_node *node,
                                   weft_dtype *dtype, weft_shape *shape) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_infer_qkv(dtype, shape, graph, node, params->heads, params->causal));
    return check_params(graph, node);
}

/* ---- lowering ---- */

/* At a position that a run tells; otherwise they are 0 … n-1. */
static bool takes_one_token(const weft_graph *graph, const struct weft_node *node) {
    return node->op->state_input != 0 && weft_node_shape(graph, node, 0)->dim[1] == 1;
}

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

static uint32_t lower_angles(struct weft_lowering *lowering, struct positions positions) {
    char key[48];
    snprintf(key, sizeof key, "cosformer/%u/%u", positions.length, positions.tokens);
    return weft_lower_table(lowering, key, UINT64_C(8) * positions.tokens, fill_positions,
                            &positions);
}

static struct weft_grid lanes_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_cosformer_features_args *words = args;
    (void)variant, (void)batches;
    return weft_grid_of_groups(
        (words->push.count / words->push.width - 1) / WEFT_COSFORMER_FEATURES_LANES_ROWS + 1);
}

WEFT_VARIANTS(cosformer_features, "cosformer/features",
              WEFT_GROUP_ROW(cosformer_features, weft_grid_of_first_items, 1.0F),
              WEFT_LANES_ROWS(cosformer_features_lanes, lanes_grid, 1))

/** Features [B, n, heads · 2 · width] of q or k in a scratch storage of their own. */
static uint32_t lower_features(struct weft_lowering *lowering, const struct weft_node *node,
                               uint32_t input, uint32_t angles) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, input);
    const bool is_step = takes_one_token(lowering->graph, node);
    const uint64_t count = weft_shape_elements(*shape);
    if (!weft_lower_countable(lowering, 2.0 * (double)count, "features")) {
        return 0;
    }
    const uint32_t features = weft_lower_scratch(lowering, 2 * count * sizeof(float));
    const uint32_t x = weft_lower_value(lowering, node->input[input]);
    const uint32_t position =
        is_step ? weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]) : WEFT_NO_STORAGE;
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_cosformer_features_variants, 1, cosformer_features,
        .bind = {.x = x, .angles = angles, .position = position, .result = features},
        .push = {.count = (uint32_t)count,
                 .positions = is_step ? params->length : shape->dim[1],
                 .channels = shape->dim[2],
                 .width = shape->dim[2] / params->heads,
                 WEFT_INVERSE(positions, is_step ? params->length : shape->dim[1]),
                 WEFT_INVERSE(channels, shape->dim[2]),
                 WEFT_INVERSE(width, shape->dim[2] / params->heads)},
        .constant = {.is_step = is_step});
    dispatch->flops = 2.0 * (double)count;
    dispatch->bytes = 12.0 * (double)count;
    return features;
}

/** Both ops: a step of one token has angles for all positions that it may come to. */
static weft_status cosformer_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_cosformer_node *params = (const void *)node->params.bytes;
    const uint32_t channels = weft_node_shape(lowering->graph, node, 0)->dim[2];
    const bool is_step = takes_one_token(lowering->graph, node);
    const uint32_t angles = lower_angles(
        lowering,
        (struct positions){.tokens = is_step ? params->length : longest(lowering->graph, node),
                           .length = params->length});
    const uint32_t queries = lower_features(lowering, node, 0, angles);
    const uint32_t keys =
        node->input[0] == node->input[1] ? queries : lower_features(lowering, node, 1, angles);
    struct weft_linear_attention attention = weft_linear_attention_of(
        lowering, node, params->heads, 2 * (channels / params->heads), params->causal);
    attention.q = queries;
    attention.k = keys;
    attention.epsilon = params->epsilon;
    weft_lower_linear_attention(lowering, &attention);
    return weft_lower_status(lowering);
}

static const struct weft_member cosformer_fields[] = {WEFT_FIELD(weft_cosformer_node, heads, COUNT),
                                                      WEFT_FIELD(weft_cosformer_node, causal, BOOL),
                                                      WEFT_FIELD(weft_cosformer_node, length, U32),
                                                      WEFT_FIELD(weft_cosformer_node, epsilon, F32),
                                                      {.name = NULL}};

const struct weft_op weft_op_cosformer = {
    .name = "cosformer",
    .min_inputs = 3,
    .max_inputs = LENGTHS + 1,
    .lengths = {{.input = LENGTHS, .of = 1}},
    .params_size = sizeof(struct weft_cosformer_node),
    .fields = cosformer_fields,
    .infer = cosformer_infer,
    .cuts = WEFT_CUTS({.inputs = 7 | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "chunks", .lower = cosformer_lower}),
};

const struct weft_op weft_op_cosformer_step = {
    .name = "cosformer_step",
    .min_inputs = WEFT_STEP_INPUTS,
    .max_inputs = WEFT_STEP_INPUTS,
    .params_size = sizeof(struct weft_cosformer_node),
    .fields = cosformer_fields,
    .state_input = WEFT_STEP_STATE,
    .infer = weft_step_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = cosformer_lower}),
};
