/* SPDX-License-Identifier: MIT */
/* BatchNorm with the statistics of training. Inputs of the node: x, mean, variance, gamma, beta. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "kernels/norm/batch_norm.h"
#include "lower/lowering.h"

struct weft_batch_norm_node {
    float epsilon;
};

weft_status weft_graph_batch_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  const weft_batch_norm_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
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
    uint32_t input[5];
    for (uint32_t i = 0; i < 5; i++) {
        input[i] = weft_lower_optional(lowering, node->input[i]);
    }
    uint32_t result = weft_lower_value(lowering, node->output);
    uint64_t count = weft_shape_elements(*shape);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, norm_batch_norm, weft_grid_of_items(count),
                   .bind = {.x = input[0],
                            .mean = input[1],
                            .variance = input[2],
                            .gamma = input[3],
                            .beta = input[4],
                            .result = result},
                   .push = {.count = (uint32_t)count,
                            .channels = weft_shape_rows(*shape).columns,
                            .epsilon = params->epsilon},
                   .constant = {.has_gamma = node->input[3] != 0, .has_beta = node->input[4] != 0});
    dispatch->flops = 20.0 * (double)count; /* with the square root's */
    dispatch->bytes = 8.0 * (double)count;
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_batch_norm = {
    .name = "batch_norm",
    .min_inputs = 3,
    .max_inputs = 5,
    .params_size = sizeof(struct weft_batch_norm_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_batch_norm_node, epsilon, F32)),
    .infer = batch_norm_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .whole = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = batch_norm_lower}),
};
