/* SPDX-License-Identifier: MIT */
#include "lower/prepared.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"

struct preparation {
    const struct weft_lowering *lowering;
    const struct weft_node *node;
    uint64_t bytes;
};

static weft_weight *weight_of(const weft_graph *graph, uint32_t value) {
    return graph->values[weft_graph_storage_of(graph, value)].weight;
}

static bool all_weights(const weft_graph *graph, const struct weft_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (node->input[i] && !weight_of(graph, node->input[i])) {
            return false;
        }
    }
    return true;
}

/* ---- a plan of the op alone ---- */

static weft_status add_node(weft_graph *graph, const struct preparation *preparation) {
    const struct weft_node *node = preparation->node;
    const weft_graph *source = preparation->lowering->graph;
    weft_tensor inputs[WEFT_MAX_NODE_INPUTS] = {{0}};
    weft_tensor result = {0};
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (node->input[i]) {
            WEFT_TRY(weft_graph_weight(&inputs[i], graph, weight_of(source, node->input[i])));
            WEFT_TRY(weft_graph_reshape(&inputs[i], graph, inputs[i],
                                        *weft_node_shape(source, node, i)));
        }
    }
    WEFT_TRY(weft_graph_add(&result, graph, node->op, inputs, node->input_count, &node->params,
                            node->op->params_size));
    return weft_graph_output(graph, "out", result);
}

static weft_status run_preparation(void *user, void *data) {
    const struct preparation *preparation = user;
    const struct weft_lowering *lowering = preparation->lowering;
    weft_graph *graph = NULL;
    weft_status status = weft_graph_create(&graph, &lowering->device->host);
    if (status == WEFT_OK) {
        status = add_node(graph, preparation);
    }
    if (status == WEFT_OK) {
        status =
            lowering->engine->run_once(NULL, lowering->device, graph, data, preparation->bytes);
    }
    weft_graph_destroy(&graph);
    return status;
}

/* ---- keys ---- */

#define KEY_SIZE (64 + 2 * WEFT_MAX_PARAMETER_BYTES + WEFT_MAX_NODE_INPUTS * 96)

/** The op, its params and the weights with their shapes: what determines the contents. */
static void write_key(char key[KEY_SIZE], const weft_graph *graph, const struct weft_node *node) {
    size_t end = (size_t)snprintf(key, KEY_SIZE, "prepared/%.32s/", node->op->name);
    for (size_t i = 0; i < node->op->params_size; i++) {
        end += (size_t)snprintf(key + end, KEY_SIZE - end, "%02x", node->params.bytes[i]);
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        char shape[WEFT_SHAPE_TEXT_SIZE] = "";
        unsigned long long uid = 0;
        if (node->input[i]) {
            uid = weight_of(graph, node->input[i])->uid;
            weft_shape_text(*weft_node_shape(graph, node, i), shape);
        }
        end += (size_t)snprintf(key + end, KEY_SIZE - end, "/%llu%s", uid, shape);
    }
}

/* ---- lowering ---- */

uint32_t weft_lower_prepared(struct weft_lowering *lowering, const struct weft_op *op,
                             const uint32_t *values, uint32_t count, const void *params,
                             weft_lower_to lower) {
    struct weft_node node = {.op = op, .input_count = count};
    struct preparation preparation = {.lowering = lowering, .node = &node};
    weft_dtype dtype = WEFT_F32;
    weft_shape shape = {0};
    memcpy(node.input, values, count * sizeof *values);
    memcpy(node.params.bytes, params, op->params_size);
    const weft_status status = op->infer(lowering->graph, &node, &dtype, &shape);
    if (status != WEFT_OK) {
        weft_lower_fail(lowering, status);
        return 0;
    }
    preparation.bytes = weft_shape_elements(shape) * 4;
    if (all_weights(lowering->graph, &node)) {
        char key[KEY_SIZE];
        write_key(key, lowering->graph, &node);
        return weft_lower_table(lowering, key, preparation.bytes, run_preparation, &preparation);
    }
    const uint32_t storage = weft_lower_scratch(lowering, preparation.bytes);
    lower(lowering, &node, storage);
    return storage;
}
