/* SPDX-License-Identifier: MIT */
/* Indices of the largest and smallest elements along an axis. */
#include <weft/arithmetic.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/reduce/arg.h"
#include "kernels/reduce/arg_fours.h"
#include "ops/around_axis.h"
#include "ops/columns.h"

enum { MOST_AT_ONCE = 512, BLOCK = 128 }; /* elements that an invocation goes through */

struct weft_arg_node {
    uint32_t axis;
    uint32_t keep_axis; /* a truth value without padding: equal nodes have equal bytes */
};

weft_status weft_graph_argmax(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t axis,
                              bool keep_axis) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_arg_node params = {.axis = axis, .keep_axis = keep_axis};
    return weft_graph_add(out, graph, &weft_op_argmax, &x, 1, &params, sizeof params);
}

weft_status weft_graph_argmin(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t axis,
                              bool keep_axis) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_arg_node params = {.axis = axis, .keep_axis = keep_axis};
    return weft_graph_add(out, graph, &weft_op_argmin, &x, 1, &params, sizeof params);
}

static weft_status arg_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                             weft_shape *shape) {
    const struct weft_arg_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, 0);
    WEFT_TRY(weft_expect_axis(graph, node, params->axis));
    *dtype = WEFT_I32;
    *shape = (weft_shape){0};
    for (uint32_t i = 0; i < x.rank; i++) {
        if (i != params->axis || params->keep_axis) {
            shape->dim[shape->rank++] = i == params->axis ? 1 : x.dim[i];
        }
    }
    return WEFT_OK;
}

/* A pass over x, or over candidates of it. */
struct pass {
    bool smallest, integer;
    uint32_t x, candidates, result;
    struct weft_axis axis; /* of x */
    uint32_t extent;       /* of what is gone through */
};

static bool suits_fours(const struct weft_variant *variant, const void *args) {
    const struct weft_reduce_arg_args *a = args;
    (void)variant;
    return !a->constant.has_candidates &&
           weft_columns_are_fours(a->push.extent, a->push.inner, a->push.block, a->push.blocks);
}

WEFT_VARIANTS(arg, "reduce/arg", WEFT_GROUP_ROW(reduce_arg, weft_grid_of_first_items, 1.0F),
              WEFT_COLUMNS_FOURS_ROW(reduce_arg, suits_fours))

static void lower_pass(struct weft_lowering *lowering, const struct pass *pass, uint32_t block) {
    const uint32_t blocks = weft_blocks_of(pass->extent, block);
    const uint64_t count = pass->axis.outer * blocks * pass->axis.inner;
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_arg_variants, 1, reduce_arg,
        .bind = {.x = pass->x, .candidates = pass->candidates, .result = pass->result},
        .push = {.count = (uint32_t)count,
                 .whole = pass->axis.extent,
                 .extent = pass->extent,
                 .inner = (uint32_t)pass->axis.inner,
                 .block = block,
                 .blocks = blocks},
        .constant = {.smallest = pass->smallest,
                     .integer = pass->integer,
                     .has_candidates = pass->candidates != WEFT_NO_STORAGE});
    dispatch->flops = (double)pass->axis.outer * pass->extent * (double)pass->axis.inner;
    dispatch->bytes = 4.0 * dispatch->flops;
}

static weft_status arg_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_arg_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(lowering->graph, node, 0);
    struct pass pass = {.smallest = node->op == &weft_op_argmin,
                        .integer = weft_node_dtype(lowering->graph, node, 0) == WEFT_I32,
                        .x = weft_lower_value(lowering, node->input[0]),
                        .candidates = WEFT_NO_STORAGE,
                        .axis = weft_axis_of(x, params->axis, params->axis)};
    pass.extent = pass.axis.extent;
    while (pass.extent > MOST_AT_ONCE) {
        const uint32_t blocks = weft_blocks_of(pass.extent, BLOCK);
        pass.result = weft_lower_scratch(lowering, 4 * pass.axis.outer * blocks * pass.axis.inner);
        lower_pass(lowering, &pass, BLOCK);
        pass.candidates = pass.result;
        pass.extent = blocks;
    }
    pass.result = weft_lower_value(lowering, node->output);
    lower_pass(lowering, &pass, pass.extent);
    return weft_lower_status(lowering);
}

static bool arg_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_arg_node *params = (const void *)node->params.bytes;
    return weft_axis_parts(lowering, node, params->axis);
}

#define ARG_FIELDS \
    WEFT_FIELDS(WEFT_FIELD(weft_arg_node, axis, U32), WEFT_FIELD(weft_arg_node, keep_axis, BOOL))

const struct weft_op weft_op_argmax = {
    .name = "argmax",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_arg_node),
    .fields = ARG_FIELDS,
    .infer = arg_infer,
    .lower_parts = arg_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "blocks", .lower = arg_lower}),
};

const struct weft_op weft_op_argmin = {
    .name = "argmin",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_arg_node),
    .fields = ARG_FIELDS,
    .infer = arg_infer,
    .lower_parts = arg_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "blocks", .lower = arg_lower}),
};
