/* SPDX-License-Identifier: MIT */
/*
 * Constant folding: what depends on weights alone is run once, by a plan of its own with the same kernels, and is a
 * weight from then on. The device keeps it under a digest of the ops, parameters and weights behind it, so that other
 * plans find it; ops that prepare their weights (prepared.h) then prepare it too.
 */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/try.h"
#include "plan/passes.h"

struct fold {
    weft_graph *graph;
    weft_device *device;
    const char *forced; /* implementation, or null */
    const struct weft_engine *engine;
    bool *constant;      /* per value: depends on weights alone */
    weft_digest *digest; /* per constant value: determines its elements */
};

/* ---- which values are constant ---- */

static void add_u64(weft_sha256 *hash, uint64_t value) {
    weft_sha256_add(hash, &value, sizeof value);
}

static weft_digest digest_of_weight(const weft_weight *weight) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    add_u64(&hash, weight->uid);
    return weft_sha256_end(&hash);
}

static weft_digest digest_of_node(const struct fold *fold, const struct weft_node *node) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, node->op->name, strlen(node->op->name) + 1);
    add_u64(&hash, node->op->uid);
    weft_sha256_add(&hash, node->params.bytes, sizeof node->params.bytes);
    if (fold->forced) {
        weft_sha256_add(&hash, fold->forced, strlen(fold->forced) + 1);
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        add_u64(&hash, node->input[i] != 0);
        if (node->input[i]) {
            const weft_digest *input = &fold->digest[node->input[i]];
            weft_sha256_add(&hash, input->bytes, sizeof input->bytes);
        }
    }
    return weft_sha256_end(&hash);
}

/* Weights are f32 or i32. */
static bool is_constant(const struct fold *fold, const struct weft_node *node) {
    if (weft_dtype_size(fold->graph->values[node->output].dtype) != 4) {
        return false;
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (node->input[i] && !fold->constant[node->input[i]]) {
            return false;
        }
    }
    return true;
}

static void find_constants(struct fold *fold) {
    const weft_graph *graph = fold->graph;
    for (uint32_t i = 1; i < graph->value_count; i++) {
        if (graph->values[i].weight) {
            fold->constant[i] = true;
            fold->digest[i] = digest_of_weight(graph->values[i].weight);
        }
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct weft_node *node = &graph->nodes[i];
        if (node->op && is_constant(fold, node)) {
            fold->constant[node->output] = true;
            fold->digest[node->output] = digest_of_node(fold, node);
        }
    }
}

/* ---- their elements ---- */

/** Marks the values that `value` is made of, itself included. */
static void find_needed(bool *needed, const weft_graph *graph, uint32_t value) {
    needed[value] = true;
    for (uint32_t i = graph->node_count; i-- > 0;) {
        const struct weft_node *node = &graph->nodes[i];
        for (uint32_t k = 0; node->op && needed[node->output] && k < node->input_count; k++) {
            needed[node->input[k]] = true;
        }
    }
}

/** Adds the needed values to another graph. map: per value, its tensor there. */
static weft_status copy_values(weft_graph *copy, const weft_graph *graph, const bool *needed,
                               weft_tensor *map) {
    for (uint32_t i = 1; i < graph->value_count; i++) {
        if (needed[i] && graph->values[i].weight) {
            WEFT_TRY(weft_graph_weight(&map[i], copy, graph->values[i].weight));
        }
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct weft_node *node = &graph->nodes[i];
        if (!node->op || !needed[node->output]) {
            continue;
        }
        weft_tensor inputs[WEFT_MAX_NODE_INPUTS] = {{0}};
        for (uint32_t k = 0; k < node->input_count; k++) {
            inputs[k] = map[node->input[k]];
        }
        WEFT_TRY(weft_graph_add(&map[node->output], copy, node->op, inputs, node->input_count,
                                node->params.bytes, node->op->params_size));
    }
    return WEFT_OK;
}

/** Makes another graph that of `value` alone. */
static weft_status isolate(weft_graph *alone, const weft_graph *graph, uint32_t value) {
    bool *needed = weft_alloc_zero(&graph->host, graph->value_count, sizeof *needed);
    weft_tensor *map = weft_alloc_zero(&graph->host, graph->value_count, sizeof *map);
    weft_status status = WEFT_OK;
    if (needed && map) {
        find_needed(needed, graph, value);
        status = copy_values(alone, graph, needed, map);
    } else {
        status = weft_fail_memory(&graph->host, "constant folding");
    }
    if (status == WEFT_OK) {
        status = weft_graph_output(alone, "out", map[value]);
    }
    weft_free(&graph->host, needed);
    weft_free(&graph->host, map);
    return status;
}

static weft_status run_alone(float *data, uint64_t bytes, const struct fold *fold, uint32_t value) {
    weft_graph *alone = NULL;
    WEFT_TRY(weft_graph_create(&alone, &fold->device->host));
    weft_status status = isolate(alone, fold->graph, value);
    if (status == WEFT_OK) {
        status = fold->engine->run_once(fold->forced, fold->device, alone, data, bytes);
    }
    weft_graph_destroy(&alone);
    return status;
}

/* ---- weights of them ---- */

static weft_status make_weight(weft_weight **out, const struct fold *fold, uint32_t value) {
    const struct weft_value *folded = &fold->graph->values[value];
    char name[32];
    snprintf(name, sizeof name, "folded %%%u", value);
    WEFT_TRY(weft_weight_create_empty(
        out, weft_weight_params(.name = name, .dtype = folded->dtype, .shape = folded->shape),
        &fold->device->host));
    weft_status status =
        run_alone((*out)->owned, weft_shape_elements(folded->shape) * 4, fold, value);
    if (status != WEFT_OK) {
        weft_weight_destroy(out);
    }
    return status;
}

/** Makes the value of a node a weight. */
static weft_status fold_value(struct fold *fold, uint32_t value) {
    char digest[WEFT_DIGEST_TEXT_SIZE];
    char key[80];
    snprintf(key, sizeof key, "folded/%s", weft_digest_text(&fold->digest[value], digest));
    weft_weight *weight = weft_device_find_weight(fold->device, key);
    if (!weight) {
        WEFT_TRY(make_weight(&weight, fold, value));
        WEFT_TRY(weft_device_keep_weight(fold->device, key, weight));
    }
    fold->graph->nodes[weft_graph_producer(fold->graph, value)].op = NULL;
    fold->graph->values[value].source = WEFT_VALUE_WEIGHT;
    fold->graph->values[value].weight = weight;
    return WEFT_OK;
}

/** Folds the constants that a node which is none reads; a view of one stays a view. */
static weft_status fold_inputs(struct fold *fold, const struct weft_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (node->input[i] && fold->constant[node->input[i]]) {
            uint32_t root = weft_graph_storage_of(fold->graph, node->input[i]);
            if (fold->graph->values[root].source == WEFT_VALUE_NODE) {
                WEFT_TRY(fold_value(fold, root));
            }
        }
    }
    return WEFT_OK;
}

weft_status weft_pass_fold(weft_graph *graph, weft_device *device, const char *forced,
                           const struct weft_engine *engine) {
    const weft_host *host = &graph->host;
    struct fold fold = {.graph = graph, .device = device, .forced = forced, .engine = engine};
    fold.constant = weft_alloc_zero(host, graph->value_count, sizeof *fold.constant);
    fold.digest = weft_alloc_zero(host, graph->value_count, sizeof *fold.digest);
    weft_status status =
        fold.constant && fold.digest ? WEFT_OK : weft_fail_memory(host, "constant folding");
    if (status == WEFT_OK) {
        find_constants(&fold);
    }
    for (uint32_t i = 0; i < graph->node_count && status == WEFT_OK; i++) {
        const struct weft_node *node = &graph->nodes[i];
        if (node->op && !fold.constant[node->output]) {
            status = fold_inputs(&fold, node);
        }
    }
    weft_free(host, fold.constant);
    weft_free(host, fold.digest);
    return status == WEFT_OK ? weft_pass_prune(graph) : status;
}
