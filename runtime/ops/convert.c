/* SPDX-License-Identifier: MIT */
/* f16 and u8, which only inputs and outputs are, and i32 to f32 and back. */
#include <stdio.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/elementwise/convert.h"
#include "lower/lowering.h"
#include "ops/numbers.h"

struct weft_convert_node {
    weft_dtype dtype;
};

weft_status weft_graph_convert(weft_tensor *out, weft_graph *graph, weft_tensor x,
                               weft_dtype dtype) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_convert_node params = {.dtype = dtype};
    return weft_graph_add(out, graph, &weft_op_convert, &x, 1, &params, sizeof params);
}

/* The shader's KIND, or -1 where there is no such conversion. */
static int32_t kind_of(weft_dtype from, weft_dtype to) {
    if (to == WEFT_F32) {
        return from == WEFT_F16   ? WEFT_CONVERSION_F16_TO_F32
               : from == WEFT_U8  ? WEFT_CONVERSION_U8_TO_F32
               : from == WEFT_I32 ? WEFT_CONVERSION_I32_TO_F32
                                  : -1;
    }
    if (from == WEFT_F32) {
        return to == WEFT_F16   ? WEFT_CONVERSION_F32_TO_F16
               : to == WEFT_U8  ? WEFT_CONVERSION_F32_TO_U8
               : to == WEFT_I32 ? WEFT_CONVERSION_F32_TO_I32
                                : -1;
    }
    return -1;
}

static weft_status infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    const struct weft_convert_node *params = (const void *)node->params.bytes;
    const weft_dtype from = weft_node_dtype(graph, node, 0);
    if (kind_of(from, params->dtype) < 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "convert: from f16, u8 or i32 to f32, or from f32 to these, not from %s "
                         "to %s",
                         weft_dtype_name(from), weft_dtype_name(params->dtype));
    }
    *dtype = params->dtype;
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

static weft_status lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_convert_node *params = (const void *)node->params.bytes;
    const weft_dtype from = weft_node_dtype(lowering->graph, node, 0);
    const uint64_t count = weft_shape_elements(*weft_node_shape(lowering->graph, node, 0));
    const uint32_t sizes[] = {weft_dtype_size(from), weft_dtype_size(params->dtype)};
    const uint32_t per_word = 4 / (sizes[0] < sizes[1] ? sizes[0] : sizes[1]);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, elementwise_convert, weft_grid_of_items((count + per_word - 1) / per_word),
        .bind = {.x = weft_lower_value(lowering, node->input[0]),
                 .result = weft_lower_value(lowering, node->output)},
        .push = {.count = (uint32_t)count},
        .constant = {.kind = (uint32_t)kind_of(from, params->dtype)});
    dispatch->flops = (double)count;
    dispatch->bytes = (double)count * (sizes[0] + sizes[1]);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_convert = {
    .name = "convert",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_convert_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_WORDS(weft_convert_node, dtype, "dtype", weft_dtype_words)),
    .takes_packed = true,
    .infer = infer,
    .cuts = WEFT_CUTS({.inputs = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = lower}),
};
