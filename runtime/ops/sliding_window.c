/* SPDX-License-Identifier: MIT */
#include "ops/sliding_window.h"

#include "core/try.h"

static uint32_t usually_1(const uint32_t *values, uint32_t axis) {
    return values && values[axis] != 0 ? values[axis] : 1;
}

/* How many windows an axis has; 0: none, or it is too long. */
static uint32_t count_windows(const struct weft_windows *w, uint32_t axis, bool partial) {
    const uint64_t extent = w->extents[axis];
    const uint64_t padded = extent + w->before[axis] + w->after[axis];
    const uint64_t span = (uint64_t)w->dilations[axis] * (w->sizes[axis] - 1) + 1;
    const uint64_t stride = w->strides[axis];
    if (padded > INT32_MAX || span > padded) {
        return 0;
    }
    uint64_t steps = (padded - span + (partial ? stride - 1 : 0)) / stride;
    if (partial && steps * stride >= extent + w->before[axis]) {
        steps--; /* one that begins in the padding behind */
    }
    return (uint32_t)steps + 1;
}

weft_status weft_windows_of(struct weft_windows *windows, const weft_graph *graph, const char *op,
                            const weft_shape *x, const struct weft_window_params *params,
                            bool partial) {
    const uint32_t axes = x->rank - 2;
    *windows = (struct weft_windows){.extents = {1, 1},
                                     .sizes = {1, 1},
                                     .strides = {1, 1},
                                     .dilations = {1, 1},
                                     .counts = {1, 1}};
    for (uint32_t i = 0; i < axes; i++) {
        const uint32_t axis = 2 - axes + i;
        windows->extents[axis] = x->dim[2 + i];
        windows->sizes[axis] = usually_1(params->sizes, i);
        windows->strides[axis] = usually_1(params->strides, i);
        windows->dilations[axis] = usually_1(params->dilations, i);
        windows->before[axis] = params->before[i];
        windows->after[axis] = params->after[i];
        windows->counts[axis] = count_windows(windows, axis, partial);
        if (windows->counts[axis] == 0) {
            return weft_fail(
                &graph->host, WEFT_INVALID_ARGUMENT,
                "%s: windows of %u elements, dilation %u, do not fit into axis %u of %u "
                "elements with %u before and %u after, in all at most %d",
                op, windows->sizes[axis], windows->dilations[axis], 2 + i, windows->extents[axis],
                windows->before[axis], windows->after[axis], INT32_MAX);
        }
    }
    return WEFT_OK;
}

uint32_t weft_windows_small_stride(const struct weft_windows *windows) {
    enum { MOST = 4 };
    return windows->strides[1] <= MOST ? windows->strides[1] : 0;
}

weft_shape weft_windows_shape(const struct weft_windows *windows, const weft_shape *x,
                              uint32_t channels) {
    return x->rank == 3
               ? weft_shape_of(x->dim[0], channels, windows->counts[1])
               : weft_shape_of(x->dim[0], channels, windows->counts[0], windows->counts[1]);
}

uint64_t weft_windows_count(const struct weft_windows *windows) {
    return (uint64_t)windows->counts[0] * windows->counts[1];
}

double weft_windows_turns(const struct weft_windows *windows) {
    return windows->sizes[0] * (windows->sizes[1] + 1.0);
}

weft_status weft_windows_expect(const weft_graph *graph, const struct weft_node *node) {
    WEFT_TRY(weft_expect_f32(graph, node, 0, "x"));
    const weft_shape *x = weft_node_shape(graph, node, 0);
    if (x->rank != 3 && x->rank != 4) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "%s: x must be [B, c, l] or [B, c, h, w], not %s", node->op->name,
                         weft_shape_text(*x, text));
    }
    return WEFT_OK;
}
