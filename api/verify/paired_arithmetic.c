/* SPDX-License-Identifier: MIT */
/* Arithmetic of any shape. */
#include "verify/paired.h"

static bool is_i32(const weft_case *c, weft_array x) {
    weft_dtype dtype = WEFT_F32;
    return c->graph && weft_graph_get_tensor(c->graph, x.tensor, NULL, &dtype) == WEFT_OK &&
           dtype == WEFT_I32;
}

weft_array weft_case_binary(weft_case *c, weft_binary op, weft_array a, weft_array b) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_binary(&tensor, c->graph, op, a.tensor, b.tensor));
    const weft_shape shape = weft_reference_broadcast(a.shape, b.shape);
    const bool whole = !c->only_values && is_i32(c, a);
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    for (uint64_t i = 0; out && i < weft_shape_elements(shape); i++) {
        const double p = a.value[weft_reference_place(shape, a.shape, i)];
        const double q = b.value[weft_reference_place(shape, b.shape, i)];
        out[i] = whole ? weft_reference_binary_i32(op, (int32_t)p, (int32_t)q)
                       : weft_reference_binary(op, p, q);
    }
    return y;
}

weft_array weft_case_unary(weft_case *c, weft_unary op, weft_array x, float alpha, float beta) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_unary(&tensor, c->graph, op, x.tensor, alpha, beta));
    const bool whole = is_i32(c, x);
    weft_array y = weft_case_made(c, status, tensor, x.shape, false, &out);
    for (uint64_t i = 0; out && i < weft_shape_elements(x.shape); i++) {
        out[i] = whole ? weft_reference_unary_i32(op, (int32_t)x.value[i])
                       : weft_reference_unary(op, x.value[i], (double)alpha, (double)beta);
    }
    return y;
}

weft_array weft_case_where(weft_case *c, weft_array condition, weft_array a, weft_array b) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_where(&tensor, c->graph, condition.tensor, a.tensor, b.tensor));
    const weft_shape shape =
        weft_reference_broadcast(condition.shape, weft_reference_broadcast(a.shape, b.shape));
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    for (uint64_t i = 0; out && i < weft_shape_elements(shape); i++) {
        const bool first = condition.value[weft_reference_place(shape, condition.shape, i)] != 0.0;
        const weft_array *chosen = first ? &a : &b;
        out[i] = chosen->value[weft_reference_place(shape, chosen->shape, i)];
    }
    return y;
}

static uint32_t axes_of(const weft_reduce_params *params, uint32_t rank) {
    uint32_t axes = params->axis_count == 0 ? (1U << rank) - 1 : 0;
    for (uint32_t i = 0; i < params->axis_count; i++) {
        axes |= 1U << params->axes[i];
    }
    return axes;
}

static weft_shape without_axes(weft_shape shape, uint32_t axes, bool keep) {
    weft_shape result = {.rank = 0};
    for (uint32_t i = 0; i < shape.rank; i++) {
        const bool reduced = (axes >> i & 1) != 0;
        if (!reduced || keep) {
            result.dim[result.rank++] = reduced ? 1 : shape.dim[i];
        }
    }
    return result;
}

weft_array weft_case_reduce(weft_case *c, weft_reduction op, weft_array x,
                            const weft_reduce_params *params) {
    static const weft_reduce_params none = {0};
    const weft_reduce_params *p = params ? params : &none;
    const uint32_t axes = axes_of(p, x.shape.rank);
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_reduce(&tensor, c->graph, op, x.tensor, params));
    const weft_shape shape = without_axes(x.shape, axes, p->keep_axes);
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    if (out) {
        weft_reference_reduce(&c->ref, out, op, x.value, x.shape, axes,
                              weft_case_find(c, p->lengths).value, is_i32(c, x));
    }
    return y;
}

weft_array weft_case_arg(weft_case *c, weft_array x, uint32_t axis, bool keep_axis, bool smallest) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status = WEFT_CASE_ADD(c, (smallest ? weft_graph_argmin : weft_graph_argmax)(
                                                    &tensor, c->graph, x.tensor, axis, keep_axis));
    const weft_shape shape = without_axes(x.shape, 1U << axis, keep_axis);
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    if (out) {
        weft_reference_arg(out, x.value, weft_reference_axis_of(x.shape, axis), smallest);
    }
    return y;
}

weft_array weft_case_cumsum(weft_case *c, weft_array x, uint32_t axis, bool exclusive,
                            bool reverse) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_cumsum(&tensor, c->graph, x.tensor, axis, exclusive, reverse));
    weft_array y = weft_case_made(c, status, tensor, x.shape, false, &out);
    if (out) {
        weft_reference_cumsum(out, x.value, weft_reference_axis_of(x.shape, axis), exclusive,
                              reverse, is_i32(c, x));
    }
    return y;
}

weft_array weft_case_softmax_axis(weft_case *c, weft_array x, uint32_t axis, bool logarithm) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, (logarithm ? weft_graph_log_softmax
                                    : weft_graph_softmax_axis)(&tensor, c->graph, x.tensor, axis));
    weft_array y = weft_case_made(c, status, tensor, x.shape, false, &out);
    if (out) {
        weft_reference_softmax_axis(out, x.value, weft_reference_axis_of(x.shape, axis), logarithm);
    }
    return y;
}
