/* SPDX-License-Identifier: MIT */
/* Permutations, slices and broadcasting: views of another order, which one kernel makes dense. */
#include <weft/movement.h>

#include "core/given.h"
#include "core/try.h"
#include "lower/window.h"
#include "ops/axis.h"
#include "ops/strides.h"

struct weft_permute_node {
    weft_shape axes;
};

struct weft_slice_node {
    uint32_t axis, start, count;
    int32_t step;
};

struct weft_expand_node {
    weft_shape shape;
};

/* ---- permute ---- */

weft_status weft_graph_permute(weft_tensor *out, weft_graph *graph, weft_tensor x,
                               weft_shape axes) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_permute_node params = {.axes = axes};
    return weft_graph_add(out, graph, &weft_op_permute, &x, 1, &params, sizeof params);
}

static bool is_permutation(weft_shape axes, uint32_t rank) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < axes.rank && axes.rank == rank; i++) {
        seen |= axes.dim[i] < rank ? 1U << axes.dim[i] : 0;
    }
    return axes.rank == rank && seen == (1U << rank) - 1;
}

static weft_status permute_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                 weft_shape *shape) {
    const struct weft_permute_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, 0);
    if (!is_permutation(params->axes, x.rank)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        weft_shape axes = params->axes;
        axes.rank = axes.rank < WEFT_MAX_RANK ? axes.rank : WEFT_MAX_RANK;
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "permute: axes %s are not those of %s, each once",
                         weft_shape_text(axes, text[0]), weft_shape_text(x, text[1]));
    }
    *dtype = weft_node_dtype(graph, node, 0);
    shape->rank = x.rank;
    for (uint32_t i = 0; i < x.rank; i++) {
        shape->dim[i] = x.dim[params->axes.dim[i]];
    }
    return WEFT_OK;
}

static struct weft_strides permute_strides(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_permute_node *params = (const void *)node->params.bytes;
    const struct weft_strides x = weft_strides_of(*weft_node_shape(graph, node, 0));
    struct weft_strides strides = {.rank = x.rank};
    for (uint32_t i = 0; i < x.rank; i++) {
        strides.extent[i] = x.extent[params->axes.dim[i]];
        strides.stride[i] = x.stride[params->axes.dim[i]];
    }
    return strides;
}

/* ---- slice ---- */

weft_status weft_graph_slice(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t axis,
                             uint32_t start, uint32_t count, int32_t step) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_slice_node params = {.axis = axis, .start = start, .count = count, .step = step};
    return weft_graph_add(out, graph, &weft_op_slice, &x, 1, &params, sizeof params);
}

static weft_status slice_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                               weft_shape *shape) {
    const struct weft_slice_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, 0);
    WEFT_TRY(weft_expect_axis(graph, node, params->axis));
    if (params->count == 0 || params->step == 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "slice: a count of %u and a step of %d; neither may be 0", params->count,
                         params->step);
    }
    const int64_t length = x.dim[params->axis];
    const int64_t last = (int64_t)(params->count - 1) * params->step + params->start;
    if (params->start >= length || params->count > length || last < 0 || last >= length) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "slice: %u elements from %u on in steps of %d, of axis %u with %u",
                         params->count, params->start, params->step, params->axis,
                         x.dim[params->axis]);
    }
    *dtype = weft_node_dtype(graph, node, 0);
    *shape = x;
    shape->dim[params->axis] = params->count;
    return WEFT_OK;
}

static struct weft_strides slice_strides(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_slice_node *params = (const void *)node->params.bytes;
    struct weft_strides strides = weft_strides_of(*weft_node_shape(graph, node, 0));
    strides.offset = params->start * strides.stride[params->axis];
    strides.extent[params->axis] = params->count;
    strides.stride[params->axis] *= (uint32_t)params->step;
    return strides;
}

/* ---- expand ---- */

weft_status weft_graph_expand(weft_tensor *out, weft_graph *graph, weft_tensor x,
                              weft_shape shape) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_expand_node params = {.shape = shape};
    return weft_graph_add(out, graph, &weft_op_expand, &x, 1, &params, sizeof params);
}

static weft_status expand_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_expand_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, 0);
    const weft_shape to = params->shape;
    WEFT_TRY(weft_shape_check(to, "expand", &graph->host));
    bool fits = x.rank <= to.rank;
    for (uint32_t i = 1; i <= x.rank && fits; i++) {
        fits = x.dim[x.rank - i] == 1 || x.dim[x.rank - i] == to.dim[to.rank - i];
    }
    if (!fits) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "expand: %s cannot be repeated to %s",
                         weft_shape_text(x, text[0]), weft_shape_text(to, text[1]));
    }
    *dtype = weft_node_dtype(graph, node, 0);
    *shape = to;
    return WEFT_OK;
}

static struct weft_strides expand_strides(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_expand_node *params = (const void *)node->params.bytes;
    const struct weft_strides x = weft_strides_of(*weft_node_shape(graph, node, 0));
    struct weft_strides strides = weft_strides_of(params->shape);
    for (uint32_t i = 0; i < strides.rank; i++) {
        const bool own = i + x.rank >= strides.rank;
        const uint32_t axis = i + x.rank - strides.rank; /* of x */
        strides.stride[i] = own && x.extent[axis] > 1 ? x.stride[axis] : 0;
    }
    return strides;
}

/* ---- lowering ---- */

/** Elements that lie one behind the other stay where they are, if a part of x may begin there. */
static weft_status lower_bindable(struct weft_lowering *lowering, const struct weft_node *node,
                                  const struct weft_strides *strides) {
    const struct weft_strides merged = weft_strides_merged(*strides);
    const bool one_run = merged.rank == 0 || (merged.rank == 1 && merged.stride[0] == 1);
    if (!one_run || !weft_window_share(lowering, node->output, node->input[0], merged.offset)) {
        weft_lower_strided(lowering, node, merged);
    }
    return weft_lower_status(lowering);
}

/* Tensors of any size: the kernel takes windows. */
#define STRIDED_ROW(name_)                                                               \
    static bool name_##_is_view(const weft_graph *graph, const struct weft_node *node) { \
        const struct weft_strides strides = name_##_strides(graph, node);                \
        return weft_strides_are_dense(&strides, *weft_node_shape(graph, node, 0));       \
    }                                                                                    \
    static bool name_##_lower_parts(struct weft_lowering *lowering,                      \
                                    const struct weft_node *node) {                      \
        weft_lower_strided(lowering, node, name_##_strides(lowering->graph, node));      \
        return true;                                                                     \
    }                                                                                    \
    static weft_status name_##_lower(struct weft_lowering *lowering,                     \
                                     const struct weft_node *node) {                     \
        const struct weft_strides strides = name_##_strides(lowering->graph, node);      \
        return lower_bindable(lowering, node, &strides);                                 \
    }

STRIDED_ROW(permute)
STRIDED_ROW(slice)
STRIDED_ROW(expand)

static bool permute_is_transpose(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_permute_node *params = (const void *)node->params.bytes;
    const uint32_t rank = params->axes.rank;
    bool exchanges = rank >= 2 && params->axes.dim[rank - 1] == rank - 2 &&
                     params->axes.dim[rank - 2] == rank - 1;
    (void)graph;
    for (uint32_t i = 0; i + 2 < rank && exchanges; i++) {
        exchanges = params->axes.dim[i] == i;
    }
    return exchanges;
}

static bool transpose_supports(const weft_graph *graph, const struct weft_node *node,
                               const weft_device_info *device) {
    const struct weft_strides strides = permute_strides(graph, node);
    struct weft_matrices matrices;
    (void)device;
    return weft_strides_are_transposed(&matrices, &strides);
}

static weft_status transpose_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_strides strides = permute_strides(lowering->graph, node);
    struct weft_matrices matrices = {0};
    if (weft_strides_are_transposed(&matrices, &strides)) {
        weft_lower_transposed(lowering, node, matrices);
    }
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_permute = {
    .name = "permute",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_permute_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_SHAPE(weft_permute_node, axes)),
    .infer = permute_infer,
    .is_view = permute_is_view,
    .is_transpose = permute_is_transpose,
    .lower_parts = permute_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS(
        {.name = "strided", .cost = {3.0F, 3.0F, 3.0F}, .lower = permute_lower},
        {.name = "tiles",
         .supports = transpose_supports,
         .limits = "matrices that are transposed",
         .lower = transpose_lower}),
};

const struct weft_op weft_op_slice = {
    .name = "slice",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_slice_node),
    .fields = WEFT_FIELDS(
        WEFT_FIELD(weft_slice_node, axis, U32), WEFT_FIELD(weft_slice_node, start, U32),
        WEFT_FIELD(weft_slice_node, count, COUNT), WEFT_FIELD(weft_slice_node, step, I32)),
    .infer = slice_infer,
    .is_view = slice_is_view,
    .lower_parts = slice_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "strided", .lower = slice_lower}),
};

const struct weft_op weft_op_expand = {
    .name = "expand",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_expand_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_SHAPE(weft_expand_node, shape)),
    .infer = expand_infer,
    .is_view = expand_is_view,
    .lower_parts = expand_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "strided", .lower = expand_lower}),
};
