/* SPDX-License-Identifier: MIT */
/* The Performer's attention, as ops that are there already. */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/host.h"
#include "core/try.h"
#include "graph/graph.h"

#define USUAL_EPSILON 1e-6F

static weft_status add_attention(weft_tensor *out, weft_graph *graph, const weft_tensor qkv[3],
                                 weft_tensor w, const weft_performer_attention_params *p) {
    weft_random_features_params features = {
        .component = WEFT_COMPONENT_POSITIVE,
        .heads = p->heads,
        .stabilizer = p->unstabilized ? WEFT_STABILIZER_NONE : WEFT_STABILIZER_QUERY,
        .epsilon = p->epsilon == 0.0F && !p->unstabilized ? USUAL_EPSILON : p->epsilon};
    weft_tensor phi = {0};
    weft_tensor psi = {0};
    WEFT_TRY(weft_graph_random_features(&phi, graph, qkv[0], w, &features));
    features.stabilizer = p->unstabilized ? WEFT_STABILIZER_NONE : WEFT_STABILIZER_KEY;
    features.lengths = p->lengths;
    WEFT_TRY(weft_graph_random_features(&psi, graph, qkv[1], w, &features));
    return weft_graph_linear_attention(out, graph, phi, psi, qkv[2],
                                       weft_linear_attention_params(.heads = p->heads,
                                                                    .causal = p->causal,
                                                                    .lengths = p->lengths));
}

weft_status weft_graph_performer_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                           weft_tensor k, weft_tensor v, weft_tensor w,
                                           const weft_performer_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const weft_performer_attention_params defaults = {.heads = 1};
    const weft_tensor qkv[] = {q, k, v};
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark,
                          add_attention(out, graph, qkv, w, params ? params : &defaults));
}
