/* SPDX-License-Identifier: MIT */
/* The lower pass: every node's dispatches, then outputs that need a copy. */
#include <stdio.h>
#include <string.h>

#include "lower/cut.h"
#include "ops/copy.h"
#include "plan/passes.h"

static uint32_t add_port(struct weft_lowering *lowering, uint32_t port, uint32_t value) {
    uint32_t storage =
        weft_lower_scratch(lowering, weft_value_bytes(&lowering->graph->values[value]));
    if (lowering->status == WEFT_OK) {
        lowering->storages[storage].kind = WEFT_STORAGE_PORT;
        lowering->storages[storage].port = port;
        lowering->storages[storage].value = value;
    }
    return storage;
}

/** Ports are numbered as weft_plan_get_port does: inputs, then results. */
static void add_ports(struct weft_lowering *lowering) {
    const weft_graph *graph = lowering->graph;
    uint32_t port = 0;
    for (uint32_t i = 1; i < graph->value_count && lowering->status == WEFT_OK; i++) {
        if (graph->values[i].source == WEFT_VALUE_INPUT) {
            lowering->storage_of[i] = add_port(lowering, port++, i);
        }
    }
    for (uint32_t i = 0; i < graph->result_count && lowering->status == WEFT_OK; i++, port++) {
        /* A node writes its result straight into the buffer of the first output with that value. */
        const uint32_t root = weft_graph_storage_of(graph, graph->results[i].value);
        if (graph->values[root].source == WEFT_VALUE_NODE &&
            lowering->storage_of[root] == UINT32_MAX) {
            lowering->storage_of[root] = add_port(lowering, port, root);
        }
    }
}

/** True if a result is in the output's buffer already. */
static bool is_written(const struct weft_lowering *lowering, uint32_t result, uint32_t port) {
    const weft_graph *graph = lowering->graph;
    const uint32_t root = weft_graph_storage_of(graph, graph->results[result].value);
    const uint32_t storage = lowering->storage_of[root];
    return storage != UINT32_MAX && lowering->storages[storage].kind == WEFT_STORAGE_PORT &&
           lowering->storages[storage].port == port;
}

static void copy_outputs(struct weft_lowering *lowering) {
    const weft_graph *graph = lowering->graph;
    uint32_t port = 0;
    for (uint32_t i = 1; i < graph->value_count; i++) {
        port += graph->values[i].source == WEFT_VALUE_INPUT;
    }
    for (uint32_t i = 0; i < graph->result_count && lowering->status == WEFT_OK; i++, port++) {
        if (!is_written(lowering, i, port)) {
            uint32_t source = weft_lower_value(lowering, graph->results[i].value);
            uint32_t target = add_port(lowering, port, graph->results[i].value);
            weft_lower_copy(lowering, target, source,
                            weft_value_bytes(&graph->values[graph->results[i].value]) / 4);
        }
    }
}

weft_status weft_pass_lower(struct weft_lowering *lowering) {
    const weft_graph *graph = lowering->graph;
    lowering->storage_of =
        weft_alloc(&lowering->device->host, graph->value_count * sizeof *lowering->storage_of);
    if (!lowering->storage_of) {
        return weft_lower_fail(lowering,
                               weft_fail_memory(&lowering->device->host, "a plan's values"));
    }
    lowering->value_room = graph->value_count;
    memset(lowering->storage_of, 0xff, graph->value_count * sizeof *lowering->storage_of);
    add_ports(lowering);
    for (uint32_t i = 0; i < graph->node_count && lowering->status == WEFT_OK; i++) {
        const struct weft_node *node = &graph->nodes[i];
        if (weft_interrupted(&lowering->device->host) != WEFT_OK) {
            return weft_lower_fail(lowering, WEFT_CANCELLED);
        }
        if (node->op && !node->op->view) {
            snprintf(lowering->label, sizeof lowering->label, "%s %%%u", node->op->name,
                     node->output);
            weft_lower_node(lowering, node);
        }
    }
    snprintf(lowering->label, sizeof lowering->label, "output");
    copy_outputs(lowering);
    return lowering->status;
}
