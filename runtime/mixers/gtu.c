/* SPDX-License-Identifier: MIT */
/* The gated Toeplitz unit, TNN's token mixer, around any of the three Toeplitz operators. */
#include <weft/decode.h>

#include "core/given.h"
#include "core/try.h"
#include "graph/graph.h"
#include "ops/binary.h"

static weft_status check_mixer(const weft_graph *graph, const char *function,
                               const weft_gtu_params *params) {
    static const char *const names[] = {"toeplitz", "ski", "fd"};
    const void *const given[] = {params->toeplitz, params->ski, params->fd};
    if ((uint32_t)params->mixer >= WEFT_GTU_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: mixer %u must be in 0 … %d",
                         function, (uint32_t)params->mixer, (int)WEFT_GTU_COUNT - 1);
    }
    for (uint32_t i = 0; i < WEFT_GTU_COUNT; i++) {
        if (given[i] && i != (uint32_t)params->mixer) {
            return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                             "%s: params of %s, but mixer %u is %s", function, names[i],
                             (uint32_t)params->mixer, names[params->mixer]);
        }
    }
    bool is_ski = params->mixer == WEFT_GTU_SKI;
    if (is_ski ? !params->ski || params->kernel.id : !params->kernel.id) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         is_ski ? "%s: mixer %s takes params ski and no kernel"
                                : "%s: mixer %s takes a kernel",
                         function, names[params->mixer]);
    }
    return WEFT_OK;
}

/* The causal operator for one more token, or the first ones. */
static weft_status mix_step(weft_tensor *out, weft_graph *graph, weft_tensor x,
                            const weft_step *step, const weft_gtu_params *params) {
    weft_tensor coefficients = params->kernel;
    if (params->mixer == WEFT_GTU_SKI) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "weft_graph_gtu_step: mixer ski is bidirectional: it has no step");
    }
    if (params->mixer == WEFT_GTU_FD) {
        WEFT_TRY(weft_graph_toeplitz_fd_taps(&coefficients, graph, params->kernel));
    }
    return weft_graph_toeplitz_step(out, graph, x, coefficients, step, params->toeplitz);
}

static weft_status mix(weft_tensor *out, weft_graph *graph, weft_tensor x, const weft_step *step,
                       const weft_gtu_params *params) {
    if (step) {
        return mix_step(out, graph, x, step, params);
    }
    switch (params->mixer) {
    case WEFT_GTU_SKI:
        return weft_graph_ski_toeplitz(out, graph, x, params->ski);
    case WEFT_GTU_FD:
        return weft_graph_toeplitz_fd(out, graph, x, params->kernel, params->fd);
    default:
        return weft_graph_toeplitz(out, graph, x, params->kernel, params->toeplitz);
    }
}

/* activation(x Wᵀ + b) with weight and bias `index`. */
static weft_status project(weft_tensor *out, weft_graph *graph, weft_tensor x,
                           const weft_gtu_params *params, uint32_t index) {
    WEFT_TRY(weft_graph_linear(out, graph, x, params->weight[index], params->bias[index]));
    return params->activation == WEFT_ACTIVATION_NONE
               ? WEFT_OK
               : weft_graph_activate(out, graph, *out, params->activation);
}

static weft_status add_gtu(weft_tensor *out, weft_graph *graph, weft_tensor x,
                           const weft_step *step, const weft_gtu_params *params) {
    weft_tensor gate;
    weft_tensor y;
    WEFT_TRY(project(&gate, graph, x, params, 0));
    WEFT_TRY(project(&y, graph, x, params, 1));
    WEFT_TRY(mix(&y, graph, y, step, params));
    WEFT_TRY(weft_graph_binary_of_shape(&y, graph, WEFT_BINARY_MULTIPLY, gate, y));
    if (params->norm) {
        WEFT_TRY(weft_graph_norm(&y, graph, y, params->norm));
    }
    return weft_graph_linear(out, graph, y, params->weight[2], params->bias[2]);
}

weft_status weft_graph_gtu(weft_tensor *out, weft_graph *graph, weft_tensor x,
                           const weft_gtu_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    const char *function = "weft_graph_gtu";
    WEFT_TRY(check_mixer(graph, function, params));
    struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_gtu(out, graph, x, NULL, params));
}

weft_status weft_graph_gtu_step(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                const weft_step *step, const weft_gtu_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step, params);
    const char *function = "weft_graph_gtu_step";
    WEFT_TRY(check_mixer(graph, function, params));
    struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_gtu(out, graph, x, step, params));
}
