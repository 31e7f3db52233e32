/* SPDX-License-Identifier: MIT */
/* SADERF's change of variables as an op: x times its factors, which other takes part in. */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "mixers/feature_balance.h"

weft_status weft_graph_balance_channels(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                        weft_tensor other) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    weft_tensor inputs[] = {x, other};
    return weft_graph_add(out, graph, &weft_op_balance_channels, inputs, 2, NULL, 0);
}

static weft_status balance_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                 weft_shape *shape) {
    WEFT_TRY(weft_expect_f32(graph, node, 0, "x"));
    WEFT_TRY(weft_expect_f32(graph, node, 1, "other"));
    const weft_shape x = *weft_node_shape(graph, node, 0);
    const weft_shape other = *weft_node_shape(graph, node, 1);
    if (x.rank != 3 || other.rank != 3 || x.dim[0] != other.dim[0] || x.dim[2] != other.dim[2]) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "balance_channels: x %s and other %s must be [B, n, d] and [B, m, d]",
                         weft_shape_text(x, text[0]), weft_shape_text(other, text[1]));
    }
    *dtype = WEFT_F32;
    *shape = x;
    return WEFT_OK;
}

static weft_status balance_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const struct weft_balance balance = {.x = weft_lower_value(lowering, node->input[0]),
                                         .other = weft_lower_value(lowering, node->input[1]),
                                         .tokens = x->dim[1],
                                         .other_tokens =
                                             weft_node_shape(lowering->graph, node, 1)->dim[1],
                                         .batch = x->dim[0],
                                         .heads = 1, /* heads are channels like others here */
                                         .width = x->dim[2]};
    weft_lower_balance_one(lowering, &balance, weft_lower_value(lowering, node->output));
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_balance_channels = {
    .name = "balance_channels",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = balance_infer,
    .cuts = WEFT_CUTS({.inputs = 1 | 2, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "channels", .lower = balance_lower}),
};
