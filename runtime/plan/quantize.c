/* SPDX-License-Identifier: MIT */
/*
 * Weights as bytes, for devices that keep them so (WEFT_WEIGHTS_I8): matrices that nothing but products and embeddings reads, as
 * `weft quantize` finds them, so that a folder which it has written gives the same bits.
 */
#include <stdio.h>

#include "core/try.h"
#include "device/device.h"
#include "plan/matrices.h"
#include "plan/passes.h"

/* Readers of a weight, per value. */
enum readers { NOBODY = 0, BY_ROWS, BY_COLUMNS, OTHERS };

static enum readers reader_of(const weft_graph *graph, const struct weft_node *node,
                              uint32_t input) {
    bool columns = false;
    const struct weft_value *value = &graph->values[node->input[input]];
    return value->weight && value->dtype == WEFT_F32 && !value->weight->exact &&
                   node->op->takes_bytes && node->op->takes_bytes(&columns, graph, node, input)
               ? (columns ? BY_COLUMNS : BY_ROWS)
               : OTHERS;
}

static void find_readers(enum readers *readers, const weft_graph *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct weft_node *node = &graph->nodes[i];
        for (uint32_t k = 0; node->op && k < node->input_count; k++) {
            enum readers *all = &readers[node->input[k]];
            const enum readers one = node->input[k] ? reader_of(graph, node, k) : OTHERS;
            *all = *all == NOBODY || *all == one ? one : OTHERS;
        }
    }
    for (uint32_t i = 0; i < graph->result_count; i++) {
        readers[graph->results[i].value] = OTHERS;
    }
}

weft_status weft_plan_each_matrix(const weft_graph *graph,
                                  weft_status (*take)(void *user, uint32_t value, bool columns),
                                  void *user) {
    enum readers *readers = weft_alloc_zero(&graph->host, graph->value_count, sizeof *readers);
    if (!readers) {
        return weft_fail_memory(&graph->host, "the readers of weights");
    }
    weft_status status = WEFT_OK;
    find_readers(readers, graph);
    for (uint32_t i = 1; i < graph->value_count && status == WEFT_OK; i++) {
        if (graph->values[i].weight && (readers[i] == BY_ROWS || readers[i] == BY_COLUMNS)) {
            status = take(user, i, readers[i] == BY_COLUMNS);
        }
    }
    weft_free(&graph->host, readers);
    return status;
}

weft_status weft_plan_prepare_matrices(weft_graph *graph) {
    WEFT_TRY(weft_pass_prune(graph));
    return weft_pass_transposes(graph);
}

struct quantize {
    weft_graph *graph;
    weft_device *device;
};

/* A weight with an element that is not finite stays f32: no byte can represent it. */
static weft_status is_finite(bool *finite, const weft_weight *weight) {
    enum { AT_ONCE = 1024 };
    uint32_t words[AT_ONCE];
    const uint64_t elements = weft_shape_elements(weight->shape);
    *finite = true;
    for (uint64_t first = 0; first < elements && *finite; first += AT_ONCE) {
        const uint64_t count = elements - first < AT_ONCE ? elements - first : AT_ONCE;
        WEFT_TRY(weft_weight_read(weight, first, count, words));
        for (uint64_t i = 0; i < count; i++) {
            *finite = *finite && (words[i] & 0x7F800000u) != 0x7F800000u;
        }
    }
    return WEFT_OK;
}

/* The device keeps it for later plans. */
static weft_status make_bytes(weft_weight **made, struct quantize *quantize, weft_weight *weight,
                              bool columns) {
    const bool only = quantize->device->weight_storage == WEFT_WEIGHTS_I8_ONLY;
    char key[64];
    snprintf(key, sizeof key, "bytes/%llu%s", (unsigned long long)weight->uid,
             columns ? "/columns" : "");
    *made = weft_device_find_weight(quantize->device, key);
    bool finite = true;
    if (!*made) {
        WEFT_TRY(is_finite(&finite, weight));
    }
    if (*made || !finite) {
        return WEFT_OK;
    }
    WEFT_TRY(
        weft_weight_quantize(made, weight, only ? WEFT_STORED_I8_ONLY : WEFT_STORED_I8, columns));
    return weft_device_keep_weight(quantize->device, key, *made);
}

static weft_status take(void *user, uint32_t value, bool columns) {
    struct quantize *quantize = user;
    struct weft_value *replaced = &quantize->graph->values[value];
    weft_weight *made = NULL;
    if (weft_weight_is_int8(replaced->weight)) {
        return WEFT_OK;
    }
    WEFT_TRY(make_bytes(&made, quantize, replaced->weight, columns));
    if (made) {
        weft_weight_destroy(&replaced->weight);
        replaced->weight = made;
    }
    return WEFT_OK;
}

weft_status weft_pass_quantize(weft_graph *graph, weft_device *device) {
    struct quantize quantize = {.graph = graph, .device = device};
    return weft_plan_each_matrix(graph, take, &quantize);
}
