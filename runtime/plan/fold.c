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
#include "plan/isolate.h"
#include "plan/passes.h"

struct fold {
    weft_graph *graph;
    weft_device *device;
    const char *forced; /* implementation, or null */
    const struct weft_engine *engine;
    /* Per value: */
    bool *constant;                  /* depends on weights alone */
    weft_digest *digest;             /* of a constant: determines its elements */
    bool *is_read;                   /* a constant that nodes read which are none */
    struct weft_isolation isolation; /* of the values that one constant is computed from */
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

static weft_status run_alone(float *data, uint64_t bytes, struct fold *fold, uint32_t value) {
    weft_graph *alone = NULL;
    WEFT_TRY(weft_graph_create(&alone, &fold->device->host));
    weft_status status = weft_isolate(alone, &fold->isolation, value, "out");
    if (status == WEFT_OK) {
        status = fold->engine->run_once(fold->forced, fold->device, alone, data, bytes);
    }
    weft_graph_destroy(&alone);
    return status;
}

/* ---- weights of them ---- */

/** How the first of the weights that a value is made of is stored in 16 bits, if any is: slices of one can be, too. */
static weft_stored stored_of_needed(const struct fold *fold) {
    weft_stored stored = WEFT_STORED_WHOLE;
    const struct weft_isolation *made = &fold->isolation;
    for (uint32_t i = 0; i < made->needed_count && stored == WEFT_STORED_WHOLE; i++) {
        const weft_weight *weight = fold->graph->values[made->needed[i]].weight;
        stored = weight ? weight->stored : stored;
    }
    return stored;
}

static weft_status make_weight(weft_weight **out, struct fold *fold, uint32_t value) {
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
        return status;
    }
    weft_weight_narrow(*out, stored_of_needed(fold));
    return WEFT_OK;
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

/** Notes the constants that a node which is none reads; a view of one stays a view. */
static void note_inputs(struct fold *fold, const struct weft_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (node->input[i] && fold->constant[node->input[i]]) {
            const uint32_t root = weft_graph_storage_of(fold->graph, node->input[i]);
            fold->is_read[root] = fold->graph->values[root].source == WEFT_VALUE_NODE;
        }
    }
}

/** In the order in which they are made: what one is made of ends at those that are weights by then. */
static weft_status fold_values(struct fold *fold) {
    const weft_graph *graph = fold->graph;
    find_constants(fold);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct weft_node *node = &graph->nodes[i];
        if (node->op && !fold->constant[node->output]) {
            note_inputs(fold, node);
        }
    }
    for (uint32_t value = 1; value < graph->value_count; value++) {
        if (fold->is_read[value]) {
            WEFT_TRY(weft_interrupted(&fold->device->host));
            WEFT_TRY(fold_value(fold, value));
        }
    }
    return WEFT_OK;
}

weft_status weft_pass_fold(weft_graph *graph, weft_device *device, const char *forced,
                           const struct weft_engine *engine) {
    const weft_host *host = &graph->host;
    const uint32_t count = graph->value_count;
    struct fold fold = {.graph = graph, .device = device, .forced = forced, .engine = engine};
    fold.constant = weft_alloc_zero(host, count, sizeof *fold.constant);
    fold.digest = weft_alloc_zero(host, count, sizeof *fold.digest);
    fold.is_read = weft_alloc_zero(host, count, sizeof *fold.is_read);
    const bool room = weft_isolation_begin(&fold.isolation, graph) && fold.constant &&
                      fold.digest && fold.is_read;
    const weft_status status =
        room ? fold_values(&fold) : weft_fail_memory(host, "constant folding");
    weft_free(host, fold.constant);
    weft_free(host, fold.digest);
    weft_free(host, fold.is_read);
    weft_isolation_end(&fold.isolation);
    return status == WEFT_OK ? weft_pass_prune(graph) : status;
}
