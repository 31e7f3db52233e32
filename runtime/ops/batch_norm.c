/* SPDX-License-Identifier: MIT */
/* BatchNorm with the statistics of training. Inputs of the node: x, mean, variance, gamma, beta. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "graph/lowering.h"

struct weft_batch_norm_node {
    float epsilon;
};

weft_status weft_graph_batch_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  const weft_batch_norm_params *params) {
    if (!graph || !params) {
        return weft_fail(graph ? &graph->host : NULL, WEFT_INVALID_ARGUMENT,
                         "weft_graph_batch_norm: null argument");
    }
    struct weft_batch_norm_node node = {.epsilon = params->epsilon};
    weft_tensor inputs[] = {x, params->mean, params->variance, params->gamma, params->beta};
    return weft_graph_add(out, graph, &weft_op_batch_norm, inputs, 5, &node, sizeof node);
}

static weft_status batch_norm_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const char *const names[] = {"x", "mean", "variance", "gamma", "beta"};
    const struct weft_batch_norm_node *params = (const void *)node->params.bytes;
    weft_status status = weft_expect_f32(graph, node, 0, names[0]);
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    weft_shape channels = {.rank = 1, .dim = {weft_shape_rows(*shape).columns}};
    for (uint32_t i = 1; i < 5 && status == WEFT_OK; i++) {
        bool is_optional = i > 2;
        if (node->input[i] != 0 || !is_optional) {
            status = weft_expect_shape(graph, node, i, names[i], channels);
        }
    }
    if (status == WEFT_OK && (!(params->epsilon >= 0.0F) || !isfinite(params->epsilon))) {
        status = weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                           "batch_norm: epsilon %g must be finite and at least 0",
                           (double)params->epsilon);
    }
    return status;
}

static weft_status batch_norm_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_batch_norm_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, 0);
    uint32_t input[5] = {weft_lower_value(lowering, node->input[0])};
    for (uint32_t i = 1; i < 5; i++) {
        input[i] = node->input[i] ? weft_lower_value(lowering, node->input[i]) : input[0];
    }
    uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch = weft_lower_dispatch(lowering, "norm/batch_norm");
    for (uint32_t i = 0; i < 5; i++) {
        weft_dispatch_read(dispatch, input[i]);
    }
    weft_dispatch_write(dispatch, result);
    weft_dispatch_specialize(dispatch, node->input[3] != 0);
    weft_dispatch_specialize(dispatch, node->input[4] != 0);
    weft_dispatch_items(dispatch, weft_shape_elements(*shape));
    weft_dispatch_push_u32(dispatch, weft_shape_rows(*shape).columns);
    weft_dispatch_push_f32(dispatch, params->epsilon);
    double count = (double)weft_shape_elements(*shape);
    dispatch->flops = 20.0 * count; /* with the square root's */
    dispatch->bytes = 8.0 * count;
    return weft_lower_status(lowering);
}

static void batch_norm_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_batch_norm_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[epsilon %g]", (double)params->epsilon);
}

const struct weft_op weft_op_batch_norm = {
    .name = "batch_norm",
    .min_inputs = 3,
    .max_inputs = 5,
    .params_size = sizeof(struct weft_batch_norm_node),
    .infer = batch_norm_infer,
    .describe = batch_norm_describe,
    .implementation = {{.name = "elementwise", .lower = batch_norm_lower}},
};
