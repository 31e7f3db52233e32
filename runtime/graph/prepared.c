/* SPDX-License-Identifier: MIT */
#include "graph/prepared.h"

struct preparation {
    const struct weft_lowering *lowering;
    weft_prepare build;
    void *user;
    uint64_t bytes;
};

static weft_status make_graph(weft_graph **out, const struct preparation *preparation) {
    weft_graph *graph = NULL;
    weft_tensor result = {0};
    weft_status status = weft_graph_create(&graph, &preparation->lowering->device->host);
    if (status == WEFT_OK) {
        status = preparation->build(&result, graph, preparation->user);
    }
    if (status == WEFT_OK) {
        status = weft_graph_output(graph, "out", result);
    }
    if (status != WEFT_OK) {
        weft_graph_destroy(&graph);
        return status;
    }
    *out = graph;
    return WEFT_OK;
}

static weft_status run_preparation(void *user, void *data) {
    const struct preparation *preparation = user;
    weft_graph *graph = NULL;
    weft_status status = make_graph(&graph, preparation);
    if (status == WEFT_OK) {
        status = preparation->lowering->run_once(NULL, preparation->lowering->device, graph, data,
                                                 preparation->bytes);
    }
    weft_graph_destroy(&graph);
    return status;
}

uint32_t weft_lower_prepared(struct weft_lowering *lowering, const char *key, uint64_t bytes,
                             weft_prepare build, void *user) {
    struct preparation preparation = {
        .lowering = lowering, .build = build, .user = user, .bytes = bytes};
    return weft_lower_table(lowering, key, bytes, run_preparation, &preparation);
}

weft_weight *weft_lower_weight_of(const struct weft_lowering *lowering, uint32_t value) {
    return lowering->graph->values[weft_graph_storage_of(lowering->graph, value)].weight;
}

weft_status weft_prepare_weight(weft_tensor *out, weft_graph *graph, weft_weight *weight,
                                weft_shape shape) {
    weft_tensor tensor = {0};
    weft_status status = weft_graph_weight(&tensor, graph, weight);
    return status == WEFT_OK ? weft_graph_reshape(out, graph, tensor, shape) : status;
}
