/* SPDX-License-Identifier: MIT */
/* Convolutions over one or two axes: their windows as columns of a matrix, and its product with the weight. */
#include <string.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/conv/bias.h"
#include "kernels/conv/patches.h"
#include "ops/matmul.h"
#include "ops/sliding_window.h"

enum { X, WEIGHT, BIAS, INPUTS };

struct weft_conv_node {
    uint32_t strides[2], dilations[2];
    uint32_t before[2], after[2];
    uint32_t groups;
};

weft_status weft_graph_conv(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor weight,
                            const weft_conv_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    static const weft_conv_params usual;
    params = params ? params : &usual;
    struct weft_conv_node node = {.groups = params->groups ? params->groups : 1};
    memcpy(node.strides, params->strides, sizeof node.strides);
    memcpy(node.dilations, params->dilations, sizeof node.dilations);
    memcpy(node.before, params->before, sizeof node.before);
    memcpy(node.after, params->after, sizeof node.after);
    const weft_tensor inputs[INPUTS] = {x, weight, params->bias};
    return weft_graph_add(out, graph, &weft_op_conv, inputs, INPUTS, &node, sizeof node);
}

static weft_status windows_of(struct weft_windows *windows, const weft_graph *graph,
                              const struct weft_node *node) {
    const struct weft_conv_node *params = (const void *)node->params.bytes;
    return weft_windows_of(
        windows, graph, "conv", weft_node_shape(graph, node, X),
        &(struct weft_window_params){.sizes = weft_node_shape(graph, node, WEIGHT)->dim + 2,
                                     .strides = params->strides,
                                     .dilations = params->dilations,
                                     .before = params->before,
                                     .after = params->after},
        false);
}

/* weight [o, c/groups, …], bias [o]. */
static weft_status check_weight(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_conv_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, X);
    const weft_shape *weight = weft_node_shape(graph, node, WEIGHT);
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    WEFT_TRY(weft_expect_f32(graph, node, WEIGHT, "weight"));
    if (x->dim[1] % params->groups != 0 || weight->rank != x->rank ||
        weight->dim[1] != x->dim[1] / params->groups || weight->dim[0] % params->groups != 0) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "conv: weight must be [o, c/groups, …] with o and the channels c of x %s "
                         "multiples of groups %u, not %s",
                         weft_shape_text(*x, text[0]), params->groups,
                         weft_shape_text(*weight, text[1]));
    }
    if (weft_node_has_input(node, BIAS)) {
        WEFT_TRY(weft_expect_f32(graph, node, BIAS, "bias"));
        return weft_expect_shape(graph, node, BIAS, "bias", weft_shape_of(weight->dim[0]));
    }
    return WEFT_OK;
}

static weft_status conv_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    struct weft_windows windows;
    WEFT_TRY(weft_windows_expect(graph, node));
    WEFT_TRY(check_weight(graph, node));
    WEFT_TRY(windows_of(&windows, graph, node));
    *dtype = WEFT_F32;
    *shape = weft_windows_shape(&windows, weft_node_shape(graph, node, X),
                                weft_node_shape(graph, node, WEIGHT)->dim[0]);
    return WEFT_OK;
}

/* True if the windows are the elements of x themselves. */
static bool is_pointwise(const struct weft_windows *w) {
    bool is = true;
    for (uint32_t i = 0; i < 2; i++) {
        is = is && w->sizes[i] == 1 && w->strides[i] == 1 && w->before[i] == 0 && w->after[i] == 0;
    }
    return is;
}

static uint32_t lower_patches(struct weft_lowering *lowering, const struct weft_windows *w,
                              uint32_t x, uint64_t planes) {
    const uint64_t count = planes * w->sizes[0] * w->sizes[1] * weft_windows_count(w);
    if (!weft_lower_countable(lowering, (double)count, "elements of windows")) {
        return x;
    }
    const uint32_t patches = weft_lower_scratch(lowering, count * sizeof(float));
    struct weft_dispatch *dispatch = WEFT_LOWER(lowering, conv_patches, weft_grid_of_items(count),
                                                .bind = {.x = x, .result = patches},
                                                .push = {.count = (uint32_t)count,
                                                         .height = w->extents[0],
                                                         .width = w->extents[1],
                                                         .window_height = w->sizes[0],
                                                         .window_width = w->sizes[1],
                                                         .rows = w->counts[0],
                                                         .columns = w->counts[1],
                                                         .stride_y = w->strides[0],
                                                         .stride_x = w->strides[1],
                                                         .dilation_y = w->dilations[0],
                                                         .dilation_x = w->dilations[1],
                                                         .before_y = w->before[0],
                                                         .before_x = w->before[1]});
    dispatch->bytes = 8.0 * (double)count;
    return patches;
}

static void lower_bias(struct weft_lowering *lowering, uint32_t bias, uint32_t result,
                       uint32_t channels, uint32_t size, uint64_t count) {
    if (bias == WEFT_NO_STORAGE || !weft_lower_countable(lowering, (double)count, "elements")) {
        return;
    }
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, conv_bias, weft_grid_of_items(count), .bind = {.bias = bias, .result = result},
        .push = {.count = (uint32_t)count, .channels = channels, .size = size});
    dispatch->bytes = 8.0 * (double)count;
}

static weft_status conv_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_conv_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(lowering->graph, node, X);
    const uint32_t outputs = weft_node_shape(lowering->graph, node, WEIGHT)->dim[0];
    struct weft_windows windows;
    WEFT_TRY(windows_of(&windows, lowering->graph, node));
    const uint32_t size = (uint32_t)weft_windows_count(&windows);
    const uint32_t groups = params->groups;
    const uint32_t k = x.dim[1] / groups * windows.sizes[0] * windows.sizes[1];
    const uint32_t given = weft_lower_value(lowering, node->input[X]);
    const uint32_t weight = weft_lower_value(lowering, node->input[WEIGHT]);
    const uint32_t bias = weft_lower_optional(lowering, node->input[BIAS]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const uint32_t patches = is_pointwise(&windows) ? given
                                                    : lower_patches(lowering, &windows, given,
                                                                    (uint64_t)x.dim[0] * x.dim[1]);
    const uint32_t rows = outputs / groups;
    const struct weft_product product = {
        .a = {.storage = weight, .inner = rows * k, .row = k, .column = 1},
        .b = {.storage = patches,
              .outer = groups * k * size,
              .inner = k * size,
              .row = size,
              .column = 1},
        .c = {.storage = result,
              .outer = outputs * size,
              .inner = rows * size,
              .row = size,
              .column = 1},
        .m = rows,
        .n = size,
        .k = k,
        .batches = x.dim[0] * groups,
        .inner_count = groups,
        .alpha = 1.0F,
        .bias = WEFT_NO_STORAGE,
        .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
    lower_bias(lowering, bias, result, outputs, size, (uint64_t)x.dim[0] * outputs * size);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_conv = {
    .name = "conv",
    .min_inputs = WEIGHT + 1,
    .max_inputs = INPUTS,
    .params_size = sizeof(struct weft_conv_node),
    .fields = WEFT_FIELDS(
        WEFT_FIELD_PAIR(weft_conv_node, strides), WEFT_FIELD_PAIR(weft_conv_node, dilations),
        WEFT_FIELD_PAIR(weft_conv_node, before), WEFT_FIELD_PAIR(weft_conv_node, after),
        WEFT_FIELD(weft_conv_node, groups, COUNT)),
    .infer = conv_infer,
    .cuts = WEFT_CUTS({.inputs = 1 << X, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "windows", .lower = conv_lower}),
};
