/* SPDX-License-Identifier: MIT */
/* Short filters along the tokens, one for each channel, and their step. */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/conv1d/conv1d.h"
#include "lower/divisor.h"
#include "lower/lowering.h"
#include "mixers/step.h"
#include "ops/mask.h"

enum { X, WEIGHT, BIAS, LENGTHS, INPUTS };

struct weft_conv1d_node {
    uint32_t causal;
};

static weft_tensor bias_of(const weft_conv1d_params *params) {
    return params ? params->bias : (weft_tensor){0};
}

weft_status weft_graph_conv1d(weft_tensor *out, weft_graph *graph, weft_tensor x,
                              weft_tensor weight, const weft_conv1d_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_conv1d_node node = {.causal = params && params->causal};
    const weft_tensor inputs[INPUTS] = {x, weight, bias_of(params),
                                        params ? params->lengths : (weft_tensor){0}};
    return weft_graph_add(out, graph, &weft_op_conv1d, inputs, INPUTS, &node, sizeof node);
}

/* The operands of both ops. */
static weft_status conv1d_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const char *op = node->op->name;
    char text[WEFT_SHAPE_TEXT_SIZE];
    WEFT_TRY(weft_expect_rank(graph, node, X, "x", 3, "[B, n, d]"));
    WEFT_TRY(weft_expect_rank(graph, node, WEIGHT, "weight", 2, "[d, taps]"));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, X);
    const uint32_t d = shape->dim[2];
    const weft_shape weight = *weft_node_shape(graph, node, WEIGHT);
    if (weight.dim[0] != d) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: weight must be [%u, taps], not %s",
                         op, d, weft_shape_text(weight, text));
    }
    if (weft_node_has_input(node, BIAS)) {
        WEFT_TRY(weft_expect_f32(graph, node, BIAS, "bias"));
        const weft_shape bias = *weft_node_shape(graph, node, BIAS);
        if (!weft_shape_equal(bias, weft_shape_of(d))) {
            return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: bias must be [%u], not %s", op,
                             d, weft_shape_text(bias, text));
        }
    }
    return WEFT_OK;
}

/* STATE of the shader. */
enum state { NONE, KEPT, TAKEN };

struct filter {
    enum state state;
    uint32_t x, position, kept; /* storages */
    uint32_t before;
};

static void lower_filter(struct weft_lowering *lowering, const struct weft_node *node,
                         const struct filter *filter) {
    const weft_shape *shape = weft_node_shape(lowering->graph, node, X);
    const uint32_t taps = weft_node_shape(lowering->graph, node, WEIGHT)->dim[1];
    const uint64_t count = weft_shape_elements(*shape);
    /* A constant with the channels innermost, as those of x are. */
    const bool is_constant =
        lowering->graph->values[node->input[WEIGHT]].source == WEFT_VALUE_WEIGHT;
    const uint32_t weight = is_constant
                                ? weft_lower_transposed_weight(lowering, node->input[WEIGHT])
                                : weft_lower_value(lowering, node->input[WEIGHT]);
    const uint32_t bias = weft_lower_optional(lowering, node->input[BIAS]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    if (!weft_lower_countable(lowering, (double)count, "elements")) {
        return;
    }
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, conv1d_conv1d, weft_grid_of_items(count),
                   .bind = {.x = filter->x,
                            .weight = weight,
                            .bias = bias,
                            .position = filter->position,
                            .state = filter->kept,
                            .result = result},
                   .push = {.count = (uint32_t)count,
                            .n = shape->dim[1],
                            .d = shape->dim[2],
                            .taps = taps,
                            .before = filter->before,
                            .ring = taps > 1 ? taps - 1 : 1,
                            .weight_channel = is_constant ? 1 : taps,
                            .weight_tap = is_constant ? shape->dim[2] : 1,
                            WEFT_INVERSE(n, shape->dim[1]),
                            WEFT_INVERSE(d, shape->dim[2]),
                            WEFT_INVERSE(ring, taps > 1 ? taps - 1 : 1)},
                   .constant = {.state = filter->state, .has_bias = bias != WEFT_NO_STORAGE});
    dispatch->flops = 2.0 * taps * (double)count;
    dispatch->bytes = 8.0 * (double)count;
    dispatch->turns = taps;
}

static weft_status conv1d_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_conv1d_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, X);
    const uint32_t taps = weft_node_shape(lowering->graph, node, WEIGHT)->dim[1];
    const uint32_t lengths = weft_lower_lengths(lowering, node, LENGTHS);
    const uint32_t x = weft_lower_value(lowering, node->input[X]);
    const struct filter filter = {.x = weft_lower_masked_copy(lowering, x, lengths, shape->dim),
                                  .position = WEFT_NO_STORAGE,
                                  .kept = WEFT_NO_STORAGE,
                                  .before = params->causal ? taps - 1 : (taps - 1) / 2};
    lower_filter(lowering, node, &filter);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_conv1d = {
    .name = "conv1d",
    .min_inputs = 2,
    .max_inputs = INPUTS,
    .lengths = {{.input = LENGTHS, .of = X}},
    .params_size = sizeof(struct weft_conv1d_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_conv1d_node, causal, BOOL)),
    .infer = conv1d_infer,
    .cuts = WEFT_CUTS({.inputs = 1 << X | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "direct", .lower = conv1d_lower}),
};

/* ---- one token at a time ---- */

weft_status weft_graph_conv1d_step(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                   weft_tensor weight, const weft_step *step,
                                   const weft_conv1d_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    weft_shape filter;
    struct weft_step_call call = {.op = &weft_op_conv1d_step,
                                  .step = step,
                                  .input = {x, weight, bias_of(params)},
                                  .input_count = WEFT_STEP_INPUTS,
                                  .lengths = params ? params->lengths : (weft_tensor){0}};
    WEFT_TRY(weft_graph_get_tensor(graph, x, &call.shape[0], NULL));
    WEFT_TRY(weft_graph_get_tensor(graph, weight, &filter, NULL));
    WEFT_TRY(weft_check_step_place(graph, &call));
    /* infer reports other ranks. */
    const uint32_t d = call.shape[0].rank == 3 ? call.shape[0].dim[2] : 1;
    const uint32_t taps = filter.rank == 2 ? filter.dim[1] : 1;
    return weft_add_step(out, graph, &call, (double)d * (taps > 1 ? taps - 1 : 1), NULL, 0);
}

static weft_status step_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint32_t taps = weft_node_shape(lowering->graph, node, WEIGHT)->dim[1];
    const bool is_one = weft_node_shape(lowering->graph, node, X)->dim[1] == 1;
    const struct filter filter = {.state = is_one ? TAKEN : KEPT,
                                  .x = weft_lower_value(lowering, node->input[X]),
                                  .position =
                                      weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]),
                                  .kept = weft_lower_value(lowering, node->input[WEFT_STEP_STATE]),
                                  .before = taps - 1};
    lower_filter(lowering, node, &filter);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_conv1d_step = {
    .name = "conv1d_step",
    .min_inputs = WEIGHT + 1, /* the bias may be missing; the others weft_graph_conv1d_step gives */
    .max_inputs = WEFT_STEP_INPUTS,
    .state_input = WEFT_STEP_STATE,
    .infer = conv1d_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = step_lower}),
};
