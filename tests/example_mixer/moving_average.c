/* SPDX-License-Identifier: MIT */
/* The example mixer: an exponential moving average. runtime/mixers/README.md goes through this file. */
#include "example_mixer/moving_average.h"

#include <stdio.h>

#include "core/try.h"
#include "graph/lowering.h"
#include "kernels/moving_average/carry.h"
#include "kernels/moving_average/scan.h"

enum { X = 0, ALPHA = 1 };

/* What a node keeps of its parameters. Zeroed before it is filled, so that equal nodes compare equal. */
struct moving_average_node {
    uint32_t reverse;
};

/* ---- building ---- */

weft_status weft_graph_moving_average(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                      weft_tensor alpha, const weft_moving_average_params *params) {
    struct moving_average_node node = {.reverse = params && params->reverse};
    weft_tensor inputs[] = {x, alpha};
    return weft_graph_add(out, graph, &weft_op_moving_average, inputs, 2, &node, sizeof node);
}

/* The elements of a weight are known while the graph is built. */
static weft_status check_alpha(const weft_graph *graph, uint32_t value) {
    const weft_weight *weight = graph->values[weft_graph_storage_of(graph, value)].weight;
    uint64_t count = weight ? weft_shape_elements(weight->shape) : 0;
    for (uint64_t i = 0; i < count; i++) {
        float alpha = ((const float *)weight->data)[i];
        if (!(alpha > 0.0F && alpha <= 1.0F)) {
            return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                             "moving_average: alpha[%llu] is %g, outside (0, 1]",
                             (unsigned long long)i, (double)alpha);
        }
    }
    return WEFT_OK;
}

static weft_status moving_average_infer(const weft_graph *graph, struct weft_node *node,
                                        weft_dtype *dtype, weft_shape *shape) {
    WEFT_TRY(weft_expect_rank(graph, node, X, "x", 3, "[B, n, d]"));
    const weft_shape x = *weft_node_shape(graph, node, X);
    WEFT_TRY(weft_expect_shape(graph, node, ALPHA, "alpha", weft_shape_of(x.dim[2])));
    WEFT_TRY(check_alpha(graph, node->input[ALPHA]));
    *dtype = WEFT_F32;
    *shape = x;
    return WEFT_OK;
}

/* ---- lowering ---- */

struct average {
    weft_shape shape;
    uint32_t chunks, reverse;
    uint32_t x, alpha, result; /* storages */
    uint32_t states;           /* [B, chunks, d]: averages at the chunks' ends; not of one chunk */
};

/* Each chunk by itself: for the states its end alone, otherwise all of it, from the state before it on. */
static void lower_scan(struct weft_lowering *lowering, const struct average *a, bool ends) {
    uint64_t count = (uint64_t)a->shape.dim[0] * a->chunks * a->shape.dim[2];
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, moving_average_scan, weft_grid_of_items(count),
                   .bind = {.x = a->x,
                            .alpha = a->alpha,
                            .states = ends ? WEFT_NO_STORAGE : a->states,
                            .result = ends ? a->states : a->result},
                   .push = {.count = (uint32_t)count,
                            .n = a->shape.dim[1],
                            .channels = a->shape.dim[2],
                            .chunks = a->chunks,
                            .reverse = a->reverse},
                   .constant = {.ends = ends});
    double elements = (double)weft_shape_elements(a->shape);
    dispatch->flops = 3.0 * elements;
    dispatch->bytes = 4.0 * (elements + (ends ? (double)count : elements));
}

/* The chunks' own ends become those of the whole sequence up to there. */
static void lower_carry(struct weft_lowering *lowering, const struct average *a) {
    uint64_t count = (uint64_t)a->shape.dim[0] * a->shape.dim[2];
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, moving_average_carry, weft_grid_of_items(count),
        .bind = {.alpha = a->alpha, .states = a->states},
        .push = {.count = (uint32_t)count, .channels = a->shape.dim[2], .chunks = a->chunks});
    dispatch->flops = 2.0 * (double)count * a->chunks;
    dispatch->bytes = 8.0 * (double)count * a->chunks;
}

static weft_status moving_average_lower(struct weft_lowering *lowering,
                                        const struct weft_node *node) {
    const struct moving_average_node *params = (const void *)node->params.bytes;
    weft_shape shape = *weft_node_shape(lowering->graph, node, X);
    struct average a = {.shape = shape,
                        .chunks = (shape.dim[1] - 1) / WEFT_MOVING_AVERAGE_SCAN_CHUNK + 1,
                        .reverse = params->reverse,
                        .x = weft_lower_value(lowering, node->input[X]),
                        .alpha = weft_lower_value(lowering, node->input[ALPHA]),
                        .result = weft_lower_value(lowering, node->output),
                        .states = WEFT_NO_STORAGE};
    if (a.chunks > 1) {
        uint64_t states = (uint64_t)shape.dim[0] * a.chunks * shape.dim[2];
        a.states = weft_lower_scratch(lowering, states * sizeof(float));
        lower_scan(lowering, &a, true);
        lower_carry(lowering, &a);
    }
    lower_scan(lowering, &a, false);
    return weft_lower_status(lowering);
}

/* ---- the row of the op table ---- */

static void moving_average_describe(const struct weft_node *node, char *text, size_t size) {
    const struct moving_average_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "%s", params->reverse ? "[reverse]" : "");
}

const struct weft_op weft_op_moving_average = {
    .name = "moving_average",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct moving_average_node),
    .infer = moving_average_infer,
    .describe = moving_average_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "chunks", .lower = moving_average_lower}),
};
