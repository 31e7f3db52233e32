/* SPDX-License-Identifier: MIT */
/* Copies, and the op that takes a token out of a sequence. */
#include "ops/copy.h"

#include <stdio.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/elementwise/copy.h"
#include "lower/cut.h"
#include "lower/divisor.h"

struct weft_gather_node {
    uint32_t position;
};

/** Runs of `inner` words, `stride` words apart, the first at `offset`. */
struct copy_runs {
    uint32_t inner;
    uint32_t stride;
    uint32_t offset;
};

/** Appends target[0 … count) = the runs of source. */
static void lower_runs(struct weft_lowering *lowering, uint32_t target, uint32_t source,
                       uint64_t count, struct copy_runs runs) {
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, elementwise_copy, weft_grid_of_items(count),
                   .bind = {.x = source, .result = target},
                   .push = {.count = (uint32_t)count,
                            .inner = runs.inner,
                            .stride = runs.stride,
                            .offset = runs.offset,
                            WEFT_INVERSE(inner, runs.inner)});
    dispatch->bytes = 8.0 * (double)count;
}

void weft_lower_copy(struct weft_lowering *lowering, uint32_t target, uint32_t source,
                     uint64_t count) {
    const uint64_t most = weft_cut_limit(lowering) / 4;
    const struct copy_runs whole = {.inner = (uint32_t)count, .stride = (uint32_t)count};
    if (count <= most) {
        lower_runs(lowering, target, source, count, whole);
        return;
    }
    for (uint64_t first = 0; first < count; first += most) {
        const uint64_t words = count - first < most ? count - first : most;
        const struct copy_runs part = {.inner = (uint32_t)words, .stride = (uint32_t)words};
        lower_runs(lowering, weft_lower_part(lowering, target, 4 * first, 4 * words),
                   weft_lower_part(lowering, source, 4 * first, 4 * words), words, part);
    }
}

weft_status weft_graph_gather(weft_tensor *out, weft_graph *graph, weft_tensor x,
                              uint32_t position) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_gather_node params = {.position = position};
    return weft_graph_add(out, graph, &weft_op_gather, &x, 1, &params, sizeof params);
}

static weft_status gather_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_gather_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, 0);
    WEFT_TRY(weft_expect_rank(graph, node, 0, "x", 3, "[B, n, d]"));
    if (params->position >= x->dim[1]) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "gather: position %u is outside %s",
                         params->position, weft_shape_text(*x, text));
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(x->dim[0], x->dim[2]);
    return WEFT_OK;
}

static weft_status gather_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_gather_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    uint32_t source = weft_lower_value(lowering, node->input[0]);
    uint32_t target = weft_lower_value(lowering, node->output);
    struct copy_runs runs = {.inner = x->dim[2],
                             .stride = x->dim[1] * x->dim[2],
                             .offset = params->position * x->dim[2]};
    lower_runs(lowering, target, source, (uint64_t)x->dim[0] * x->dim[2], runs);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_gather = {
    .name = "gather",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_gather_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_gather_node, position, U32)),
    .infer = gather_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "copy", .lower = gather_lower}),
};
