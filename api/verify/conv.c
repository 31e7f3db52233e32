/* SPDX-License-Identifier: MIT */
/* Convolutions and pooling over one or two axes by their definitions, window by window. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(conv, x[0], x[1])

static weft_status call_pool(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                             const void *params) {
    return weft_graph_pool(y, graph, WEFT_POOL_AVERAGE, x[0], params);
}

enum { X, WEIGHT, BIAS };

#define CONV(...) .params = weft_conv_params(__VA_ARGS__)
#define POOL(...) .params = weft_pool_params(__VA_ARGS__)

static const weft_trial conv_trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 5, 7, 6)},
    {ACCEPTED, IS(AS(X, 2, 4, 9), AS(WEIGHT, 5, 4, 3)), GIVES(2, 5, 7)},
    {ACCEPTED, CONV(.strides = {2, 3}, .dilations = {3, 2}, .before = {1, 0}, .after = {2, 1}),
     GIVES(2, 5, 3, 2)},
    {ACCEPTED, IS(AS(WEIGHT, 6, 2, 3, 3), AS(BIAS, 6)), CONV(.groups = 2), GIVES(2, 6, 7, 6)},
    {MISMATCH, IS(AS(X, 4, 9)), SAYS("x must be [B, c, l] or [B, c, h, w]", "[4, 9]")},
    {MISMATCH, IS(AS(X, 2, 4, 9)), SAYS("weight must be [o, c/groups, …]", "[5, 4, 3, 3]")},
    {MISMATCH, IS(AS(WEIGHT, 5, 3, 3, 3)), SAYS("weight", "[2, 4, 9, 8]", "[5, 3, 3, 3]")},
    {MISMATCH, CONV(.groups = 3), SAYS("groups 3")},
    {MISMATCH, IS(AS(WEIGHT, 5, 2, 3, 3)), CONV(.groups = 2), SAYS("groups 2", "[5, 2, 3, 3]")},
    {MISMATCH, IS(AS(BIAS, 4)), SAYS("bias must be [5], not [4]")},
    {MISMATCH, IS(AS_I32(X, 2, 4, 9, 8)), SAYS("x must be f32")},
    {INVALID, IS(AS(WEIGHT, 5, 4, 10, 3)), SAYS("windows of 10", "axis 2 of 9")},
    {INVALID, CONV(.dilations = {1, 4}), SAYS("windows of 3 elements, dilation 4", "axis 3 of 8")},
    {INVALID, CONV(.before = {UINT32_MAX, 0}), SAYS("4294967295 before", "2147483647")},
};

const weft_sheet weft_sheet_conv = {
    WEFT_SHEET_OP(conv),
    .operands = {WEFT_INPUT("x", .shape = {4, {2, 4, 9, 8}}),
                 WEFT_INPUT("weight", .shape = {4, {5, 4, 3, 3}}),
                 WEFT_OPTIONAL("bias", weft_conv_params, bias, .shape = {0})},
    .sizes = {.batch = 2, .n = 9, .heads = 1, .width = 4},
    WEFT_SHEET_TRIALS(conv_trials),
};

static const weft_trial pool_trials[] = {
    {ACCEPTED, GIVES(2, 4, 4, 4)},
    {ACCEPTED, POOL(.sizes = {2, 2}, .strides = {2, 2}, .partial = true), GIVES(2, 4, 5, 4)},
    {ACCEPTED, IS(AS(X, 2, 4, 9)), GIVES(2, 4, 4)},
    /* A last window that would begin in the padding behind is left out. */
    {ACCEPTED, IS(AS(X, 1, 1, 3)),
     POOL(.sizes = {1}, .strides = {2}, .after = {2}, .partial = true), GIVES(1, 1, 2)},
    {MISMATCH, IS(AS(X, 9)), SAYS("x must be [B, c, l] or [B, c, h, w]", "[9]")},
    {MISMATCH, IS(AS_I32(X, 2, 4, 9)), SAYS("x must be f32")},
    {INVALID, POOL(.sizes = {10, 1}), SAYS("windows of 10", "axis 2 of 9")},
    {INVALID, POOL(.sizes = {2, 2}, .after = {0, INT32_MAX}), SAYS("axis 3 of 8", "2147483647")},
    {INVALID, .without_params = true, SAYS("weft_graph_pool")},
};

const weft_sheet weft_sheet_pool = {
    WEFT_SHEET_OP(pool),
    .operands = {WEFT_INPUT("x", .shape = {4, {2, 4, 9, 8}})},
    .sizes = {.batch = 2, .n = 9, .heads = 1, .width = 4},
    .usual = weft_pool_params(.sizes = {2, 2}, .strides = {2, 2}),
    WEFT_SHEET_TRIALS(pool_trials),
};

/* ---- windows ---- */

/* Windows over two axes; of x [B, c, l] the first has one element. */
struct windows {
    uint32_t extent[2], size[2], stride[2], dilation[2], before[2], after[2], count[2];
};

static uint32_t or_1(uint32_t number) {
    return number != 0 ? number : 1;
}

/* An axis: the windows that begin where all of them is within the padding, with partial where one begins before what is behind. */
static void add_axis(struct windows *w, uint32_t axis, uint32_t extent, const uint32_t *given,
                     bool partial) {
    const int64_t size = or_1(given[0]);
    const int64_t stride = or_1(given[1]);
    const int64_t dilation = or_1(given[2]);
    const int64_t padded = (int64_t)given[3] + extent + given[4];
    uint32_t count = 0;
    for (int64_t at = 0; at < padded; at += stride) {
        const bool is_whole = at + dilation * (size - 1) < padded;
        /* rounded up: no more than one that is not whole */
        const bool was_whole = at - stride + dilation * (size - 1) < padded - 1;
        count += is_whole || (partial && was_whole && at < (int64_t)given[3] + extent);
    }
    w->extent[axis] = extent;
    w->size[axis] = (uint32_t)size;
    w->stride[axis] = (uint32_t)stride;
    w->dilation[axis] = (uint32_t)dilation;
    w->before[axis] = given[3];
    w->after[axis] = given[4];
    w->count[axis] = count;
}

/* given: size, stride, dilation, before and after of each axis of x. */
static struct windows windows_of(weft_shape x, const uint32_t (*given)[5], bool partial) {
    static const uint32_t one[5] = {1, 1, 1, 0, 0};
    struct windows w;
    const uint32_t axes = x.rank - 2;
    add_axis(&w, 0, axes == 2 ? x.dim[2] : 1, axes == 2 ? given[0] : one, partial);
    add_axis(&w, 1, x.dim[x.rank - 1], given[axes - 1], partial);
    return w;
}

/* Index in a plane of element (y, x) of window (row, column); -1: in the padding; -2: behind it. */
static int64_t place(const struct windows *w, const uint32_t window[2], const uint32_t element[2]) {
    int64_t at[2];
    int64_t found = 0;
    for (uint32_t i = 0; i < 2; i++) {
        at[i] =
            (int64_t)window[i] * w->stride[i] + (int64_t)element[i] * w->dilation[i] - w->before[i];
        if (at[i] >= (int64_t)w->extent[i] + w->after[i]) {
            return -2;
        }
        found = at[i] < 0 || at[i] >= w->extent[i] ? -1 : found;
    }
    return found < 0 ? found : at[0] * w->extent[1] + at[1];
}

static weft_shape shape_of(const struct windows *w, weft_shape x, uint32_t channels) {
    return x.rank == 3 ? weft_shape_of(x.dim[0], channels, w->count[1])
                       : weft_shape_of(x.dim[0], channels, w->count[0], w->count[1]);
}

/* ---- convolution ---- */

struct conv_row {
    weft_shape x;
    uint32_t outputs, groups;
    uint32_t windows[2][5];
    bool has_bias;
    weft_values kind;
};

static const struct conv_row conv_rows[] = {
    {{3, {1, 1, 1}}, 1, 1, {{1}}, false, WEFT_VALUES_UNIT},
    {{3, {1, 1, 3}}, 1, 1, {{2}}, true, WEFT_VALUES_UNIT},
    {{4, {1, 1, 2, 2}}, 1, 1, {{1, 2}, {1, 2}}, false, WEFT_VALUES_UNIT},
    {{3, {2, 5, 37}}, 7, 1, {{3, 1, 1, 1, 1}}, true, WEFT_VALUES_UNIT},
    {{3, {2, 80, 61}}, 24, 1, {{3, 2, 1, 1, 1}}, true, WEFT_VALUES_UNIT},
    {{3, {2, 12, 40}}, 6, 3, {{5, 3, 2, 0, 4}}, false, WEFT_VALUES_UNIT},
    {{4, {2, 3, 32, 32}}, 19, 1, {{8, 8}, {8, 8}}, true, WEFT_VALUES_UNIT},
    {{4, {1, 4, 13, 11}}, 8, 2, {{3, 2, 2, 1, 2}, {2, 3, 1, 0, 1}}, true, WEFT_VALUES_UNIT},
    {{4, {2, 65, 7, 5}}, 65, 65, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, false, WEFT_VALUES_UNIT},
    {{4, {2, 67, 5, 3}}, 33, 1, {{1}, {1}}, true, WEFT_VALUES_UNIT},
    {{4, {3, 6, 4, 5}}, 4, 2, {{1}, {1}}, false, WEFT_VALUES_UNIT},
    {{4, {1, 2, 3, 131}}, 3, 1, {{1, 1, 1, 2, 0}, {7, 1, 1, 5, 9}}, true, WEFT_VALUES_UNIT},
    /* One sum, two, four and eight in an invocation; more than 64 terms, and windows that lie in the padding alone. */
    {{4, {2, 3, 9, 35}}, 3, 3, {{9, 1, 1, 8, 3}, {11, 2, 1, 12, 1}}, true, WEFT_VALUES_UNIT},
    {{3, {3, 34, 21}}, 34, 17, {{5, 1, 3, 6, 6}}, false, WEFT_VALUES_UNIT},
    {{4, {1, 6, 11, 17}}, 14, 2, {{3, 1, 2, 2, 2}, {5, 2, 1, 2, 2}}, true, WEFT_VALUES_UNIT},
    {{4, {1, 5, 6, 33}}, 13, 1, {{4, 3, 1, 3, 1}, {5, 1, 2, 4, 4}}, true, WEFT_VALUES_UNIT},
    {{4, {2, 19, 5, 6}}, 19, 19, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, true, WEFT_VALUES_MIXED},
    {{3, {2, 5, 37}}, 7, 1, {{3, 1, 1, 1, 1}}, true, WEFT_VALUES_MIXED},
    {{3, {2, 5, 37}}, 7, 1, {{3, 1, 1, 1, 1}}, true, WEFT_VALUES_ZEROS},
};

static void name_windows(char text[WEFT_CASE_NAME_SIZE], const weft_shape *x,
                         const uint32_t (*windows)[5]) {
    int used = (int)strlen(text);
    for (uint32_t i = 0; i < x->rank - 2; i++) {
        used += snprintf(text + used, (size_t)(WEFT_CASE_NAME_SIZE - used), ",%u:%u/%u/%u/%u/%u",
                         x->dim[2 + i], windows[i][0], or_1(windows[i][1]), or_1(windows[i][2]),
                         windows[i][3], windows[i][4]);
    }
}

static void name_conv(char text[WEFT_CASE_NAME_SIZE], const struct conv_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/c=%u,o=%u,groups=%u,batch=%u%s",
             weft_values_name(row->kind), row->x.dim[1], row->outputs, row->groups, row->x.dim[0],
             row->has_bias ? ",bias" : "");
    name_windows(text, &row->x, row->windows);
}

/* An output: the sum over a window of the channels of its group. */
static double convolve(const struct windows *w, const struct conv_row *row, const double *x,
                       const double *weight, uint32_t o, const uint32_t window[2]) {
    const uint32_t channels = row->x.dim[1] / row->groups;
    const uint32_t first = o / (row->outputs / row->groups) * channels;
    const uint64_t plane = (uint64_t)w->extent[0] * w->extent[1];
    const uint32_t size = w->size[0] * w->size[1];
    double sum = 0.0;
    for (uint32_t i = 0; i < channels * size; i++) {
        const uint32_t element[] = {i % size / w->size[1], i % w->size[1]};
        const int64_t at = place(w, window, element);
        if (at >= 0) {
            sum += weight[(uint64_t)o * channels * size + i] *
                   x[(first + i / size) * plane + (uint64_t)at];
        }
    }
    return sum;
}

static void define_conv(double *y, const struct windows *w, const struct conv_row *row,
                        const double *x, const double *weight, const double *bias) {
    const uint64_t size = (uint64_t)row->x.dim[1] * w->extent[0] * w->extent[1];
    const uint64_t count = (uint64_t)w->count[0] * w->count[1];
    for (uint64_t i = 0; i < (uint64_t)row->x.dim[0] * row->outputs * count; i++) {
        const uint32_t o = (uint32_t)(i / count % row->outputs);
        const uint32_t window[] = {(uint32_t)(i % count / w->count[1]),
                                   (uint32_t)(i % w->count[1])};
        y[i] = convolve(w, row, x + i / count / row->outputs * size, weight, o, window);
        y[i] += bias ? bias[o] : 0.0;
    }
}

static weft_shape weight_shape(const struct conv_row *row) {
    const uint32_t channels = row->x.dim[1] / row->groups;
    return row->x.rank == 3
               ? weft_shape_of(row->outputs, channels, row->windows[0][0])
               : weft_shape_of(row->outputs, channels, row->windows[0][0], row->windows[1][0]);
}

static void build_conv(weft_case *c, const struct conv_row *row) {
    const struct windows w = windows_of(row->x, row->windows, false);
    const weft_array x = weft_case_input(c, "x", row->x, row->kind);
    const weft_array weight = weft_case_weight(c, weight_shape(row), WEFT_VALUES_UNIT);
    const weft_array bias =
        weft_case_optional_weight(c, row->has_bias, weft_shape_of(row->outputs));
    weft_conv_params params = {.bias = bias.tensor, .groups = row->groups};
    for (uint32_t i = 0; i < row->x.rank - 2; i++) {
        params.strides[i] = row->windows[i][1];
        params.dilations[i] = row->windows[i][2];
        params.before[i] = row->windows[i][3];
        params.after[i] = row->windows[i][4];
    }
    weft_tensor tensor = {0};
    double *y;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_conv(&tensor, c->graph, x.tensor, weight.tensor, &params));
    const weft_array made =
        weft_case_made(c, status, tensor, shape_of(&w, row->x, row->outputs), false, &y);
    if (y) {
        define_conv(y, &w, row, x.value, weight.value, bias.value);
    }
    weft_case_expect(c, "y", made);
}

WEFT_CASE_TABLE(conv, conv_rows, WEFT_TOLERANCE_LINEAR, name_conv, build_conv);

/* ---- pooling ---- */

struct pool_row {
    weft_pool_op op;
    weft_shape x;
    uint32_t windows[2][5];
    bool counts_padding, partial;
    weft_values kind;
};

static const struct pool_row pool_rows[] = {
    {WEFT_POOL_MAX, {3, {1, 1, 1}}, {{1}}, false, false, WEFT_VALUES_UNIT},
    {WEFT_POOL_AVERAGE, {3, {1, 1, 1}}, {{1}}, false, false, WEFT_VALUES_UNIT},
    {WEFT_POOL_AVERAGE, {3, {1, 1, 2}}, {{2, 1, 1, 1, 1}}, true, false, WEFT_VALUES_UNIT},
    {WEFT_POOL_MAX, {3, {2, 5, 37}}, {{3, 2, 1, 1, 1}}, false, false, WEFT_VALUES_UNIT},
    {WEFT_POOL_MAX,
     {4, {2, 3, 13, 11}},
     {{3, 2, 2, 1, 2}, {2, 3, 1, 0, 1}},
     false,
     true,
     WEFT_VALUES_UNIT},
    {WEFT_POOL_AVERAGE,
     {4, {2, 3, 13, 11}},
     {{3, 2, 1, 1, 1}, {2, 2}},
     false,
     false,
     WEFT_VALUES_UNIT},
    {WEFT_POOL_AVERAGE,
     {4, {2, 3, 14, 11}},
     {{3, 2, 1, 1, 1}, {4, 3, 1, 2, 2}},
     true,
     true,
     WEFT_VALUES_UNIT},
    {WEFT_POOL_AVERAGE,
     {4, {2, 3, 14, 11}},
     {{3, 2, 1, 1, 1}, {4, 3, 1, 2, 2}},
     false,
     true,
     WEFT_VALUES_UNIT},
    {WEFT_POOL_AVERAGE, {4, {1, 131, 7, 7}}, {{7}, {7}}, false, false, WEFT_VALUES_UNIT},
    {WEFT_POOL_MAX, {3, {3, 2, 257}}, {{64, 5}}, false, false, WEFT_VALUES_MIXED},
    {WEFT_POOL_MAX, {3, {2, 5, 37}}, {{3, 2, 1, 1, 1}}, false, false, WEFT_VALUES_ZEROS},
};

static void name_pool(char text[WEFT_CASE_NAME_SIZE], const struct pool_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/c=%u,batch=%u%s%s",
             row->op == WEFT_POOL_MAX ? "max" : "average", weft_values_name(row->kind),
             row->x.dim[1], row->x.dim[0], row->counts_padding ? ",padding" : "",
             row->partial ? ",partial" : "");
    name_windows(text, &row->x, row->windows);
}

static double pool(const struct windows *w, const struct pool_row *row, const double *x,
                   const uint32_t window[2]) {
    double largest = -INFINITY;
    double sum = 0.0;
    double count = 0.0;
    for (uint32_t i = 0; i < w->size[0] * w->size[1]; i++) {
        const uint32_t element[] = {i / w->size[1], i % w->size[1]};
        const int64_t at = place(w, window, element);
        if (at >= 0) {
            largest = x[at] > largest ? x[at] : largest;
            sum += x[at];
        }
        count += at >= (row->counts_padding ? -1 : 0) ? 1.0 : 0.0;
    }
    return row->op == WEFT_POOL_MAX ? largest : sum / count;
}

static void build_pool(weft_case *c, const struct pool_row *row) {
    const struct windows w = windows_of(row->x, row->windows, row->partial);
    const weft_array x = weft_case_input(c, "x", row->x, row->kind);
    weft_pool_params params = {.counts_padding = row->counts_padding, .partial = row->partial};
    for (uint32_t i = 0; i < row->x.rank - 2; i++) {
        params.sizes[i] = row->windows[i][0];
        params.strides[i] = row->windows[i][1];
        params.dilations[i] = row->windows[i][2];
        params.before[i] = row->windows[i][3];
        params.after[i] = row->windows[i][4];
    }
    weft_tensor tensor = {0};
    double *y;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_pool(&tensor, c->graph, row->op, x.tensor, &params));
    const weft_array made =
        weft_case_made(c, status, tensor, shape_of(&w, row->x, row->x.dim[1]), false, &y);
    const uint64_t count = (uint64_t)w.count[0] * w.count[1];
    for (uint64_t i = 0; y && i < (uint64_t)row->x.dim[0] * row->x.dim[1] * count; i++) {
        const uint32_t window[] = {(uint32_t)(i % count / w.count[1]), (uint32_t)(i % w.count[1])};
        y[i] = pool(&w, row, x.value + i / count * w.extent[0] * w.extent[1], window);
    }
    weft_case_expect(c, "y", made);
}

WEFT_CASE_TABLE(pool, pool_rows, WEFT_TOLERANCE_LINEAR, name_pool, build_pool);
