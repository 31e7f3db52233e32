/* SPDX-License-Identifier: MIT */
/*
 * FLT's queries and keys: the scaled ones, and behind them the random Fourier features of their positions. Inputs: x,
 * frequencies, weights, positions, phases.
 */
#include <stdio.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/flt/features.h"
#include "kernels/flt/features_lanes.h"
#include "lower/divisor.h"
#include "mixers/feature_rows.h"
#include "ops/row.h"

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
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
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
    if ((uint32_t)params->side > WEFT_FLT_KEY) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "flt_features: side %u is neither %d (queries) nor %d (keys)",
                         (uint32_t)params->side, WEFT_FLT_QUERY, WEFT_FLT_KEY);
    }
    WEFT_TRY(weft_check_feature_rows(&params->scale, graph, node, params->heads));
    if (node->input[PHASES] != 0 && params->side == WEFT_FLT_KEY) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "flt_features: phases must be absent for keys: the phases of the weights "
                         "belong to the queries");
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
                         "flt_features: without positions, frequencies must have one dimension, "
                         "that of token numbers, not %u",
                         l);
    }
    if (x.dim[1] > MAX_TOKEN_NUMBERS) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "flt_features: without positions, n %u must be at most %u", x.dim[1],
                         MAX_TOKEN_NUMBERS);
    }
    return WEFT_OK;
}

static weft_status flt_features_infer(const weft_graph *graph, struct weft_node *node,
                                      weft_dtype *dtype, weft_shape *shape) {
    const struct weft_flt_features_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_f32(graph, node, FREQUENCIES, "frequencies"));
    WEFT_TRY(check_params(graph, node));
    WEFT_TRY(check_frequencies(graph, node));
    WEFT_TRY(check_weights(graph, node));
    if (node->input[PHASES] != 0) {
        WEFT_TRY(weft_expect_shape(graph, node, PHASES, "phases",
                                   *weft_node_shape(graph, node, WEIGHTS)));
    }
    WEFT_TRY(check_positions(graph, node));
    const uint32_t width = weft_node_shape(graph, node, X)->dim[2] / params->heads;
    const uint32_t r = frequency_count(*weft_node_shape(graph, node, FREQUENCIES));
    return weft_infer_features(dtype, shape, graph, node, params->heads, width + UINT64_C(2) * r);
}

/* ---- lowering ---- */

static struct weft_grid lanes_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_flt_features_args *words = args;
    (void)variant, (void)batches;
    return weft_grid_of_groups((words->push.count / (words->push.width + words->push.r) - 1) /
                                   WEFT_FLT_FEATURES_LANES_ROWS +
                               1);
}

WEFT_VARIANTS(flt_features, "flt/features",
              WEFT_GROUP_ROW(flt_features, weft_grid_of_first_items, 1.0F),
              WEFT_LANES_ROWS(flt_features_lanes, lanes_grid, 2))

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
    const bool weights_of_heads = weft_node_shape(graph, node, WEIGHTS)->rank == 2;
    const uint64_t rows = (uint64_t)x.dim[0] * x.dim[1] * params->heads;
    const uint32_t width = x.dim[2] / params->heads;
    const uint64_t count = rows * (width + (uint64_t)r);
    uint32_t storage[INPUTS];
    for (uint32_t input = 0; input < INPUTS; input++) {
        storage[input] = weft_lower_optional(lowering, node->input[input]);
    }
    const uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_flt_features_variants, 1, flt_features,
                            .bind = {.x = storage[X],
                                     .frequencies = storage[FREQUENCIES],
                                     .weights = storage[WEIGHTS],
                                     .positions = storage[POSITIONS],
                                     .phases = storage[PHASES],
                                     .result = result},
                            .push = {.count = (uint32_t)count,
                                     .width = width,
                                     .r = r,
                                     .heads = params->heads,
                                     .tokens = x.dim[1],
                                     .dimensions = l,
                                     .position_batch = batched ? x.dim[1] * l : 0,
                                     .frequency_head = frequencies.rank == 3 ? r * l : 0,
                                     .weight_head = weights_of_heads ? r : 0,
                                     .scale = params->scale,
                                     WEFT_INVERSE(heads, params->heads),
                                     WEFT_INVERSE(tokens, x.dim[1]),
                                     WEFT_INVERSE(items, width + r)},
                            .constant = {.keys = params->side == WEFT_FLT_KEY,
                                         .has_positions = positions,
                                         .has_phases = node->input[PHASES] != 0});
    dispatch->flops = (double)rows * (width + r * (40.0 * l + 60.0));
    dispatch->bytes = 4.0 * (double)rows * (2.0 * width + 2.0 * r);
    return weft_lower_status(lowering);
}

static const char *const side_words[] = {[WEFT_FLT_QUERY] = "query", [WEFT_FLT_KEY] = "key"};

const struct weft_op weft_op_flt_features = {
    .name = "flt_features",
    .min_inputs = 3,
    .max_inputs = INPUTS,
    .params_size = sizeof(struct weft_flt_features_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_WORDS(weft_flt_features_node, side, "side", side_words),
                          WEFT_FIELD(weft_flt_features_node, heads, COUNT),
                          WEFT_FIELD(weft_flt_features_node, scale, F32)),
    .infer = flt_features_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elements", .lower = flt_features_lower}),
};
