/* SPDX-License-Identifier: MIT */
/*
 * FLT's queries and keys: the scaled ones, and behind them the random Fourier features of their positions. Inputs: x,
 * frequencies, weights, positions, phases.
 */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "graph/lowering.h"

struct weft_flt_features_node {
    weft_flt_side side;
    uint32_t heads;
    float scale;
};

enum { X = 0, FREQUENCIES = 1, WEIGHTS = 2, POSITIONS = 3, PHASES = 4, INPUTS = 5 };

#define MAX_TOKEN_NUMBERS (1U << 24) /* whole numbers that a float32 has */

weft_status weft_graph_flt_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                    weft_tensor frequencies, weft_tensor weights,
                                    const weft_flt_features_params *params) {
    const weft_flt_features_params defaults = {.side = WEFT_FLT_QUERY};
    const weft_flt_features_params *p = params ? params : &defaults;
    const struct weft_flt_features_node node = {
        .side = p->side, .heads = p->heads ? p->heads : 1, .scale = p->scale};
    const weft_tensor inputs[INPUTS] = {x, frequencies, weights, p->positions, p->phases};
    return weft_graph_add(out, graph, &weft_op_flt_features, inputs, INPUTS, &node, sizeof node);
}

/* ---- checking ---- */

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct weft_flt_features_node *params = (void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, X);
    char text[WEFT_SHAPE_TEXT_SIZE];
    if ((uint32_t)params->side > WEFT_FLT_KEY) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "flt_features: side %u is neither %d (queries) nor %d (keys)",
                         (uint32_t)params->side, WEFT_FLT_QUERY, WEFT_FLT_KEY);
    }
    if (!isfinite(params->scale)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "flt_features: scale %g must be finite", (double)params->scale);
    }
    if (x.rank != 3) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "flt_features: x must be [B, n, d], not %s", weft_shape_text(x, text));
    }
    if (x.dim[2] % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "flt_features: %u heads do not divide %u channels", params->heads,
                         x.dim[2]);
    }
    if (node->input[PHASES] != 0 && params->side == WEFT_FLT_KEY) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "flt_features: phases are given, but keys take none: those of the weights "
                         "belong to the queries");
    }
    if (params->scale == 0.0F) {
        params->scale = (float)(1.0 / sqrt(sqrt((double)(x.dim[2] / params->heads))));
    }
    return WEFT_OK;
}

/* frequencies: [r, l] or [heads, r, l]. */
static weft_status check_frequencies(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_flt_features_node *params = (const void *)node->params.bytes;
    const weft_shape shape = *weft_node_shape(graph, node, FREQUENCIES);
    char text[WEFT_SHAPE_TEXT_SIZE];
    if ((shape.rank != 2 && shape.rank != 3) ||
        (shape.rank == 3 && shape.dim[0] != params->heads)) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "flt_features: frequencies must be [r, l] or [%u, r, l], not %s",
                         params->heads, weft_shape_text(shape, text));
    }
    return WEFT_OK;
}

/* r and l of checked frequencies. */
static uint32_t frequency_count(weft_shape frequencies) {
    return frequencies.dim[frequencies.rank - 2];
}

static uint32_t dimension_count(weft_shape frequencies) {
    return frequencies.dim[frequencies.rank - 1];
}

/* weights: [r] or [heads, r]. */
static weft_status check_weights(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_flt_features_node *params = (const void *)node->params.bytes;
    const uint32_t r = frequency_count(*weft_node_shape(graph, node, FREQUENCIES));
    const bool per_head = weft_node_shape(graph, node, WEIGHTS)->rank == 2;
    return weft_expect_shape(graph, node, WEIGHTS, "weights",
                             per_head ? weft_shape_of(params->heads, r) : weft_shape_of(r));
}

/* positions: [n, l] or [B, n, l]; without them, l = 1. */
static weft_status check_positions(const weft_graph *graph, const struct weft_node *node) {
    const weft_shape x = *weft_node_shape(graph, node, X);
    const uint32_t l = dimension_count(*weft_node_shape(graph, node, FREQUENCIES));
    if (node->input[POSITIONS] != 0) {
        const bool batched = weft_node_shape(graph, node, POSITIONS)->rank == 3;
        return weft_expect_shape(graph, node, POSITIONS, "positions",
                                 batched ? weft_shape_of(x.dim[0], x.dim[1], l)
                                         : weft_shape_of(x.dim[1], l));
    }
    if (l != 1) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "flt_features: frequencies have %u dimensions, and token numbers, which "
                         "stand for positions that are not given, 1",
                         l);
    }
    if (x.dim[1] > MAX_TOKEN_NUMBERS) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "flt_features: n is %u, and at most %u without positions", x.dim[1],
                         MAX_TOKEN_NUMBERS);
    }
    return WEFT_OK;
}

static weft_status check_all(const weft_graph *graph, struct weft_node *node) {
    weft_status status = weft_expect_f32(graph, node, X, "x");
    if (status == WEFT_OK) {
        status = weft_expect_f32(graph, node, FREQUENCIES, "frequencies");
    }
    if (status == WEFT_OK) {
        status = check_params(graph, node);
    }
    if (status == WEFT_OK) {
        status = check_frequencies(graph, node);
    }
    if (status == WEFT_OK) {
        status = check_weights(graph, node);
    }
    if (status == WEFT_OK && node->input[PHASES] != 0) {
        status = weft_expect_shape(graph, node, PHASES, "phases",
                                   *weft_node_shape(graph, node, WEIGHTS));
    }
    return status == WEFT_OK ? check_positions(graph, node) : status;
}

static weft_status flt_features_infer(const weft_graph *graph, struct weft_node *node,
                                      weft_dtype *dtype, weft_shape *shape) {
    const weft_status status = check_all(graph, node);
    if (status != WEFT_OK) {
        return status;
    }
    const struct weft_flt_features_node *params = (const void *)node->params.bytes;
    const uint32_t r = frequency_count(*weft_node_shape(graph, node, FREQUENCIES));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, X);
    const uint64_t channels = shape->dim[2] + UINT64_C(2) * r * params->heads;
    if (channels > UINT32_MAX) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "flt_features: %u heads of %u frequencies are too many", params->heads, r);
    }
    shape->dim[2] = (uint32_t)channels;
    return WEFT_OK;
}

/* ---- lowering ---- */

static void bind(struct weft_lowering *lowering, struct weft_dispatch *dispatch,
                 const struct weft_node *node, const uint32_t storage[INPUTS]) {
    for (uint32_t input = 0; input < INPUTS; input++) {
        const bool given = node->input[input] != 0;
        weft_dispatch_read(dispatch, storage[given ? input : X]); /* else bound and not read */
    }
    weft_dispatch_write(dispatch, weft_lower_value(lowering, node->output));
}

static weft_status flt_features_lower(struct weft_lowering *lowering,
                                      const struct weft_node *node) {
    const struct weft_flt_features_node *params = (const void *)node->params.bytes;
    const weft_graph *graph = lowering->graph;
    const weft_shape x = *weft_node_shape(graph, node, X);
    const weft_shape frequencies = *weft_node_shape(graph, node, FREQUENCIES);
    const uint32_t r = frequency_count(frequencies);
    const uint32_t l = dimension_count(frequencies);
    const bool positions = node->input[POSITIONS] != 0;
    const bool batched = positions && weft_node_shape(graph, node, POSITIONS)->rank == 3;
    const bool weights = weft_node_shape(graph, node, WEIGHTS)->rank == 2;
    const bool phases = node->input[PHASES] != 0;
    uint32_t storage[INPUTS] = {0};
    for (uint32_t input = 0; input < INPUTS; input++) {
        storage[input] = node->input[input] ? weft_lower_value(lowering, node->input[input]) : 0;
    }
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "flt/features");
    bind(lowering, dispatch, node, storage);
    weft_dispatch_specialize(dispatch, params->side == WEFT_FLT_KEY);
    weft_dispatch_specialize(dispatch, positions);
    weft_dispatch_specialize(dispatch, phases);
    const uint64_t rows = (uint64_t)x.dim[0] * x.dim[1] * params->heads;
    const uint32_t width = x.dim[2] / params->heads;
    weft_dispatch_items(dispatch, rows * (width + (uint64_t)r));
    weft_dispatch_push_u32(dispatch, width);
    weft_dispatch_push_u32(dispatch, r);
    weft_dispatch_push_u32(dispatch, params->heads);
    weft_dispatch_push_u32(dispatch, x.dim[1]);
    weft_dispatch_push_u32(dispatch, l);
    weft_dispatch_push_u32(dispatch, batched ? x.dim[1] * l : 0);
    weft_dispatch_push_u32(dispatch, frequencies.rank == 3 ? r * l : 0);
    weft_dispatch_push_u32(dispatch, weights ? r : 0);
    weft_dispatch_push_f32(dispatch, params->scale);
    dispatch->flops = (double)rows * (width + r * (40.0 * l + 60.0));
    dispatch->bytes = 4.0 * (double)rows * (2.0 * width + 2.0 * r);
    return weft_lower_status(lowering);
}

static void flt_features_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_flt_features_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%s, %u heads, scale %g]",
             params->side == WEFT_FLT_KEY ? "keys" : "queries", params->heads,
             (double)params->scale);
}

const struct weft_op weft_op_flt_features = {
    .name = "flt_features",
    .min_inputs = 3,
    .max_inputs = INPUTS,
    .params_size = sizeof(struct weft_flt_features_node),
    .infer = flt_features_infer,
    .describe = flt_features_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elements", .lower = flt_features_lower}),
};
