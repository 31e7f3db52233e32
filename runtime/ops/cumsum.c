/* SPDX-License-Identifier: MIT */
/* Cumulative sums: within blocks in order, each begun by the cumulative sum of the blocks in front of it. */
#include "kernels/reduce/cumsum.h"

#include "core/given.h"
#include "core/try.h"
#include "kernels/reduce/cumsum_fours.h"
#include "kernels/reduce/cumsum_lanes.h"
#include "ops/columns.h"
#include "ops/reduce_pass.h"

enum { MOST_AT_ONCE = 128, BLOCK = 64 }; /* elements that an invocation goes through */

struct weft_cumsum_node {
    uint32_t axis;
    uint32_t exclusive; /* truth values without padding: equal nodes have equal bytes */
    uint32_t reverse;
};

weft_status weft_graph_cumsum(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t axis,
                              bool exclusive, bool reverse) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_cumsum_node params = {
        .axis = axis, .exclusive = exclusive, .reverse = reverse};
    return weft_graph_add(out, graph, &weft_op_cumsum, &x, 1, &params, sizeof params);
}

static weft_status cumsum_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_cumsum_node *params = (const void *)node->params.bytes;
    *dtype = weft_node_dtype(graph, node, 0);
    *shape = *weft_node_shape(graph, node, 0);
    return weft_expect_axis(graph, node, params->axis);
}

WEFT_VARIANTS(cumsum, "reduce/cumsum", WEFT_COLUMNS_ROWS(reduce_cumsum),
              WEFT_COLUMNS_FOURS_ROW(reduce_cumsum, weft_columns_suit_fours))

struct scan {
    bool integer, exclusive, reverse;
    uint32_t x, result;
    struct weft_axis axis;
};

static void lower_blocks(struct weft_lowering *lowering, const struct scan *scan, uint32_t block,
                         uint32_t carry) {
    const uint32_t blocks = weft_blocks_of(scan->axis.extent, block);
    const uint64_t count = scan->axis.outer * blocks * scan->axis.inner;
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_cumsum_variants, 1, reduce_cumsum,
                            .bind = {.x = scan->x, .carry = carry, .result = scan->result},
                            .push = {.count = (uint32_t)count,
                                     .extent = scan->axis.extent,
                                     .inner = (uint32_t)scan->axis.inner,
                                     .block = block,
                                     .blocks = blocks},
                            .constant = {.integer = scan->integer,
                                         .exclusive = scan->exclusive,
                                         .reverse = scan->reverse,
                                         .has_carry = carry != WEFT_NO_STORAGE});
    dispatch->flops = (double)scan->axis.outer * scan->axis.extent * (double)scan->axis.inner;
    dispatch->bytes = 8.0 * dispatch->flops;
}

/* Each level has 1/64 of the elements of the one before. */
static void lower_scan(struct weft_lowering *lowering, const struct scan *scan) {
    if (scan->axis.extent <= MOST_AT_ONCE) {
        lower_blocks(lowering, scan, scan->axis.extent, WEFT_NO_STORAGE);
        return;
    }
    struct scan above = *scan;
    above.axis.extent = weft_blocks_of(scan->axis.extent, BLOCK);
    above.exclusive = true;
    const uint64_t bytes = 4 * above.axis.outer * above.axis.extent * above.axis.inner;
    above.x = weft_lower_scratch(lowering, bytes);
    above.result = weft_lower_scratch(lowering, bytes);
    weft_lower_block_sums(lowering, above.x, scan->x, scan->axis, BLOCK, scan->integer);
    lower_scan(lowering, &above);
    lower_blocks(lowering, scan, BLOCK, above.result);
}

static weft_status cumsum_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_cumsum_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(lowering->graph, node, 0);
    const struct scan scan = {.integer = weft_node_dtype(lowering->graph, node, 0) == WEFT_I32,
                              .exclusive = params->exclusive,
                              .reverse = params->reverse,
                              .x = weft_lower_value(lowering, node->input[0]),
                              .result = weft_lower_value(lowering, node->output),
                              .axis = weft_axis_of(x, params->axis, params->axis)};
    lower_scan(lowering, &scan);
    return weft_lower_status(lowering);
}

static bool cumsum_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_cumsum_node *params = (const void *)node->params.bytes;
    return weft_axis_parts(lowering, node, params->axis);
}

const struct weft_op weft_op_cumsum = {
    .name = "cumsum",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_cumsum_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_cumsum_node, axis, U32),
                          WEFT_FIELD(weft_cumsum_node, exclusive, BOOL),
                          WEFT_FIELD(weft_cumsum_node, reverse, BOOL)),
    .infer = cumsum_infer,
    .lower_parts = cumsum_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "blocks", .lower = cumsum_lower}),
};
