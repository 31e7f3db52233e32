/* SPDX-License-Identifier: MIT */
#include "ops/mask.h"

#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/elementwise/last.h"
#include "kernels/elementwise/mask.h"
#include "lower/divisor.h"

enum { X = 0, LENGTHS = 1 };

weft_status weft_graph_mask(weft_tensor *out, weft_graph *graph, weft_tensor x,
                            weft_tensor lengths) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const weft_tensor inputs[] = {x, lengths};
    return weft_graph_add(out, graph, &weft_op_mask, inputs, 2, NULL, 0);
}

uint32_t weft_lower_lengths(struct weft_lowering *lowering, const weft_node *node, uint32_t input) {
    return input != 0 && weft_node_has_input(node, input)
               ? weft_lower_value(lowering, node->input[input])
               : WEFT_NO_STORAGE;
}

void weft_lower_mask(struct weft_lowering *lowering, const struct weft_masked *masked) {
    uint32_t fill;
    if (!weft_lower_countable(lowering, (double)masked->count, "elements with lengths")) {
        return;
    }
    memcpy(&fill, &masked->fill, sizeof fill);
    const uint32_t sequence = (uint32_t)(masked->count / masked->batch);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, elementwise_mask, weft_grid_of_items(masked->count),
                   .bind = {.x = masked->x, .lengths = masked->lengths, .result = masked->result},
                   .push = {.count = (uint32_t)masked->count,
                            .sequence = sequence,
                            .period = masked->tokens,
                            .step = masked->columns,
                            .fill = fill,
                            .queries = masked->queries,
                            WEFT_INVERSE(sequence, sequence),
                            WEFT_INVERSE(period, masked->tokens),
                            WEFT_INVERSE(step, masked->columns),
                            WEFT_INVERSE(queries, masked->queries)},
                   .constant = {.has_lengths = masked->lengths != WEFT_NO_STORAGE,
                                .is_causal = masked->queries != 0});
    dispatch->bytes = 8.0 * (double)masked->count;
}

uint32_t weft_lower_masked_copy(struct weft_lowering *lowering, uint32_t x, uint32_t lengths,
                                const uint32_t shape[3]) {
    if (lengths == WEFT_NO_STORAGE) {
        return x;
    }
    const uint64_t count = (uint64_t)shape[0] * shape[1] * shape[2];
    const struct weft_masked masked = {.x = x,
                                       .result =
                                           weft_lower_scratch(lowering, count * sizeof(float)),
                                       .lengths = lengths,
                                       .count = count,
                                       .batch = shape[0],
                                       .tokens = shape[1],
                                       .columns = shape[2]};
    weft_lower_mask(lowering, &masked);
    return masked.result;
}

static weft_status mask_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    WEFT_TRY(weft_expect_f32(graph, node, X, "x"));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, X);
    if (shape->rank < 2) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "mask: x must be [B, n, ...], not %s",
                         weft_shape_text(*shape, text));
    }
    return WEFT_OK;
}

static weft_status mask_lower(struct weft_lowering *lowering, const weft_node *node) {
    const weft_shape *shape = weft_node_shape(lowering->graph, node, X);
    const uint64_t count = weft_shape_elements(*shape);
    const struct weft_masked masked = {.x = weft_lower_value(lowering, node->input[X]),
                                       .lengths = weft_lower_value(lowering, node->input[LENGTHS]),
                                       .result = weft_lower_value(lowering, node->output),
                                       .count = count,
                                       .batch = shape->dim[0],
                                       .tokens = shape->dim[1],
                                       .columns =
                                           (uint32_t)(count / shape->dim[0] / shape->dim[1])};
    weft_lower_mask(lowering, &masked);
    return weft_lower_status(lowering);
}

/* ---- the last token ---- */

weft_status weft_graph_gather_last(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                   weft_tensor lengths) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const weft_tensor inputs[] = {x, lengths};
    return weft_graph_add(out, graph, &weft_op_gather_last, inputs, 2, NULL, 0);
}

static weft_status last_infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    WEFT_TRY(weft_expect_rank(graph, node, X, "x", 3, "[B, n, d]"));
    const weft_shape *x = weft_node_shape(graph, node, X);
    *dtype = WEFT_F32;
    *shape = weft_shape_of(x->dim[0], x->dim[2]);
    return WEFT_OK;
}

static weft_status last_lower(struct weft_lowering *lowering, const weft_node *node) {
    const weft_shape *shape = weft_node_shape(lowering->graph, node, X);
    const uint64_t count = (uint64_t)shape->dim[0] * shape->dim[2];
    const uint32_t x = weft_lower_value(lowering, node->input[X]);
    const uint32_t lengths = weft_lower_value(lowering, node->input[LENGTHS]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, elementwise_last, weft_grid_of_items(count),
                   .bind = {.x = x, .lengths = lengths, .result = result},
                   .push = {.count = (uint32_t)count,
                            .tokens = shape->dim[1],
                            .columns = shape->dim[2],
                            WEFT_INVERSE(columns, shape->dim[2])});
    dispatch->bytes = 8.0 * (double)count;
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_gather_last = {
    .name = "gather_last",
    .min_inputs = 2,
    .max_inputs = 2,
    .lengths = {{.input = LENGTHS, .of = X}},
    .infer = last_infer,
    .cuts = WEFT_CUTS({.inputs = 1 << X | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "copy", .lower = last_lower}),
};

const struct weft_op weft_op_mask = {
    .name = "mask",
    .min_inputs = 2,
    .max_inputs = 2,
    .lengths = {{.input = LENGTHS, .of = X}},
    .infer = mask_infer,
    .cuts = WEFT_CUTS({.inputs = 1 << X | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = mask_lower}),
};
