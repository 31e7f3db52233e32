/* SPDX-License-Identifier: MIT */
/* The choose pass: which implementation runs each node. */
#include <string.h>

#include "plan/passes.h"

static const struct weft_implementation *find(const struct weft_op *op, const char *name) {
    for (uint32_t i = 0; i < WEFT_MAX_IMPLEMENTATIONS && op->implementation[i].name; i++) {
        if (strcmp(op->implementation[i].name, name) == 0) {
            return &op->implementation[i];
        }
    }
    return NULL;
}

static bool supported(const weft_graph *graph, const struct weft_node *node,
                      const weft_device *device, const struct weft_implementation *implementation) {
    return !implementation->supports || implementation->supports(graph, node, &device->info);
}

static const struct weft_implementation *first_supported(const weft_graph *graph,
                                                         const struct weft_node *node,
                                                         const weft_device *device) {
    for (uint32_t i = 0; i < WEFT_MAX_IMPLEMENTATIONS && node->op->implementation[i].name; i++) {
        if (supported(graph, node, device, &node->op->implementation[i])) {
            return &node->op->implementation[i];
        }
    }
    return NULL;
}

/** An earlier node that does the same work, so that it need not be measured again; or null. */
static const struct weft_node *twin(const weft_graph *graph, uint32_t index) {
    const struct weft_node *node = &graph->nodes[index];
    for (uint32_t i = 0; i < index; i++) {
        const struct weft_node *other = &graph->nodes[i];
        if (other->op != node->op ||
            memcmp(other->params.bytes, node->params.bytes, sizeof node->params.bytes) != 0) {
            continue;
        }
        bool same = true;
        for (uint32_t k = 0; k < node->input_count && same; k++) {
            same = weft_shape_equal(*weft_node_shape(graph, node, k),
                                    *weft_node_shape(graph, other, k));
        }
        if (same) {
            return other;
        }
    }
    return NULL;
}

static weft_status choose_between(const struct weft_implementation **chosen, weft_graph *graph,
                                  weft_device *device, uint32_t index, weft_compile compile) {
    const struct weft_node *node = &graph->nodes[index];
    const char *name = node->op->choose(graph, node);
    if (device->math == WEFT_MATH_FAST) {
        const struct weft_node *same = twin(graph, index);
        if (same) {
            *chosen = same->implementation;
            return WEFT_OK;
        }
        weft_status status = weft_measure_implementation(&name, device, graph, node, compile);
        if (status != WEFT_OK) {
            return status;
        }
    }
    *chosen = find(node->op, name);
    return WEFT_OK;
}

static weft_status choose_node(weft_graph *graph, weft_device *device, uint32_t index,
                               const char *forced, weft_compile compile) {
    struct weft_node *node = &graph->nodes[index];
    const struct weft_op *op = node->op;
    const struct weft_implementation *chosen = forced ? find(op, forced) : NULL;
    if (!chosen && op->choose) {
        weft_status status = choose_between(&chosen, graph, device, index, compile);
        if (status != WEFT_OK) {
            return status;
        }
    }
    if (!chosen) {
        chosen = first_supported(graph, node, device);
    }
    if (!chosen || !supported(graph, node, device, chosen)) {
        char shape[WEFT_SHAPE_TEXT_SIZE];
        bool has_limits = chosen && chosen->limits;
        return weft_fail(
            &device->host, WEFT_UNSUPPORTED, "%s%s%s on %s has no implementation on %s%s%s",
            op->name, forced ? " by " : "", forced ? forced : "",
            weft_shape_text(*weft_node_shape(graph, node, 0), shape), device->info.name,
            has_limits ? ": it takes " : "", has_limits ? chosen->limits : "");
    }
    node->implementation = chosen;
    return WEFT_OK;
}

weft_status weft_pass_choose(weft_graph *graph, weft_device *device, const char *forced,
                             weft_compile compile) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (!graph->nodes[i].op || graph->nodes[i].op->view) {
            continue;
        }
        weft_status status = choose_node(graph, device, i, forced, compile);
        if (status != WEFT_OK) {
            return status;
        }
    }
    return WEFT_OK;
}
