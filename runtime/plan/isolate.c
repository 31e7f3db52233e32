/* SPDX-License-Identifier: MIT */
#include "plan/isolate.h"

#include <stdlib.h>

#include "core/try.h"
#include "graph/op.h"

bool weft_isolation_begin(struct weft_isolation *isolation, const weft_graph *graph) {
    const weft_host *host = &graph->host;
    const uint32_t count = graph->value_count;
    *isolation = (struct weft_isolation){.graph = graph};
    isolation->given = weft_alloc_zero(host, count, sizeof *isolation->given);
    isolation->needed = weft_alloc_zero(host, count, sizeof *isolation->needed);
    isolation->is_needed = weft_alloc_zero(host, count, sizeof *isolation->is_needed);
    isolation->map = weft_alloc_zero(host, count, sizeof *isolation->map);
    return isolation->given && isolation->needed && isolation->is_needed && isolation->map;
}

void weft_isolation_end(struct weft_isolation *isolation) {
    const weft_host *host = &isolation->graph->host;
    weft_free(host, (void *)isolation->given);
    weft_free(host, isolation->needed);
    weft_free(host, isolation->is_needed);
    weft_free(host, isolation->map);
}

static int in_order(const void *a, const void *b) {
    const uint32_t *x = a;
    const uint32_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Lists what `value` is made of, itself included: each value behind those that it is made of. */
static void find_needed(struct weft_isolation *self, uint32_t value) {
    const weft_graph *graph = self->graph;
    self->needed[0] = value;
    self->needed_count = 1;
    self->is_needed[value] = true;
    for (uint32_t at = 0; at < self->needed_count; at++) {
        const bool given = at > 0 && self->given[self->needed[at]];
        const uint32_t producer = given ? UINT32_MAX : weft_graph_producer(graph, self->needed[at]);
        const struct weft_node *node = producer != UINT32_MAX ? &graph->nodes[producer] : NULL;
        for (uint32_t k = 0; node && k < node->input_count; k++) {
            if (node->input[k] && !self->is_needed[node->input[k]]) {
                self->is_needed[node->input[k]] = true;
                self->needed[self->needed_count++] = node->input[k];
            }
        }
    }
    qsort(self->needed, self->needed_count, sizeof *self->needed, in_order);
}

static weft_status copy_node(weft_graph *copy, const struct weft_node *node, weft_tensor *map) {
    weft_tensor inputs[WEFT_MAX_NODE_INPUTS] = {{0}};
    for (uint32_t k = 0; k < node->input_count; k++) {
        inputs[k] = map[node->input[k]];
    }
    return weft_graph_add(&map[node->output], copy, node->op, inputs, node->input_count,
                          node->params.bytes, node->op->params_size);
}

/* Weights and inputs first, since every node may read them. */
static weft_status copy_sources(weft_graph *copy, struct weft_isolation *self, uint32_t value) {
    for (uint32_t i = 0; i < self->needed_count; i++) {
        const uint32_t id = self->needed[i];
        const struct weft_value *from = &self->graph->values[id];
        const char *name = from->source == WEFT_VALUE_INPUT ? from->name
                           : id != value                    ? self->given[id]
                                                            : NULL;
        if (from->weight) {
            WEFT_TRY(weft_graph_weight(&self->map[id], copy, from->weight));
        } else if (name) {
            WEFT_TRY(weft_graph_input(&self->map[id], copy, name, from->dtype, from->shape));
        }
    }
    return WEFT_OK;
}

static weft_status copy_nodes(weft_graph *copy, struct weft_isolation *self, uint32_t value) {
    for (uint32_t i = 0; i < self->needed_count; i++) {
        const uint32_t id = self->needed[i];
        const uint32_t producer = weft_graph_producer(self->graph, id);
        if (producer != UINT32_MAX && (id == value || !self->given[id])) {
            WEFT_TRY(copy_node(copy, &self->graph->nodes[producer], self->map));
        }
    }
    return WEFT_OK;
}

weft_status weft_isolate(weft_graph *alone, struct weft_isolation *isolation, uint32_t value,
                         const char *name) {
    find_needed(isolation, value);
    weft_status status = copy_sources(alone, isolation, value);
    if (status == WEFT_OK) {
        status = copy_nodes(alone, isolation, value);
    }
    if (status == WEFT_OK) {
        status = weft_graph_output(alone, name, isolation->map[value]);
    }
    for (uint32_t i = 0; i < isolation->needed_count; i++) {
        isolation->is_needed[isolation->needed[i]] = false;
    }
    return status;
}
