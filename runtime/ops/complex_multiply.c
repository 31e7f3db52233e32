/* SPDX-License-Identifier: MIT */
/* Products of complex numbers, pairs along the last axis. */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/elementwise/complex_multiply.h"
#include "lower/cut.h"
#include "lower/divisor.h"

enum { A, B };

weft_status weft_graph_complex_multiply(weft_tensor *out, weft_graph *graph, weft_tensor a,
                                        weft_tensor b) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const weft_tensor inputs[] = {a, b};
    return weft_graph_add(out, graph, &weft_op_complex_multiply, inputs, 2, NULL, 0);
}

/* True if b has the last axes of a, of which the last is of pairs. */
static bool fits(const weft_shape *a, const weft_shape *b) {
    bool does = a->rank >= b->rank && b->rank > 0 && a->dim[a->rank - 1] == 2;
    for (uint32_t i = 1; does && i <= b->rank; i++) {
        does = a->dim[a->rank - i] == b->dim[b->rank - i];
    }
    return does;
}

static weft_status infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    WEFT_TRY(weft_expect_f32(graph, node, A, "a"));
    WEFT_TRY(weft_expect_f32(graph, node, B, "b"));
    const weft_shape *a = weft_node_shape(graph, node, A);
    const weft_shape *b = weft_node_shape(graph, node, B);
    if (!fits(a, b)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "complex_multiply: a %s must be […, 2], and b %s its last axes",
                         weft_shape_text(*a, text[0]), weft_shape_text(*b, text[1]));
    }
    *dtype = WEFT_F32;
    *shape = *a;
    return WEFT_OK;
}

static weft_status lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint64_t count = weft_shape_elements(*weft_node_shape(lowering->graph, node, A)) / 2;
    const uint64_t b_count = weft_shape_elements(*weft_node_shape(lowering->graph, node, B)) / 2;
    const uint32_t a = weft_lower_value(lowering, node->input[A]);
    const uint32_t b = weft_lower_value(lowering, node->input[B]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    if (!weft_lower_countable(lowering, 2.0 * (double)count, "elements")) {
        return weft_lower_status(lowering);
    }
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, elementwise_complex_multiply, weft_grid_of_items(count),
                   .bind = {.a = a, .b = b, .result = result},
                   .push = {.count = (uint32_t)count,
                            .b_count = (uint32_t)b_count,
                            WEFT_INVERSE(b_count, (uint32_t)b_count)});
    dispatch->flops = 6.0 * (double)count;
    dispatch->bytes = 24.0 * (double)count;
    return weft_lower_status(lowering);
}

/* b is cut with a where it has its first axis. */
static bool lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *a = weft_node_shape(lowering->graph, node, A);
    const weft_shape *b = weft_node_shape(lowering->graph, node, B);
    return a->rank > 1 &&
           weft_cut_along(lowering, node,
                          a->rank == b->rank ? WEFT_CUTS({.inputs = 1 << A | 1 << B, .axes = 1})
                                             : WEFT_CUTS({.inputs = 1 << A, .axes = 1}));
}

const struct weft_op weft_op_complex_multiply = {
    .name = "complex_multiply",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = infer,
    .lower_parts = lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = lower}),
};
