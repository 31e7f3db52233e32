/* SPDX-License-Identifier: MIT */
/* Functions that the infer functions of ops share. */
#include "graph/op.h"

#include "core/given.h"

/** Value 0, a scalar, stands for an input that is not given; and another one where there is no graph or node. */
static const struct weft_value *value_of(const weft_graph *graph, const weft_node *node,
                                         uint32_t input) {
    static const struct weft_value none = {.dtype = WEFT_F32};
    if (!graph || !node) {
        return &none;
    }
    return &graph->values[weft_node_has_input(node, input) ? node->input[input] : 0];
}

bool weft_node_has_input(const weft_node *node, uint32_t input) {
    return node && input < node->input_count && node->input[input] != 0;
}

const weft_shape *weft_node_shape(const weft_graph *graph, const struct weft_node *node,
                                  uint32_t input) {
    return &value_of(graph, node, input)->shape;
}

weft_dtype weft_node_dtype(const weft_graph *graph, const weft_node *node, uint32_t input) {
    return value_of(graph, node, input)->dtype;
}

weft_status weft_expect_f32(const weft_graph *graph, const struct weft_node *node, uint32_t input,
                            const char *role) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), graph, node, role);
    weft_dtype dtype = weft_node_dtype(graph, node, input);
    if (dtype != WEFT_F32) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: %s must be f32, not %s",
                         node->op->name, role, weft_dtype_name(dtype));
    }
    return WEFT_OK;
}

static weft_status expect_given(const weft_graph *graph, const struct weft_node *node,
                                uint32_t input, const char *role) {
    if (!weft_node_has_input(node, input)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: %s is missing", node->op->name,
                         role);
    }
    return weft_expect_f32(graph, node, input, role);
}

weft_status weft_expect_rank(const weft_graph *graph, const struct weft_node *node, uint32_t input,
                             const char *role, uint32_t rank, const char *form) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), graph, node, role, form);
    WEFT_TRY(expect_given(graph, node, input, role));
    const weft_shape *shape = weft_node_shape(graph, node, input);
    if (shape->rank != rank) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: %s must be %s, not %s",
                         node->op->name, role, form, weft_shape_text(*shape, text));
    }
    return WEFT_OK;
}

weft_status weft_expect_shape(const weft_graph *graph, const struct weft_node *node, uint32_t input,
                              const char *role, weft_shape expected) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), graph, node, role);
    WEFT_TRY(expect_given(graph, node, input, role));
    const weft_shape *shape = weft_node_shape(graph, node, input);
    if (!weft_shape_equal(*shape, expected)) {
        char found[WEFT_SHAPE_TEXT_SIZE];
        char wanted[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: %s must be %s, not %s",
                         node->op->name, role, weft_shape_text(expected, wanted),
                         weft_shape_text(*shape, found));
    }
    return WEFT_OK;
}

weft_status weft_check_lengths(const weft_graph *graph, const struct weft_node *node) {
    static const char *const roles[] = {"lengths", "other_lengths"};
    for (uint32_t i = 0; i < 2; i++) {
        const struct weft_lengths *lengths = &node->op->lengths[i];
        if (lengths->input == 0 || !weft_node_has_input(node, lengths->input)) {
            continue;
        }
        const weft_shape found = *weft_node_shape(graph, node, lengths->input);
        const weft_shape wanted = weft_shape_of(weft_node_shape(graph, node, lengths->of)->dim[0]);
        const weft_dtype dtype = weft_node_dtype(graph, node, lengths->input);
        if (dtype != WEFT_I32 || !weft_shape_equal(found, wanted)) {
            char text[2][WEFT_SHAPE_TEXT_SIZE];
            return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: %s must be i32 %s, not %s %s",
                             node->op->name, roles[i], weft_shape_text(wanted, text[0]),
                             weft_dtype_name(dtype), weft_shape_text(found, text[1]));
        }
    }
    return WEFT_OK;
}

struct weft_rows weft_shape_rows(weft_shape shape) {
    struct weft_rows result = {.rows = 1, .columns = 1};
    if (shape.rank > 0) {
        result.columns = shape.dim[shape.rank - 1];
        result.rows = weft_shape_elements(shape) / result.columns;
    }
    return result;
}
