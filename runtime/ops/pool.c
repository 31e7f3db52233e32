/* SPDX-License-Identifier: MIT */
/* Pooling over one or two axes. */
#include <string.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/pool/pool.h"
#include "lower/divisor.h"
#include "lower/lowering.h"
#include "ops/sliding_window.h"

static const char *const words[] = {[WEFT_POOL_MAX] = "max", [WEFT_POOL_AVERAGE] = "average"};

struct weft_pool_node {
    weft_pool_op op;
    uint32_t sizes[2], strides[2], dilations[2];
    uint32_t before[2], after[2];
    uint32_t counts_padding;
    uint32_t partial;
};

weft_status weft_graph_pool(weft_tensor *out, weft_graph *graph, weft_pool_op op, weft_tensor x,
                            const weft_pool_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    struct weft_pool_node node = {
        .op = op, .counts_padding = params->counts_padding, .partial = params->partial};
    memcpy(node.sizes, params->sizes, sizeof node.sizes);
    memcpy(node.strides, params->strides, sizeof node.strides);
    memcpy(node.dilations, params->dilations, sizeof node.dilations);
    memcpy(node.before, params->before, sizeof node.before);
    memcpy(node.after, params->after, sizeof node.after);
    return weft_graph_add(out, graph, &weft_op_pool, &x, 1, &node, sizeof node);
}

static weft_status windows_of(struct weft_windows *windows, const weft_graph *graph,
                              const struct weft_node *node) {
    const struct weft_pool_node *params = (const void *)node->params.bytes;
    return weft_windows_of(windows, graph, "pool", weft_node_shape(graph, node, 0),
                           &(struct weft_window_params){.sizes = params->sizes,
                                                        .strides = params->strides,
                                                        .dilations = params->dilations,
                                                        .before = params->before,
                                                        .after = params->after},
                           params->partial != 0);
}

static weft_status pool_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    const struct weft_pool_node *params = (const void *)node->params.bytes;
    struct weft_windows windows;
    WEFT_TRY(weft_windows_expect(graph, node));
    if ((uint32_t)params->op >= sizeof words / sizeof *words) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "pool: op %d is unknown",
                         (int)params->op);
    }
    WEFT_TRY(windows_of(&windows, graph, node));
    const weft_shape *x = weft_node_shape(graph, node, 0);
    *dtype = WEFT_F32;
    *shape = weft_windows_shape(&windows, x, x->dim[1]);
    return WEFT_OK;
}

static weft_status pool_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_pool_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, 0);
    struct weft_windows w;
    WEFT_TRY(windows_of(&w, lowering->graph, node));
    const uint64_t count = (uint64_t)shape->dim[0] * shape->dim[1] * weft_windows_count(&w);
    if (!weft_lower_countable(lowering, (double)count, "windows") ||
        !weft_lower_countable(lowering, (double)weft_shape_elements(*shape), "elements")) {
        return weft_lower_status(lowering);
    }
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const bool by_rows = weft_lower_by_rows(lowering, w.counts[1]);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, pool_pool,
        by_rows ? weft_grid_of_rows(count / w.counts[1], w.counts[1]) : weft_grid_of_items(count),
        .bind = {.x = x, .result = result},
        .push = {.count = (uint32_t)count,
                 .rows = w.counts[0],
                 WEFT_WINDOWS_PUSH(&w),
                 .padded_height = w.before[0] + w.extents[0] + w.after[0],
                 .padded_width = w.before[1] + w.extents[1] + w.after[1],
                 WEFT_INVERSE(rows, w.counts[0]),
                 WEFT_INVERSE(columns, w.counts[1])},
        .constant = {.is_average = params->op == WEFT_POOL_AVERAGE,
                     .counts_padding = params->counts_padding,
                     .by_rows = by_rows,
                     .stride_x = by_rows ? weft_windows_small_stride(&w) : 0});
    dispatch->flops = (double)count * w.sizes[0] * w.sizes[1];
    dispatch->bytes = 4.0 * ((double)count + (double)weft_shape_elements(*shape));
    dispatch->turns = weft_windows_turns(&w);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_pool = {
    .name = "pool",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_pool_node),
    .fields = WEFT_FIELDS(
        WEFT_FIELD_WORDS(weft_pool_node, op, "kind", words), WEFT_FIELD_PAIR(weft_pool_node, sizes),
        WEFT_FIELD_PAIR(weft_pool_node, strides), WEFT_FIELD_PAIR(weft_pool_node, dilations),
        WEFT_FIELD_PAIR(weft_pool_node, before), WEFT_FIELD_PAIR(weft_pool_node, after),
        WEFT_FIELD(weft_pool_node, counts_padding, BOOL),
        WEFT_FIELD(weft_pool_node, partial, BOOL)),
    .infer = pool_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "direct", .lower = pool_lower}),
};
