/* SPDX-License-Identifier: MIT */
/* Tensors one behind the other, and one with more elements around it: rows that one kernel puts together. */
#include <math.h>
#include <string.h>

#include <weft/movement.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/movement/join.h"
#include "kernels/movement/join_four.h"
#include "lower/divisor.h"
#include "lower/window.h"
#include "ops/around_axis.h"
#include "ops/axis.h"
#include "ops/strides.h"

#define PARTS 7 /* that the kernel binds at once, besides the result */

struct weft_concat_node {
    uint32_t axis;
};

struct weft_pad_node {
    uint32_t axis, before, after;
    float value;
};

/* ---- lowering ---- */

/** Layout of a row of the result. */
struct layout {
    uint32_t row; /* words */
    uint32_t count;
    struct weft_window part[PARTS];
    uint32_t begin;
    uint32_t end[PARTS];
    bool filled;
    uint32_t fill;
};

/** True if fours stay together. */
static bool has_fours(const struct layout *rows) {
    bool fours = rows->row % 4 == 0 && rows->begin % 4 == 0;
    for (uint32_t i = 0; i < rows->count && fours; i++) {
        fours = rows->end[i] % 4 == 0;
    }
    return fours;
}

static struct layout in_fours(struct layout rows) {
    rows.row /= 4;
    rows.begin /= 4;
    for (uint32_t i = 0; i < rows.count; i++) {
        rows.end[i] /= 4;
        rows.part[i] = weft_window_in_fours(rows.part[i]);
    }
    return rows;
}

static void lower_by(struct weft_lowering *lowering, const struct weft_shader *kernel,
                     struct weft_window result, const struct layout *rows) {
    const struct weft_divisor divisor = weft_divisor_of(rows->row);
    uint32_t part[PARTS];
    uint32_t end[PARTS];
    for (uint32_t i = 0; i < PARTS; i++) {
        part[i] = i < rows->count ? rows->part[i].storage : WEFT_NO_STORAGE;
        end[i] = rows->end[i < rows->count ? i : rows->count - 1];
    }
    weft_lower_kernel(lowering, kernel, NULL, weft_grid_of_items(result.count),
                      WEFT_KERNEL_ARGS(movement_join,
                                       .bind = {.x0 = part[0],
                                                .x1 = part[1],
                                                .x2 = part[2],
                                                .x3 = part[3],
                                                .x4 = part[4],
                                                .x5 = part[5],
                                                .x6 = part[6],
                                                .result = result.storage},
                                       .push = {.count = result.count,
                                                .first = result.first,
                                                .row = rows->row,
                                                .magic = divisor.magic,
                                                .shift = divisor.shift,
                                                .begin = rows->begin,
                                                .end0 = end[0],
                                                .end1 = end[1],
                                                .end2 = end[2],
                                                .end3 = end[3],
                                                .end4 = end[4],
                                                .end5 = end[5],
                                                .end6 = end[6],
                                                .offset = 0U - rows->part[0].first,
                                                .window = rows->part[0].count,
                                                .fill = rows->fill},
                                       .constant = {.fill = rows->filled}))
        ->bytes = 8.0 * (double)result.count;
}

static void lower_rows(struct weft_lowering *lowering, struct weft_window result,
                       const struct layout *rows) {
    if (has_fours(rows)) {
        const struct layout fours = in_fours(*rows);
        lower_by(lowering, &weft_shader_movement_join_four, weft_window_in_fours(result), &fours);
    } else {
        lower_by(lowering, &weft_shader_movement_join, result, rows);
    }
}

/** Lowers the rows of each window of the node's output. */
static void lower_windows(struct weft_lowering *lowering, const struct weft_node *node,
                          const struct layout *rows) {
    const uint32_t windows = weft_window_count(lowering, node->output);
    for (uint32_t i = 0; i < windows; i++) {
        lower_rows(lowering, weft_window_at(lowering, node->output, i), rows);
    }
}

/** Lowers the windows of an input at that place in a row; only the first window fills the rest of the row. */
static void lower_input(struct weft_lowering *lowering, const struct weft_node *node,
                        uint32_t input, struct layout rows) {
    const uint32_t windows = weft_window_count(lowering, node->input[input]);
    for (uint32_t i = 0; i < windows; i++) {
        rows.part[0] = weft_window_at(lowering, node->input[input], i);
        lower_windows(lowering, node, &rows);
        rows.filled = false;
    }
}

/* ---- concat ---- */

/** As many at a time as nodes can have. */
static weft_status concat_some(weft_tensor *out, weft_graph *graph, const weft_tensor *xs,
                               uint32_t count, const struct weft_concat_node *params) {
    weft_tensor next[WEFT_MAX_NODE_INPUTS];
    if (count <= WEFT_MAX_NODE_INPUTS) {
        return weft_graph_add(out, graph, &weft_op_concat, xs, count, params, sizeof *params);
    }
    uint64_t each =
        WEFT_MAX_NODE_INPUTS; /* a power of ten, so that all nodes but the last are full */
    while (each * WEFT_MAX_NODE_INPUTS < count) {
        each *= WEFT_MAX_NODE_INPUTS;
    }
    uint32_t made = 0;
    for (uint64_t first = 0; first < count; first += each) {
        const uint32_t some = (uint32_t)(count - first < each ? count - first : each);
        WEFT_TRY(concat_some(&next[made++], graph, xs + first, some, params));
    }
    return weft_graph_add(out, graph, &weft_op_concat, next, made, params, sizeof *params);
}

weft_status weft_graph_concat(weft_tensor *out, weft_graph *graph, const weft_tensor *xs,
                              uint32_t x_count, uint32_t axis) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(graph, host), xs, x_count);
    struct weft_concat_node params = {.axis = axis};
    for (uint32_t i = 0; i < x_count; i++) {
        if (xs[i].id == 0) { /* which weft_graph_add takes for an optional input */
            return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                             "concat: tensor %u is not set (id 0)", i);
        }
    }
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor made;
    WEFT_TRY(weft_graph_end(graph, mark, concat_some(&made, graph, xs, x_count, &params)));
    *out = made;
    return WEFT_OK;
}

static weft_status expect_beside(const weft_graph *graph, const struct weft_node *node,
                                 uint32_t input, uint32_t axis) {
    const weft_shape x = *weft_node_shape(graph, node, 0);
    const weft_dtype type = weft_node_dtype(graph, node, 0);
    weft_shape like = *weft_node_shape(graph, node, input);
    const weft_dtype other = weft_node_dtype(graph, node, input);
    like.dim[axis] = x.dim[axis];
    if (!node->input[input] || other != type || !weft_shape_equal(like, x)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "concat: input %u, %s %s, and input 0, %s %s, do not fit together along "
                         "axis %u",
                         input, weft_dtype_name(other),
                         weft_shape_text(*weft_node_shape(graph, node, input), text[0]),
                         weft_dtype_name(type), weft_shape_text(x, text[1]), axis);
    }
    return WEFT_OK;
}

static weft_status concat_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_concat_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_axis(graph, node, params->axis));
    uint64_t length = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        WEFT_TRY(expect_beside(graph, node, i, params->axis));
        length += weft_node_shape(graph, node, i)->dim[params->axis];
    }
    if (length > UINT32_MAX) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "concat: %llu elements along axis %u",
                         (unsigned long long)length, params->axis);
    }
    *dtype = weft_node_dtype(graph, node, 0);
    *shape = *weft_node_shape(graph, node, 0);
    shape->dim[params->axis] = (uint32_t)length;
    return WEFT_OK;
}

static bool concat_is_view(const weft_graph *graph, const struct weft_node *node) {
    (void)graph;
    return node->input_count == 1;
}

/** Words of a row that an input of a concat has. */
static uint32_t concat_words(const struct weft_lowering *lowering, const struct weft_node *node,
                             uint32_t input) {
    const struct weft_concat_node *params = (const void *)node->params.bytes;
    const struct weft_axis x =
        weft_axis_of(*weft_node_shape(lowering->graph, node, input), params->axis, params->axis);
    return (uint32_t)(x.extent * x.inner);
}

static struct layout concat_layout(const struct weft_lowering *lowering,
                                   const struct weft_node *node) {
    struct layout rows = {0};
    for (uint32_t i = 0; i < node->input_count; i++) {
        rows.row += concat_words(lowering, node, i);
    }
    return rows;
}

/* On processors part by part: each is rows that lie in the result's. */
static bool concat_lower_rows(struct weft_lowering *lowering, const struct weft_node *node,
                              uint32_t row) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!weft_lower_by_rows(lowering, concat_words(lowering, node, i))) {
            return false;
        }
    }
    uint32_t begin = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const uint32_t words = concat_words(lowering, node, i);
        const uint64_t all = weft_shape_elements(*weft_node_shape(lowering->graph, node, i));
        const struct weft_strides part = {
            .rank = 2, .extent = {(uint32_t)(all / words), words}, .stride = {words, 1}};
        const uint32_t x = weft_lower_value(lowering, node->input[i]);
        weft_lower_rows(lowering, &part, x, weft_lower_value(lowering, node->output), begin, row);
        begin += words;
    }
    return true;
}

static weft_status concat_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    struct layout rows = concat_layout(lowering, node);
    if (concat_lower_rows(lowering, node, rows.row)) {
        return weft_lower_status(lowering);
    }
    for (uint32_t first = 0; first < node->input_count; first += PARTS) {
        const uint32_t left = node->input_count - first;
        rows.count = left < PARTS ? left : PARTS;
        uint32_t end = rows.begin;
        for (uint32_t i = 0; i < rows.count; i++) {
            rows.part[i] = weft_window_at(lowering, node->input[first + i], 0);
            rows.end[i] = end += concat_words(lowering, node, first + i);
        }
        lower_windows(lowering, node, &rows);
        rows.begin = end;
    }
    return weft_lower_status(lowering);
}

/** Inputs one by one. */
static bool concat_lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    struct layout rows = concat_layout(lowering, node);
    rows.count = 1;
    for (uint32_t i = 0; i < node->input_count; i++) {
        rows.end[0] = rows.begin + concat_words(lowering, node, i);
        lower_input(lowering, node, i, rows);
        rows.begin = rows.end[0];
    }
    return true;
}

const struct weft_op weft_op_concat = {
    .name = "concat",
    .min_inputs = 1,
    .max_inputs = WEFT_MAX_NODE_INPUTS,
    .params_size = sizeof(struct weft_concat_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_concat_node, axis, U32)),
    .infer = concat_infer,
    .is_view = concat_is_view,
    .lower_parts = concat_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "join", .lower = concat_lower}),
};

/* ---- pad ---- */

weft_status weft_graph_pad(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t axis,
                           uint32_t before, uint32_t after, float value) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_pad_node params = {.axis = axis, .before = before, .after = after, .value = value};
    return weft_graph_add(out, graph, &weft_op_pad, &x, 1, &params, sizeof params);
}

static bool is_i32(float value) {
    return value >= -2147483648.0F && value < 2147483648.0F && truncf(value) == value;
}

static weft_status pad_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                             weft_shape *shape) {
    const struct weft_pad_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_axis(graph, node, params->axis));
    *dtype = weft_node_dtype(graph, node, 0);
    *shape = *weft_node_shape(graph, node, 0);
    if (*dtype == WEFT_I32 && !is_i32(params->value)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "pad: %g is no value of i32",
                         (double)params->value);
    }
    const uint64_t length =
        (uint64_t)shape->dim[params->axis] + params->before + (uint64_t)params->after;
    if (length > UINT32_MAX) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "pad: %llu elements along axis %u",
                         (unsigned long long)length, params->axis);
    }
    shape->dim[params->axis] = (uint32_t)length;
    return WEFT_OK;
}

static bool pad_is_view(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_pad_node *params = (const void *)node->params.bytes;
    (void)graph;
    return params->before == 0 && params->after == 0;
}

static uint32_t fill_word(const struct weft_pad_node *params, weft_dtype dtype) {
    const int32_t integer = dtype == WEFT_I32 ? (int32_t)params->value : 0;
    uint32_t word;
    if (dtype == WEFT_I32) {
        memcpy(&word, &integer, sizeof word);
    } else {
        memcpy(&word, &params->value, sizeof word);
    }
    return word;
}

static bool pad_lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_pad_node *params = (const void *)node->params.bytes;
    const weft_graph *graph = lowering->graph;
    const struct weft_axis x =
        weft_axis_of(*weft_node_shape(graph, node, 0), params->axis, params->axis);
    const uint32_t inner = (uint32_t)x.inner;
    const struct layout rows = {.row = (params->before + x.extent + params->after) * inner,
                                .count = 1,
                                .begin = params->before * inner,
                                .end = {(params->before + x.extent) * inner},
                                .filled = true,
                                .fill = fill_word(params, weft_node_dtype(graph, node, 0))};
    lower_input(lowering, node, 0, rows);
    return true;
}

static weft_status pad_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    pad_lower_parts(lowering, node);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_pad = {
    .name = "pad",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_pad_node),
    .fields =
        WEFT_FIELDS(WEFT_FIELD(weft_pad_node, axis, U32), WEFT_FIELD(weft_pad_node, before, U32),
                    WEFT_FIELD(weft_pad_node, after, U32), WEFT_FIELD(weft_pad_node, value, F32)),
    .infer = pad_infer,
    .is_view = pad_is_view,
    .lower_parts = pad_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "join", .lower = pad_lower}),
};
