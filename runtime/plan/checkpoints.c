/* SPDX-License-Identifier: MIT */
/*
 * Values of a run that are kept as outputs, so that runs can be compared. What is kept depends on the graph as it was made, before any pass
 * or device changes it.
 *
 * Of layers it is the waists: values through which all goes that comes later. A value that is read over more than half of the graph, such
 * as features of positions that every layer reads, does not count as passing by; it is kept itself.
 */
#include "plan/passes.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"

/*
 * To hash a checkpoint takes about as long as its part of everything that a run writes; so they are held to 1/32 of that, as long as there
 * are more than four.
 */
#define MOST_WAISTS  16U
#define FEW_WAISTS   4U
#define LEAST_OF_ALL 32U
#define NAME_SIZE    96

struct search {
    weft_graph *graph;
    bool *varies;        /* per value: it depends on an input */
    uint32_t *last_read; /* per value, of roots alone: the node that reads it last, or 0 */
    bool *given;         /* per value: its elements are an output already */
    uint32_t *kept;      /* values */
    uint32_t kept_count;
};

static weft_status begin(struct search *search, weft_graph *graph) {
    const weft_host *host = &graph->host;
    *search = (struct search){.graph = graph};
    search->varies = weft_alloc_zero(host, graph->value_count, sizeof *search->varies);
    search->last_read = weft_alloc_zero(host, graph->value_count, sizeof *search->last_read);
    search->given = weft_alloc_zero(host, graph->value_count, sizeof *search->given);
    search->kept = weft_alloc_zero(host, (size_t)graph->node_count + 1, sizeof *search->kept);
    return search->varies && search->last_read && search->given && search->kept
               ? WEFT_OK
               : weft_fail_memory(host, "a plan's checkpoints");
}

static void end(struct search *search) {
    const weft_host *host = &search->graph->host;
    weft_free(host, search->varies);
    weft_free(host, search->last_read);
    weft_free(host, search->given);
    weft_free(host, search->kept);
}

static void look(struct search *search) {
    const weft_graph *graph = search->graph;
    for (uint32_t i = 1; i < graph->value_count; i++) {
        search->varies[i] = graph->values[i].source == WEFT_VALUE_INPUT;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct weft_node *node = &graph->nodes[i];
        for (uint32_t k = 0; node->op && k < node->input_count; k++) {
            search->last_read[weft_graph_storage_of(graph, node->input[k])] = i;
            search->varies[node->output] |= search->varies[node->input[k]];
        }
    }
    for (uint32_t i = 0; i < graph->result_count; i++) {
        search->given[weft_graph_storage_of(graph, graph->results[i].value)] = true;
    }
}

/* True if a node makes elements that depend on an input, and no output has them. */
static bool counts(const struct search *search, uint32_t node) {
    const struct weft_node *made = &search->graph->nodes[node];
    return made->op && search->varies[made->output] &&
           weft_graph_storage_of(search->graph, made->output) == made->output &&
           !search->given[made->output];
}

static bool is_long_read(const struct search *search, uint32_t node) {
    const uint32_t last = search->last_read[search->graph->nodes[node].output];
    return last > node && last - node > search->graph->node_count / 2;
}

/* True if the only reader of a value could become a part of the node that makes it. */
static bool could_be_fused(const struct search *search, uint32_t node) {
    const uint32_t value = search->graph->nodes[node].output;
    const uint32_t reader = search->last_read[value];
    uint32_t readers = 0;
    for (uint32_t i = node + 1; i <= reader; i++) {
        const struct weft_node *other = &search->graph->nodes[i];
        for (uint32_t k = 0; other->op && k < other->input_count; k++) {
            readers += weft_graph_storage_of(search->graph, other->input[k]) == value;
        }
    }
    struct weft_epilogue epilogue = {0};
    const struct weft_op *op = search->graph->nodes[reader].op;
    return readers == 1 && op && op->fuses_as &&
           op->fuses_as(&epilogue, &search->graph->nodes[reader]) != 0;
}

/* Values are alive from the node that makes them to their last reader. */
static void find_waists(struct search *search) {
    const weft_graph *graph = search->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (!counts(search, i)) {
            continue;
        }
        uint32_t passing = 0; /* values that are alive behind node i, besides its own */
        for (uint32_t k = 0; k < i && passing == 0; k++) {
            passing += counts(search, k) && !is_long_read(search, k) &&
                       search->last_read[graph->nodes[k].output] > i;
        }
        if (is_long_read(search, i) || (passing == 0 && !could_be_fused(search, i))) {
            search->kept[search->kept_count++] = graph->nodes[i].output;
        }
    }
}

/* Bytes of all that nodes make, and of what is kept. */
static bool are_too_many(const struct search *search) {
    const weft_graph *graph = search->graph;
    uint64_t all = 0;
    uint64_t kept = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        all += counts(search, i) ? weft_value_bytes(&graph->values[graph->nodes[i].output]) : 0;
    }
    for (uint32_t i = 0; i < search->kept_count; i++) {
        kept += weft_value_bytes(&graph->values[search->kept[i]]);
    }
    return search->kept_count > MOST_WAISTS ||
           (search->kept_count > FEW_WAISTS && kept > all / LEAST_OF_ALL);
}

/* Every second, fourth … from the last one back, until few enough are left. */
static void thin(struct search *search) {
    while (are_too_many(search)) {
        const uint32_t left = (search->kept_count + 1) / 2;
        for (uint32_t i = 0; i < left; i++) {
            search->kept[i] = search->kept[search->kept_count - 1 - 2 * (left - 1 - i)];
        }
        search->kept_count = left;
    }
}

static void find_nodes(struct search *search) {
    for (uint32_t i = 0; i < search->graph->node_count; i++) {
        if (counts(search, i)) {
            search->kept[search->kept_count++] = search->graph->nodes[i].output;
        }
    }
}

static weft_status check_name(const weft_graph *graph, const char *name) {
    bool taken = false;
    for (uint32_t i = 1; i < graph->value_count; i++) {
        taken |=
            graph->values[i].source == WEFT_VALUE_INPUT && strcmp(graph->values[i].name, name) == 0;
    }
    for (uint32_t i = 0; i < graph->result_count; i++) {
        taken |= strcmp(graph->results[i].name, name) == 0;
    }
    return !taken
               ? WEFT_OK
               : weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                           "the graph has an input or output '%s', a name that is reserved for a "
                           "checkpoint",
                           name);
}

static weft_status keep(struct search *search) {
    weft_graph *graph = search->graph;
    for (uint32_t i = 0; i < search->kept_count; i++) {
        const uint32_t value = search->kept[i];
        const uint32_t node = graph->values[value].producer;
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "node %u %s", node, graph->nodes[node].op->name);
        WEFT_TRY(check_name(graph, name));
        WEFT_TRY(weft_graph_output(graph, name, (weft_tensor){value}));
    }
    return WEFT_OK;
}

weft_status weft_pass_checkpoints(weft_graph *graph, weft_checkpoints checkpoints) {
    if (checkpoints == WEFT_CHECKPOINTS_NONE) {
        return WEFT_OK;
    }
    struct search search;
    weft_status status = weft_pass_prune(graph);
    if (status == WEFT_OK) {
        status = begin(&search, graph);
        if (status == WEFT_OK) {
            look(&search);
            if (checkpoints == WEFT_CHECKPOINTS_LAYERS) {
                find_waists(&search);
                thin(&search);
            } else {
                find_nodes(&search);
            }
            status = keep(&search);
        }
        end(&search);
    }
    return status;
}
