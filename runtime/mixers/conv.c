/* SPDX-License-Identifier: MIT */
/* Convolutions over one or two axes: straight from x, or as products of the weight and a matrix whose columns are windows. */
#include <string.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/conv/direct.h"
#include "kernels/conv/finish.h"
#include "kernels/conv/patches.h"
#include "lower/cut.h"
#include "lower/divisor.h"
#include "mixers/conv_lowering.h"
#include "ops/matmul.h"

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

/* ---- lowering ---- */

uint64_t weft_conv_terms(const struct weft_conv *c) {
    return (uint64_t)c->channels * c->windows.sizes[0] * c->windows.sizes[1];
}

static uint64_t elements_of_result(const struct weft_conv *c) {
    return (uint64_t)c->batch * c->groups * c->outputs * weft_windows_count(&c->windows);
}

void weft_conv_count_costs(struct weft_dispatch *dispatch, const struct weft_conv *c,
                           double share) {
    const struct weft_windows *w = &c->windows;
    const double count = (double)elements_of_result(c);
    const double elements = (double)c->batch * c->groups * c->channels;
    dispatch->flops = share * 2.0 * (double)weft_conv_terms(c) * count;
    dispatch->bytes = share * 4.0 * (count + elements * w->extents[0] * w->extents[1]);
    dispatch->turns = c->channels * weft_windows_turns(w);
}

bool weft_conv_is_pointwise(const struct weft_windows *w) {
    bool is = true;
    for (uint32_t i = 0; i < 2; i++) {
        is = is && w->sizes[i] == 1 && w->strides[i] == 1 && w->before[i] == 0 && w->after[i] == 0;
    }
    return is;
}

/* Such windows lie in one row. */
static void join_rows(struct weft_windows *w) {
    if (weft_conv_is_pointwise(w)) {
        w->extents[1] *= w->extents[0];
        w->extents[0] = 1;
        w->counts[1] *= w->counts[0];
        w->counts[0] = 1;
    }
}

/* ---- direct ---- */

/* What an invocation of a direct convolution computes, in registers: windows of so many channels of the result. */
struct direct_tile {
    uint32_t outputs, columns;
};

/* It reads x once for all channels, and on processors the weight once for two vectors of columns. */
static struct direct_tile direct_tile_of(const struct weft_lowering *lowering,
                                         const struct weft_conv *c) {
    enum { MOST = 8 };
    struct direct_tile tile = {.outputs = 1, .columns = 1};
    while (tile.outputs < MOST && 2 * tile.outputs <= c->outputs) {
        tile.outputs *= 2;
    }
    if (weft_lower_on_processor(lowering) && c->windows.counts[1] > WEFT_CONV_DIRECT_COLUMNS) {
        tile.columns = 2;
    }
    return tile;
}

static struct weft_grid direct_grid(const struct weft_conv *c, struct direct_tile tile) {
    const uint64_t tiles = (c->outputs - 1) / tile.outputs + 1;
    const uint64_t lines = c->batch * c->groups * tiles * c->windows.counts[0];
    const uint64_t blocks =
        (c->windows.counts[1] - 1) / (WEFT_CONV_DIRECT_COLUMNS * tile.columns) + 1;
    return weft_grid_of_groups(((lines - 1) / WEFT_CONV_DIRECT_ROWS + 1) * blocks);
}

/*
 * Which way a convolution goes; the sums are the same. Windows that overlap would be written to memory several times. With many
 * channels of the result products, which read them from caches, pay for that.
 */
static bool is_direct(const struct weft_conv *c) {
    enum { FEW_OUTPUTS = 8, MANY_OUTPUTS = 48 };
    const struct weft_windows *w = &c->windows;
    const uint64_t size = (uint64_t)w->sizes[0] * w->sizes[1];
    const bool overlap = size > (uint64_t)w->strides[0] * w->strides[1];
    return !weft_conv_is_pointwise(w) && c->outputs < (overlap ? MANY_OUTPUTS : FEW_OUTPUTS);
}

static void lower_direct(struct weft_lowering *lowering, const struct weft_conv *c) {
    const struct weft_windows *w = &c->windows;
    const double count = (double)elements_of_result(c);
    const struct direct_tile tile = direct_tile_of(lowering, c);
    if (!weft_lower_countable(lowering, count, "elements")) {
        return;
    }
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, conv_direct, direct_grid(c, tile),
        .bind = {.x = c->x, .weight = c->weight, .bias = c->bias, .result = c->result},
        .push = {.pairs = c->batch * c->groups,
                 .groups = c->groups,
                 .channels = c->channels,
                 .outputs = c->outputs,
                 .rows = w->counts[0],
                 WEFT_WINDOWS_PUSH(w)},
        .constant = {.activation = (int32_t)c->activation,
                     .has_bias = c->bias != WEFT_NO_STORAGE,
                     .outputs = tile.outputs,
                     .stride_x =
                         weft_lower_on_processor(lowering) ? weft_windows_small_stride(w) : 0,
                     .columns_each = tile.columns});
    weft_conv_count_costs(dispatch, c, 1.0);
}

/* ---- by products ---- */

/* Some of the windows, in the order of the result's elements. */
struct stretch {
    uint64_t first, count;
};

uint32_t weft_conv_lower_patches(struct weft_lowering *lowering, const struct weft_conv *c,
                                 uint64_t first, uint64_t windows, bool as_rows) {
    const struct weft_windows *w = &c->windows;
    const uint64_t count = c->batch * c->groups * weft_conv_terms(c) * windows;
    if (!weft_lower_countable(lowering, (double)count, "elements of windows")) {
        return c->x;
    }
    const uint32_t patches = weft_lower_scratch(lowering, count * sizeof(float));
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, conv_patches, weft_grid_of_items(count), .bind = {.x = c->x, .result = patches},
        .push = {.count = (uint32_t)count,
                 .windows = (uint32_t)windows,
                 .first = (uint32_t)first,
                 WEFT_WINDOWS_PUSH(w),
                 .terms = (uint32_t)weft_conv_terms(c),
                 WEFT_INVERSE(windows, (uint32_t)windows),
                 WEFT_INVERSE(columns, w->counts[1]),
                 WEFT_INVERSE(window_height, w->sizes[0]),
                 WEFT_INVERSE(window_width, w->sizes[1]),
                 WEFT_INVERSE(terms, (uint32_t)weft_conv_terms(c))},
        .constant = {.as_rows = as_rows});
    dispatch->bytes = 8.0 * (double)count;
    return patches;
}

/* Rows of a product are channels, so that it adds their bias; where each of several groups would begin anew, a dispatch does. */
static bool finishes_itself(const struct weft_conv *c) {
    return c->groups == 1;
}

/* The products of a stretch, whose windows are the columns of `patches`. */
static void lower_stretch(struct weft_lowering *lowering, const struct weft_conv *c,
                          uint32_t patches, struct stretch stretch) {
    const uint32_t k = (uint32_t)weft_conv_terms(c);
    const uint32_t size = (uint32_t)weft_windows_count(&c->windows);
    const uint32_t count = (uint32_t)stretch.count;
    const uint64_t first = stretch.first * sizeof(float);
    const uint32_t result = first == 0
                                ? c->result
                                : weft_lower_part(lowering, c->result, first,
                                                  elements_of_result(c) * sizeof(float) - first);
    const struct weft_product product = {
        .a = {.storage = c->weight, .inner = c->outputs * k, .row = k, .column = 1},
        .b = {.storage = patches,
              .outer = c->groups * k * count,
              .inner = k * count,
              .row = count,
              .column = 1},
        .c = {.storage = result,
              .outer = c->groups * c->outputs * size,
              .inner = c->outputs * size,
              .row = size,
              .column = 1},
        .m = c->outputs,
        .n = count,
        .k = k,
        .batches = c->batch * c->groups,
        .inner_count = c->groups,
        .alpha = 1.0F,
        .bias = finishes_itself(c) ? c->bias : WEFT_NO_STORAGE,
        .bias_of_rows = true,
        .activation = finishes_itself(c) ? c->activation : WEFT_ACTIVATION_NONE,
        .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
}

/* How many windows are in memory at once: as many as can be bound, and not more than is worth its memory, but a few. */
static uint64_t windows_at_once(const struct weft_lowering *lowering, const struct weft_conv *c) {
    const uint64_t step = weft_cut_step(lowering, sizeof(float));
    const uint64_t bytes = c->batch * c->groups * weft_conv_terms(c) * sizeof(float);
    const uint64_t worth = (UINT64_C(32) << 20) / bytes / step * step;
    return weft_cut_count(lowering, worth == 0 ? step : worth, step, bytes);
}

/* What products of several groups do not do. */
static void lower_finish(struct weft_lowering *lowering, const struct weft_conv *c) {
    const uint64_t count = elements_of_result(c);
    if (finishes_itself(c) ||
        (c->bias == WEFT_NO_STORAGE && c->activation == WEFT_ACTIVATION_NONE) ||
        !weft_lower_countable(lowering, (double)count, "elements")) {
        return;
    }
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, conv_finish, weft_grid_of_items(count),
        .bind = {.bias = c->bias, .result = c->result},
        .push = {.count = (uint32_t)count,
                 .channels = c->groups * c->outputs,
                 WEFT_INVERSE(channels, c->groups * c->outputs),
                 WEFT_INVERSE(size, (uint32_t)weft_windows_count(&c->windows))},
        .constant = {.activation = (int32_t)c->activation, .has_bias = c->bias != WEFT_NO_STORAGE});
    dispatch->bytes = 8.0 * (double)count;
}

static void lower_products(struct weft_lowering *lowering, const struct weft_conv *c) {
    const uint64_t size = weft_windows_count(&c->windows);
    if (weft_conv_is_pointwise(&c->windows)) {
        lower_stretch(lowering, c, c->x, (struct stretch){.count = size});
    } else {
        const uint64_t most = windows_at_once(lowering, c);
        for (uint64_t first = 0; first < size && lowering->status == WEFT_OK; first += most) {
            const uint64_t left = size - first;
            const struct stretch stretch = {.first = first, .count = left < most ? left : most};
            const uint32_t patches =
                weft_conv_lower_patches(lowering, c, first, stretch.count, false);
            lower_stretch(lowering, c, patches, stretch);
        }
    }
    lower_finish(lowering, c);
}

static weft_status conv_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_conv_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(lowering->graph, node, X);
    struct weft_conv c = {.batch = x.dim[0],
                          .groups = params->groups,
                          .channels = x.dim[1] / params->groups,
                          .outputs = weft_node_shape(lowering->graph, node, WEIGHT)->dim[0] /
                                     params->groups,
                          .activation = node->epilogue.activation};
    WEFT_TRY(windows_of(&c.windows, lowering->graph, node));
    c.x = weft_lower_value(lowering, node->input[X]);
    c.bias = weft_lower_optional(lowering, node->input[BIAS]);
    c.result = weft_lower_value(lowering, node->output);
    join_rows(&c.windows);
    if (weft_conv_is_rows(lowering, &c, node->input[WEIGHT])) {
        weft_conv_lower_rows(lowering, &c, node->input[WEIGHT]);
        return weft_lower_status(lowering);
    }
    c.weight = weft_lower_value(lowering, node->input[WEIGHT]);
    if (weft_conv_is_depthwise(lowering, &c)) {
        weft_conv_lower_depthwise(lowering, &c);
    } else if (weft_conv_is_flat(lowering, &c)) {
        weft_conv_lower_flat(lowering, &c);
    } else if (is_direct(&c)) {
        lower_direct(lowering, &c);
    } else {
        lower_products(lowering, &c);
    }
    return weft_lower_status(lowering);
}

/* ---- in parts ---- */

/* Slices `first` to first + count - 1 of `pieces` along an axis before which all others count 1. */
static uint32_t cut_axis(struct weft_lowering *lowering, uint32_t value, uint32_t axis,
                         uint32_t pieces, struct stretch stretch) {
    if (value == 0) {
        return 0;
    }
    weft_shape shape = lowering->graph->values[value].shape;
    const uint64_t slice = weft_shape_elements(shape) / pieces;
    shape.dim[axis] = (uint32_t)(shape.dim[axis] / pieces * stretch.count);
    return weft_cut_value(lowering, value, stretch.first * slice, shape, 0);
}

/* The slices that come before a part are multiples of this. */
static uint64_t step_of(const struct weft_lowering *lowering, uint32_t value, uint32_t pieces) {
    const weft_shape shape = lowering->graph->values[value].shape;
    return value == 0
               ? 1
               : weft_cut_step(lowering, weft_shape_elements(shape) / pieces * sizeof(float));
}

static void lower_pieces(struct weft_lowering *lowering, const struct weft_node *node,
                         uint32_t pieces, struct stretch stretch) {
    struct weft_node part = *node;
    struct weft_conv_node params;
    memcpy(&params, node->params.bytes, sizeof params);
    if (params.groups > 1) {
        params.groups = (uint32_t)stretch.count;
        memcpy(part.params.bytes, &params, sizeof params);
        part.input[X] = cut_axis(lowering, node->input[X], 1, pieces, stretch);
    }
    part.input[WEIGHT] = cut_axis(lowering, node->input[WEIGHT], 0, pieces, stretch);
    part.input[BIAS] = cut_axis(lowering, node->input[BIAS], 0, pieces, stretch);
    part.output = cut_axis(lowering, node->output, 1, pieces, stretch);
    weft_lower_node(lowering, &part);
}

/* Of one sequence or image: groups, or channels of the result, each half of which reads all of x. */
static bool lower_channels(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_conv_node *params = (const void *)node->params.bytes;
    const uint32_t pieces = params->groups > 1
                                ? params->groups
                                : weft_node_shape(lowering->graph, node, WEIGHT)->dim[0];
    const uint32_t cut[] = {node->output, node->input[WEIGHT], node->input[BIAS],
                            params->groups > 1 ? node->input[X] : 0};
    uint64_t step = 1;
    for (uint32_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        const uint64_t own = step_of(lowering, cut[i], pieces);
        step = own > step ? own : step; /* powers of two */
    }
    const uint64_t count = (pieces / 2 + step - 1) / step * step;
    if (count == 0 || count >= pieces) {
        return false;
    }
    for (uint64_t first = 0; first < pieces && lowering->status == WEFT_OK; first += count) {
        const uint64_t left = pieces - first;
        lower_pieces(lowering, node, pieces,
                     (struct stretch){.first = first, .count = left < count ? left : count});
    }
    return true;
}

static bool conv_lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    return weft_node_shape(lowering->graph, node, X)->dim[0] > 1
               ? weft_cut_along(lowering, node, WEFT_CUTS({.inputs = 1 << X, .axes = 1}))
               : lower_channels(lowering, node);
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
    .fusable = WEFT_FUSE_ACTIVATION,
    .infer = conv_infer,
    .lower_parts = conv_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "windows", .lower = conv_lower}),
};
