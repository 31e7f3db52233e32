/* SPDX-License-Identifier: MIT */
/* BatchNorm with the statistics of training. Inputs of the node: x, mean, variance, gamma, beta. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "kernels/norm/batch_norm.h"
#include "kernels/norm/batch_norm_lanes.h"
#include "lower/cut.h"
#include "lower/divisor.h"
#include "ops/around_axis.h"
#include "ops/row.h"

struct weft_batch_norm_node {
    float epsilon;
    uint32_t channels_first; /* a truth value without padding: equal nodes have equal bytes */
};

weft_status weft_graph_batch_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  const weft_batch_norm_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    const struct weft_batch_norm_node node = {.epsilon = params->epsilon,
                                              .channels_first = params->channels_first};
    weft_tensor inputs[] = {x, params->mean, params->variance, params->gamma, params->beta};
    return weft_graph_add(out, graph, &weft_op_batch_norm, inputs, 5, &node, sizeof node);
}

static struct weft_axis channels_of(const struct weft_node *node, weft_shape x) {
    const struct weft_batch_norm_node *params = (const void *)node->params.bytes;
    const uint32_t axis = params->channels_first ? 1 : x.rank - 1;
    return weft_axis_of(x, axis, axis);
}

static weft_status batch_norm_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const char *const names[] = {"x", "mean", "variance", "gamma", "beta"};
    const struct weft_batch_norm_node *params = (const void *)node->params.bytes;
    weft_status status = weft_expect_f32(graph, node, 0, names[0]);
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    if (status == WEFT_OK && shape->rank < (params->channels_first ? 2 : 1)) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH,
                              "x has %u axes: there is no axis of channels", shape->rank);
    }
    const weft_shape channels = {.rank = 1, .dim = {channels_of(node, *shape).extent}};
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

/* First words of the push constants. */
struct words {
    uint32_t count, groups_x, inner;
};

/* Parts of the rows of inner that belong to one channel. */
static struct weft_grid lanes_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct words *words = args;
    (void)variant, (void)batches;
    return weft_grid_of_groups((uint64_t)(words->count / words->inner) *
                               ((words->inner - 1) / WEFT_NORM_BATCH_NORM_LANES_PART + 1));
}

/* Half a vector still takes less time than a place worked out for each lane. */
static bool lanes_suit(const struct weft_variant *variant, const void *args) {
    const struct words *words = args;
    return 2 * words->inner >= variant->tiles[0];
}

WEFT_VARIANTS(batch_norm, "norm/batch_norm",
              WEFT_GROUP_ROW(norm_batch_norm, weft_grid_of_first_items, 1.0F),
              WEFT_LANES_ROWS_WHERE(norm_batch_norm_lanes, lanes_grid, lanes_suit))

static weft_status batch_norm_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_batch_norm_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, 0);
    uint32_t input[5];
    for (uint32_t i = 0; i < 5; i++) {
        input[i] = weft_lower_optional(lowering, node->input[i]);
    }
    uint32_t result = weft_lower_value(lowering, node->output);
    const struct weft_axis channels = channels_of(node, *shape);
    uint64_t count = weft_shape_elements(*shape);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_batch_norm_variants, 1, norm_batch_norm,
        .bind = {.x = input[0],
                 .mean = input[1],
                 .variance = input[2],
                 .gamma = input[3],
                 .beta = input[4],
                 .result = result},
        .push = {.count = (uint32_t)count,
                 .inner = (uint32_t)channels.inner,
                 .channels = channels.extent,
                 .epsilon = params->epsilon,
                 WEFT_INVERSE(inner, (uint32_t)channels.inner),
                 WEFT_INVERSE(channels, channels.extent)},
        .constant = {.has_gamma = node->input[3] != 0, .has_beta = node->input[4] != 0});
    dispatch->flops = 20.0 * (double)count; /* with the square root's */
    dispatch->bytes = 8.0 * (double)count;
    return weft_lower_status(lowering);
}

static bool batch_norm_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_batch_norm_node *params = (const void *)node->params.bytes;
    return params->channels_first
               ? weft_axis_parts(lowering, node, 1)
               : weft_cut_along(lowering, node, WEFT_CUTS({.inputs = 1, .whole = 1}));
}

const struct weft_op weft_op_batch_norm = {
    .name = "batch_norm",
    .min_inputs = 3,
    .max_inputs = 5,
    .params_size = sizeof(struct weft_batch_norm_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_batch_norm_node, epsilon, F32),
                          WEFT_FIELD(weft_batch_norm_node, channels_first, BOOL)),
    .infer = batch_norm_infer,
    .lower_parts = batch_norm_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = batch_norm_lower}),
};
