/* SPDX-License-Identifier: MIT */
/* Sums, means, largest and smallest elements and the like over any axes. */
#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "lower/cut.h"
#include "ops/reduce_pass.h"

enum { X, LENGTHS };

struct weft_reduce_node {
    weft_reduction kind;
    uint32_t axes[WEFT_MAX_RANK];
    uint32_t axis_count; /* 0: all axes */
    uint32_t keep_axes;  /* a truth value without padding: equal nodes have equal bytes */
};

static const char *const reduction_words[WEFT_REDUCTION_COUNT] = {
    "sum", "mean", "max", "min", "product", "sum_of_squares", "sum_of_sizes"};

const char *weft_reduction_name(weft_reduction reduction) {
    return (unsigned)reduction < WEFT_REDUCTION_COUNT ? reduction_words[reduction] : "unknown";
}

weft_status weft_graph_reduce(weft_tensor *out, weft_graph *graph, weft_reduction op, weft_tensor x,
                              const weft_reduce_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_reduce_node node = {.kind = op};
    weft_tensor inputs[] = {x, {0}};
    if (params) {
        memcpy(node.axes, params->axes, sizeof node.axes);
        node.axis_count = params->axis_count;
        node.keep_axes = params->keep_axes;
        inputs[LENGTHS] = params->lengths;
    }
    return weft_graph_add(out, graph, &weft_op_reduce, inputs, 2, &node, sizeof node);
}

/* Bits of the axes that are reduced. */
static uint32_t reduced_axes(const struct weft_reduce_node *params, weft_shape x) {
    uint32_t axes = params->axis_count == 0 ? (1U << x.rank) - 1 : 0;
    for (uint32_t i = 0; i < params->axis_count; i++) {
        axes |= 1U << params->axes[i];
    }
    return axes;
}

static weft_status check_axes(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_reduce_node *params = (const void *)node->params.bytes;
    uint32_t seen = 0;
    if (params->axis_count > WEFT_MAX_RANK) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT, "axis_count is %u, at most %d",
                              params->axis_count, WEFT_MAX_RANK);
    }
    for (uint32_t i = 0; i < params->axis_count; i++) {
        WEFT_TRY(weft_expect_axis(graph, node, params->axes[i]));
        if ((seen >> params->axes[i] & 1) != 0) {
            return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT, "axis %u is there twice",
                                  params->axes[i]);
        }
        seen |= 1U << params->axes[i];
    }
    return WEFT_OK;
}

static weft_status check_given_lengths(const weft_graph *graph, const struct weft_node *node,
                                       uint32_t axes) {
    if (weft_node_has_input(node, LENGTHS) && (axes & 3) != 2) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT,
                              "lengths are for x [B, n, ...] where axis 1 is reduced and axis 0 is "
                              "not");
    }
    return WEFT_OK;
}

static weft_status reduce_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_reduce_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, X);
    if ((unsigned)params->kind >= WEFT_REDUCTION_COUNT) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT, "unknown reduction number %d",
                              (int)params->kind);
    }
    if (params->kind == WEFT_REDUCTION_MEAN) {
        WEFT_TRY(weft_expect_f32(graph, node, X, "x of a mean"));
    }
    WEFT_TRY(check_axes(graph, node));
    const uint32_t axes = reduced_axes(params, x);
    WEFT_TRY(check_given_lengths(graph, node, axes));
    *dtype = weft_node_dtype(graph, node, X);
    *shape = (weft_shape){0};
    for (uint32_t i = 0; i < x.rank; i++) {
        if ((axes >> i & 1) == 0) {
            shape->dim[shape->rank++] = x.dim[i];
        } else if (params->keep_axes) {
            shape->dim[shape->rank++] = 1;
        }
    }
    return WEFT_OK;
}

static struct weft_reduce_pass first_pass(struct weft_lowering *lowering,
                                          const struct weft_node *node) {
    const struct weft_reduce_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(lowering->graph, node, X);
    struct weft_reduce_pass pass = {.kind = params->kind,
                                    .integer =
                                        weft_node_dtype(lowering->graph, node, X) == WEFT_I32,
                                    .x = weft_lower_value(lowering, node->input[X]),
                                    .lengths = weft_lower_optional(lowering, node->input[LENGTHS]),
                                    .batch = x.rank > 0 ? x.dim[0] : 1,
                                    .tokens = x.rank > 1 ? x.dim[1] : 1,
                                    .divisor = 1.0F};
    if (params->kind == WEFT_REDUCTION_SUM_OF_SQUARES) {
        pass.term = WEFT_TERM_SQUARE;
    } else if (params->kind == WEFT_REDUCTION_SUM_OF_SIZES) {
        pass.term = WEFT_TERM_SIZE;
    }
    if (params->kind == WEFT_REDUCTION_MEAN || pass.term != WEFT_TERM_ITSELF) {
        pass.kind = WEFT_REDUCTION_SUM;
    }
    return pass;
}

/* Notes by what a mean divides, in the last pass. */
static void divide(struct weft_reduce_pass *pass, weft_shape x, uint32_t axes) {
    double count = 1.0;
    pass->divides = true;
    pass->by_lengths = pass->lengths != WEFT_NO_STORAGE;
    for (uint32_t i = pass->by_lengths ? 2 : 0; i < x.rank; i++) {
        count *= (axes >> i & 1) != 0 ? x.dim[i] : 1;
    }
    pass->divisor = (float)count;
}

/* Neighbouring axes to reduce that end before `end`; axes of 1 are nothing to reduce. False: there are none. */
static bool next_axes(uint32_t *first, uint32_t *last, weft_shape shape, uint32_t axes,
                      uint32_t end) {
    while (end > 0 && ((axes >> (end - 1) & 1) == 0 || shape.dim[end - 1] == 1)) {
        end--;
    }
    if (end == 0) {
        return false;
    }
    *last = end - 1;
    for (*first = *last; *first > 0 && (axes >> (*first - 1) & 1) != 0;) {
        (*first)--;
    }
    return true;
}

static weft_status reduce_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_reduce_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(lowering->graph, node, X);
    const uint32_t axes = reduced_axes(params, x);
    struct weft_reduce_pass pass = first_pass(lowering, node);
    weft_shape left = x;
    uint32_t first = 0, last = 0;
    bool more = next_axes(&first, &last, x, axes, x.rank);
    do { /* of elements alone where there is nothing to reduce */
        pass.axis = more ? weft_axis_of(left, first, last)
                         : (struct weft_axis){weft_shape_elements(x), 1, 1};
        pass.counts = more && pass.lengths != WEFT_NO_STORAGE && first == 1;
        pass.step = pass.counts ? pass.axis.extent / pass.tokens : 1;
        for (uint32_t i = first; more && i <= last; i++) {
            left.dim[i] = 1;
        }
        more = more && next_axes(&first, &last, left, axes, first);
        pass.result = more ? weft_lower_scratch(lowering, 4 * weft_shape_elements(left))
                           : weft_lower_value(lowering, node->output);
        if (!more && params->kind == WEFT_REDUCTION_MEAN) {
            divide(&pass, x, axes);
        }
        weft_lower_reduce(lowering, &pass);
        pass.x = pass.result;
        pass.term = WEFT_TERM_ITSELF;
    } while (more);
    return weft_lower_status(lowering);
}

/* Along the axes in front of those that are reduced; with lengths along the first. */
static bool reduce_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_reduce_node *params = (const void *)node->params.bytes;
    const uint32_t axes = reduced_axes(params, *weft_node_shape(lowering->graph, node, X));
    const struct weft_cut *cuts = WEFT_CUTS({.inputs = 1 << X | 1 << LENGTHS, .axes = 1});
    uint32_t first = 0;
    if (weft_node_has_input(node, LENGTHS)) {
        return weft_cut_along(lowering, node, cuts);
    }
    while (first < WEFT_MAX_RANK && (axes >> first & 1) == 0) {
        first++;
    }
    return weft_axis_parts(lowering, node, first);
}

const struct weft_op weft_op_reduce = {
    .name = "reduce",
    .min_inputs = 1,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_reduce_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_WORDS(weft_reduce_node, kind, "kind", reduction_words),
                          WEFT_FIELD_ARRAY(weft_reduce_node, axes, axis_count, U32),
                          WEFT_FIELD(weft_reduce_node, keep_axes, BOOL)),
    .lengths = {{.input = LENGTHS, .of = X}},
    .infer = reduce_infer,
    .lower_parts = reduce_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "passes", .lower = reduce_lower}),
};
