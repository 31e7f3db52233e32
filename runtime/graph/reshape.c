/* SPDX-License-Identifier: MIT */
/* The op without a kernel: a view of its input, of which lowering knows only the shape. */
#include "core/given.h"
#include "core/try.h"
#include "graph/op.h"

struct weft_reshape_node {
    weft_shape shape;
};

weft_status weft_graph_reshape(weft_tensor *out, weft_graph *graph, weft_tensor x,
                               weft_shape shape) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_reshape_node params = {.shape = shape};
    return weft_graph_add(out, graph, &weft_op_reshape, &x, 1, &params, sizeof params);
}

static weft_status reshape_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                 weft_shape *shape) {
    const struct weft_reshape_node *params = (const void *)node->params.bytes;
    const struct weft_value *x = &graph->values[node->input[0]];
    WEFT_TRY(weft_shape_check(params->shape, "reshape", &graph->host));
    if (weft_shape_elements(x->shape) != weft_shape_elements(params->shape)) {
        char from[WEFT_SHAPE_TEXT_SIZE];
        char to[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "reshape: %s and %s have different numbers of elements",
                         weft_shape_text(x->shape, from), weft_shape_text(params->shape, to));
    }
    *dtype = x->dtype;
    *shape = params->shape;
    return WEFT_OK;
}

const struct weft_op weft_op_reshape = {
    .name = "reshape",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_reshape_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_SHAPE(weft_reshape_node, shape)),
    .view = true,
    .infer = reshape_infer,
};
