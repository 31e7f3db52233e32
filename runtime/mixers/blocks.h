/* SPDX-License-Identifier: MIT */
/* For helpers made of several ops: one that fails half-way takes its nodes back, so that the graph stays as it was. */
#ifndef WEFT_MIXERS_BLOCKS_H
#define WEFT_MIXERS_BLOCKS_H

#include "graph/graph.h"

struct weft_graph_mark {
    uint32_t values, nodes;
};

static inline struct weft_graph_mark weft_graph_mark(const weft_graph *graph) {
    return (struct weft_graph_mark){.values = graph->value_count, .nodes = graph->node_count};
}

/** Returns status. Nodes own nothing, and neither do the values that they make; weights are not taken back. */
static inline weft_status weft_graph_end(weft_graph *graph, struct weft_graph_mark mark,
                                         weft_status status) {
    if (status != WEFT_OK) {
        graph->value_count = mark.values;
        graph->node_count = mark.nodes;
    }
    return status;
}

static inline weft_status weft_graph_missing(weft_graph *graph, const char *function) {
    return weft_fail(graph ? &graph->host : NULL, WEFT_INVALID_ARGUMENT, "%s: null argument",
                     function);
}

#endif
