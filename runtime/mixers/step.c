/* SPDX-License-Identifier: MIT */
/* Checks and nodes that the steps of weft/decode.h share. */
#include "mixers/step.h"

#include <weft/movement.h>

#include "core/try.h"
#include "mixers/qkv.h"

static weft_status check_position(const weft_graph *graph, const struct weft_step_call *call) {
    weft_dtype dtype;
    weft_shape shape;
    WEFT_TRY(weft_graph_get_tensor(graph, call->step->position, &shape, &dtype));
    const weft_shape expected = weft_shape_of(call->shape[0].dim[0]);
    if (dtype != WEFT_I32 || !weft_shape_equal(shape, expected)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "%s: position must be i32 %s, not %s %s", call->op->name,
                         weft_shape_text(expected, text[0]), weft_dtype_name(dtype),
                         weft_shape_text(shape, text[1]));
    }
    return WEFT_OK;
}

static weft_status check_call(const weft_graph *graph, const struct weft_step_call *call) {
    if (!call->step || !call->step->state || !call->step->state[0]) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: step must have a position and the name of a state", call->op->name);
    }
    if (call->lengths.id != 0) {
        return weft_fail(
            &graph->host, WEFT_INVALID_ARGUMENT,
            "%s: lengths must be absent: a step takes the length of a sequence from its position",
            call->op->name);
    }
    return WEFT_OK;
}

weft_status weft_check_step_place(const weft_graph *graph, const struct weft_step_call *call) {
    WEFT_TRY(check_call(graph, call));
    return check_position(graph, call);
}

weft_status weft_check_step(const weft_graph *graph, struct weft_step_call *call) {
    WEFT_TRY(check_call(graph, call));
    if (call->kv_heads != 0) {
        WEFT_TRY(weft_check_grouped(call->shape, graph, call->op->name, call->input, call->heads,
                                    call->kv_heads, true));
    } else {
        WEFT_TRY(weft_check_qkv(call->shape, graph, call->op->name, call->input, true));
    }
    const weft_shape of_heads[] = {call->shape[0], call->shape[1],
                                   call->shape[call->kv_heads != 0 ? 0 : 2]};
    WEFT_TRY(weft_check_heads(graph, call->op->name, call->heads, of_heads));
    return check_position(graph, call);
}

weft_status weft_add_step(weft_tensor *out, weft_graph *graph, struct weft_step_call *call,
                          double state_elements, const void *params, size_t params_size) {
    const uint32_t batch = call->shape[0].dim[0];
    if (state_elements * batch > (double)INT32_MAX) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "%s: state '%s' would have %.0f elements, more than %d", call->op->name,
                         call->step->state, state_elements * batch, INT32_MAX);
    }
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    call->input[WEFT_STEP_POSITION] = call->step->position;
    weft_status status = weft_graph_state(&call->input[WEFT_STEP_STATE], graph, call->step->state,
                                          call->rings.halves ? WEFT_F16 : WEFT_F32,
                                          weft_shape_of(batch, (uint32_t)state_elements));
    if (status == WEFT_OK) {
        graph->values[call->input[WEFT_STEP_STATE].id].rings = call->rings;
        status = weft_graph_add(out, graph, call->op, call->input, call->input_count, params,
                                params_size);
    }
    return weft_graph_end(graph, mark, status);
}

weft_status weft_step_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                            weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 2);
    return WEFT_OK;
}

static weft_status take(weft_tensor *out, weft_graph *graph, weft_tensor made, uint32_t first,
                        weft_shape shape) {
    const uint32_t count = (uint32_t)(weft_shape_elements(shape) / shape.dim[0]);
    WEFT_TRY(weft_graph_slice(out, graph, made, 1, first, count, 1));
    return weft_graph_reshape(out, graph, *out, shape);
}

weft_status weft_take_both(weft_tensor out[2], weft_graph *graph, weft_tensor made,
                           weft_shape results, weft_shape states) {
    WEFT_TRY(take(&out[0], graph, made, 0, results));
    return take(&out[1], graph, made, (uint32_t)(weft_shape_elements(results) / results.dim[0]),
                states);
}
