/* SPDX-License-Identifier: MIT */
/* FMMformer's blend of near and far field, as ops that are there already. */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/host.h"
#include "core/try.h"
#include "graph/graph.h"
#include "ops/binary.h"

static weft_status add_far_field(weft_tensor *out, weft_graph *graph, const weft_tensor qkv[3],
                                 const weft_fmm_attention_params *params) {
    if (params->beta.id == 0) {
        return weft_graph_kernel_attention(
            out, graph, qkv[0], qkv[1], qkv[2],
            weft_kernel_attention_params(.heads = params->heads, .causal = params->causal,
                                         .kernels = params->kernels,
                                         .kernel_count = params->kernel_count,
                                         .lengths = params->lengths));
    }
    if (!params->causal || params->kernels || params->kernel_count > 0) {
        return weft_fail(
            &graph->host, WEFT_INVALID_ARGUMENT,
            "fmm_attention: beta selects fast weights, which must be causal (causal is %d) "
            "and without kernels (kernel_count is %u)",
            params->causal, params->kernel_count);
    }
    return weft_graph_fast_weight(out, graph, qkv[0], qkv[1], qkv[2], params->beta,
                                  weft_fast_weight_params(.heads = params->heads));
}

/** Multiplies a field by its weight, where there is one. */
static weft_status weigh(weft_tensor *field, weft_graph *graph, weft_tensor weight) {
    return weight.id == 0
               ? WEFT_OK
               : weft_graph_binary_of_shape(field, graph, WEFT_BINARY_MULTIPLY, *field, weight);
}

static weft_status add_fields(weft_tensor *out, weft_graph *graph, const weft_tensor qkv[3],
                              const weft_fmm_attention_params *params) {
    weft_tensor near = {0};
    weft_tensor far = {0};
    WEFT_TRY(weft_graph_banded_attention(
        &near, graph, qkv[0], qkv[1], qkv[2],
        weft_banded_attention_params(.heads = params->heads, .half_width = params->half_width,
                                     .causal = params->causal, .lengths = params->lengths)));
    WEFT_TRY(add_far_field(&far, graph, qkv, params));
    WEFT_TRY(weigh(&near, graph, params->near_weight));
    WEFT_TRY(weigh(&far, graph, params->far_weight));
    return weft_graph_binary_of_shape(out, graph, WEFT_BINARY_ADD, near, far);
}

weft_status weft_graph_fmm_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                     weft_tensor k, weft_tensor v,
                                     const weft_fmm_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    const weft_tensor qkv[] = {q, k, v};
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_fields(out, graph, qkv, params));
}
