/* SPDX-License-Identifier: MIT */
/* Blocks that models put around their mixers, made of other ops. */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "graph/graph.h"
#include "ops/binary.h"

/* ---- norms ---- */

weft_status weft_graph_norm(weft_tensor *out, weft_graph *graph, weft_tensor x,
                            const weft_norm_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    switch (params->kind) {
    case WEFT_NORM_LAYER:
        return weft_graph_layer_norm(out, graph, x, params->gamma, params->beta, params->epsilon);
    case WEFT_NORM_RMS:
        return weft_graph_rms_norm(out, graph, x, params->gamma, params->epsilon);
    case WEFT_NORM_SIMPLE_RMS:
        return weft_graph_simple_rms_norm(out, graph, x);
    case WEFT_NORM_SCALE:
        return weft_graph_scale_norm(out, graph, x, params->gamma, params->epsilon);
    case WEFT_NORM_BATCH:
        return weft_graph_batch_norm(
            out, graph, x,
            weft_batch_norm_params(.mean = params->mean, .variance = params->variance,
                                   .gamma = params->gamma, .beta = params->beta,
                                   .epsilon = params->epsilon));
    case WEFT_NORM_COUNT:
        break;
    }
    return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                     "weft_graph_norm: kind %d must be in 0 … %d", (int)params->kind,
                     (int)WEFT_NORM_COUNT - 1);
}

weft_status weft_graph_add_norm(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor y,
                                const weft_norm_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor sum;
    weft_status status = weft_graph_binary_of_shape(&sum, graph, WEFT_BINARY_ADD, x, y);
    if (status == WEFT_OK && params) {
        status = weft_graph_norm(&sum, graph, sum, params);
    }
    if (status == WEFT_OK) {
        *out = sum;
    }
    return weft_graph_end(graph, mark, status);
}

/* ---- projections ---- */

weft_status weft_graph_project_qkv(weft_tensor qkv[3], weft_graph *graph, weft_tensor x,
                                   weft_tensor memory, const weft_project_qkv_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), qkv, graph, params);
    struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor projected[3];
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < 3 && status == WEFT_OK; i++) {
        weft_tensor source = i > 0 && memory.id != 0 ? memory : x;
        status =
            weft_graph_linear(&projected[i], graph, source, params->weight[i], params->bias[i]);
    }
    for (uint32_t i = 0; i < 3 && status == WEFT_OK; i++) {
        qkv[i] = projected[i];
    }
    return weft_graph_end(graph, mark, status);
}

/* ---- gated linear unit ---- */

static weft_status add_glu(weft_tensor *out, weft_graph *graph, weft_tensor x,
                           const weft_glu_params *params) {
    weft_tensor gate;
    weft_tensor value;
    WEFT_TRY(weft_graph_linear(&gate, graph, x, params->weight[0], params->bias[0]));
    if (params->activation != WEFT_ACTIVATION_NONE) {
        WEFT_TRY(weft_graph_activate(&gate, graph, gate, params->activation));
    }
    WEFT_TRY(weft_graph_linear(&value, graph, x, params->weight[1], params->bias[1]));
    WEFT_TRY(weft_graph_binary_of_shape(&gate, graph, WEFT_BINARY_MULTIPLY, gate, value));
    return weft_graph_linear(out, graph, gate, params->weight[2], params->bias[2]);
}

weft_status weft_graph_glu(weft_tensor *out, weft_graph *graph, weft_tensor x,
                           const weft_glu_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_glu(out, graph, x, params));
}
