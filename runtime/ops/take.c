/* SPDX-License-Identifier: MIT */
/* Slices and single elements by their indices along an axis. Inputs of the nodes: x, indices. */
#include <weft/movement.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/movement/take.h"
#include "kernels/movement/take_four.h"
#include "lower/divisor.h"
#include "lower/window.h"
#include "ops/around_axis.h"
#include "ops/axis.h"

enum { X, INDICES };

struct weft_take_node {
    uint32_t axis;
};

static uint32_t take_axis(const struct weft_node *node) {
    const struct weft_take_node *params = (const void *)node->params.bytes;
    return params->axis;
}

/** Outer and inner extents around the axis, of x or of an input with the same axes. */
static struct weft_axis axis_of(const weft_graph *graph, const struct weft_node *node,
                                uint32_t input) {
    return weft_axis_of(*weft_node_shape(graph, node, input), take_axis(node), take_axis(node));
}

static weft_status expect_indices(const weft_graph *graph, const struct weft_node *node) {
    const weft_dtype dtype = weft_node_dtype(graph, node, INDICES);
    WEFT_TRY(weft_expect_axis(graph, node, take_axis(node)));
    if (dtype != WEFT_I32) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: indices must be i32, not %s",
                         node->op->name, weft_dtype_name(dtype));
    }
    return WEFT_OK;
}

/* ---- lowering ---- */

/** The result as [outer, taken, inner] of x [outer, length, inner], and where an element's index is. */
struct taking {
    uint32_t length, inner, taken;
    uint32_t outer_stride, taken_stride, inner_stride;
    uint32_t missing;
};

static void lower_by(struct weft_lowering *lowering, const struct weft_shader *kernel,
                     const struct taking *t, const struct weft_window *windows, bool by_rows) {
    const struct weft_window x = windows[0], indices = windows[1], result = windows[2];
    const struct weft_divisor divisor[] = {weft_divisor_of(t->inner), weft_divisor_of(t->taken)};
    weft_lower_kernel(
        lowering, kernel, NULL,
        by_rows ? weft_grid_of_rows(result.count / t->inner, t->inner)
                : weft_grid_of_items(result.count),
        WEFT_KERNEL_ARGS(
            movement_take,
            .bind = {.x = x.storage, .indices = indices.storage, .result = result.storage},
            .push = {.count = result.count,
                     .first = result.first,
                     .inner = t->inner,
                     .inner_magic = divisor[0].magic,
                     .taken = t->taken,
                     .taken_magic = divisor[1].magic,
                     .shifts = weft_divisor_shifts(divisor, 2),
                     .axis_length = t->length,
                     .outer_stride = t->outer_stride,
                     .taken_stride = t->taken_stride,
                     .inner_stride = t->inner_stride,
                     .indices_first = indices.first,
                     .indices_window = indices.count,
                     .x_first = x.first,
                     .x_window = x.count,
                     .missing = t->missing},
            .constant = {.by_rows = by_rows}))
        ->bytes = 8.0 * (double)result.count + 4.0 * (double)indices.count;
}

/** windows: of x, the indices and the result, or these as a whole. Slices of whole fours stay together. */
static void lower_windows(struct weft_lowering *lowering, struct taking taking,
                          const struct weft_window *windows, bool whole) {
    if (whole && taking.inner_stride == 0 && weft_lower_by_rows(lowering, taking.inner)) {
        lower_by(lowering, &weft_shader_movement_take, &taking, windows, true);
    } else if (taking.inner_stride == 0 && taking.inner % 4 == 0) {
        const struct weft_window fours[] = {weft_window_in_fours(windows[0]), windows[1],
                                            weft_window_in_fours(windows[2])};
        taking.inner /= 4;
        lower_by(lowering, &weft_shader_movement_take_four, &taking, fours, false);
    } else {
        lower_by(lowering, &weft_shader_movement_take, &taking, windows, false);
    }
}

/** Any size. */
static bool lower_taking(struct weft_lowering *lowering, const struct weft_node *node,
                         struct taking taking) {
    const uint32_t results = weft_window_count(lowering, node->output);
    const uint32_t of_x = weft_window_count(lowering, node->input[X]);
    const uint32_t of_indices = weft_window_count(lowering, node->input[INDICES]);
    taking.missing = weft_node_dtype(lowering->graph, node, X) == WEFT_F32 ? 0x7fc00000U : 0;
    for (uint32_t r = 0; r < results; r++) {
        struct weft_window windows[3];
        windows[2] = weft_window_at(lowering, node->output, r);
        for (uint32_t i = 0; i < of_indices; i++) {
            windows[1] = weft_window_at(lowering, node->input[INDICES], i);
            for (uint32_t w = 0; w < of_x; w++) {
                windows[0] = weft_window_at(lowering, node->input[X], w);
                lower_windows(lowering, taking, windows, results * of_x * of_indices == 1);
            }
        }
    }
    return true;
}

/* ---- take ---- */

weft_status weft_graph_take(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor indices,
                            uint32_t axis) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_take_node params = {.axis = axis};
    weft_tensor inputs[] = {x, indices};
    return weft_graph_add(out, graph, &weft_op_take, inputs, 2, &params, sizeof params);
}

static weft_status take_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    const weft_shape x = *weft_node_shape(graph, node, X);
    const weft_shape indices = *weft_node_shape(graph, node, INDICES);
    const uint32_t axis = take_axis(node);
    WEFT_TRY(expect_indices(graph, node));
    if (x.rank - 1 + indices.rank > WEFT_MAX_RANK) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "take: of %s by %s gives more than %d axes", weft_shape_text(x, text[0]),
                         weft_shape_text(indices, text[1]), WEFT_MAX_RANK);
    }
    *dtype = weft_node_dtype(graph, node, X);
    *shape = (weft_shape){.rank = 0};
    for (uint32_t i = 0; i < axis; i++) {
        shape->dim[shape->rank++] = x.dim[i];
    }
    for (uint32_t i = 0; i < indices.rank; i++) {
        shape->dim[shape->rank++] = indices.dim[i];
    }
    for (uint32_t i = axis + 1; i < x.rank; i++) {
        shape->dim[shape->rank++] = x.dim[i];
    }
    return WEFT_OK;
}

static bool take_lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_graph *graph = lowering->graph;
    const struct weft_axis x = axis_of(graph, node, X);
    const struct taking taking = {
        .length = x.extent,
        .inner = (uint32_t)x.inner,
        .taken = (uint32_t)weft_shape_elements(*weft_node_shape(graph, node, INDICES)),
        .taken_stride = 1};
    return lower_taking(lowering, node, taking);
}

static weft_status take_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    take_lower_parts(lowering, node);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_take = {
    .name = "take",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_take_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_take_node, axis, U32)),
    .indices = {{.input = INDICES, .table = X, .axis = take_axis}},
    .infer = take_infer,
    .lower_parts = take_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "take", .lower = take_lower}),
};

/* ---- take_along ---- */

weft_status weft_graph_take_along(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  weft_tensor indices, uint32_t axis) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_take_node params = {.axis = axis};
    weft_tensor inputs[] = {x, indices};
    return weft_graph_add(out, graph, &weft_op_take_along, inputs, 2, &params, sizeof params);
}

static weft_status take_along_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const weft_shape x = *weft_node_shape(graph, node, X);
    const weft_shape indices = *weft_node_shape(graph, node, INDICES);
    const uint32_t axis = take_axis(node);
    WEFT_TRY(expect_indices(graph, node));
    weft_shape like = indices;
    like.dim[axis] = x.dim[axis];
    if (!weft_shape_equal(like, x)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "take_along: indices %s differ from x %s in more than axis %u",
                         weft_shape_text(indices, text[0]), weft_shape_text(x, text[1]), axis);
    }
    *dtype = weft_node_dtype(graph, node, X);
    *shape = indices;
    return WEFT_OK;
}

static bool take_along_lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_graph *graph = lowering->graph;
    const struct weft_axis x = axis_of(graph, node, X);
    const struct weft_axis indices = axis_of(graph, node, INDICES);
    const uint32_t inner = (uint32_t)x.inner;
    const struct taking taking = {.length = x.extent,
                                  .inner = inner,
                                  .taken = indices.extent,
                                  .outer_stride = indices.extent * inner,
                                  .taken_stride = inner,
                                  .inner_stride = 1};
    return lower_taking(lowering, node, taking);
}

static weft_status take_along_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    take_along_lower_parts(lowering, node);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_take_along = {
    .name = "take_along",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_take_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_take_node, axis, U32)),
    .indices = {{.input = INDICES, .table = X, .axis = take_axis}},
    .infer = take_along_infer,
    .lower_parts = take_along_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "take", .lower = take_along_lower}),
};
