/* SPDX-License-Identifier: MIT */
/*
 * Choosing by measurement (fast mode only): a node is run by itself under each implementation on made-up input, and
 * the answer is remembered on disk for this device, driver and shape.
 */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/disk_cache.h"
#include "core/philox.h"
#include "plan/passes.h"

#define MEASURE_RUNS 3

static weft_digest measurement_key(const weft_device *device, const weft_graph *graph,
                                   const struct weft_node *node) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, weft_version(), strlen(weft_version()));
    weft_sha256_add(&hash, device->info.name, strlen(device->info.name));
    weft_sha256_add(&hash, device->info.uuid, sizeof device->info.uuid);
    weft_sha256_add(&hash, node->op->name, strlen(node->op->name));
    weft_sha256_add(&hash, node->params.bytes, sizeof node->params.bytes);
    for (uint32_t i = 0; i < node->input_count; i++) {
        char shape[WEFT_SHAPE_TEXT_SIZE];
        weft_shape_text(*weft_node_shape(graph, node, i), shape);
        weft_sha256_add(&hash, shape, strlen(shape));
    }
    return weft_sha256_end(&hash);
}

/** A graph of this node alone; its inputs are called "0", "1" … */
static weft_status isolate(weft_graph **out, const weft_graph *graph,
                           const struct weft_node *node) {
    weft_graph *alone = NULL;
    weft_status status = weft_graph_create(&alone, &graph->host);
    weft_tensor inputs[WEFT_MAX_NODE_INPUTS] = {{0}};
    for (uint32_t i = 0; i < node->input_count && status == WEFT_OK; i++) {
        char name[12];
        snprintf(name, sizeof name, "%u", i);
        if (node->input[i]) {
            const struct weft_value *value = &graph->values[node->input[i]];
            status = weft_graph_input(&inputs[i], alone, name, value->dtype, value->shape);
        }
    }
    weft_tensor result;
    if (status == WEFT_OK) {
        status = weft_graph_add(&result, alone, node->op, inputs, node->input_count,
                                node->params.bytes, node->op->params_size);
    }
    if (status == WEFT_OK) {
        status = weft_graph_output(alone, "out", result);
    }
    if (status != WEFT_OK) {
        weft_graph_destroy(&alone);
        return status;
    }
    *out = alone;
    return WEFT_OK;
}

static weft_status time_runs(double *best_ms, weft_plan *plan, weft_host_tensor *tensors,
                             uint32_t count) {
    *best_ms = DBL_MAX;
    weft_status status = WEFT_OK;
    for (uint32_t run = 0; run <= MEASURE_RUNS && status == WEFT_OK; run++) {
        double start = weft_clock_ms();
        status = weft_plan_execute(plan, tensors, count);
        double elapsed = weft_clock_ms() - start;
        if (run > 0 && elapsed < *best_ms) { /* the first run warms up */
            *best_ms = elapsed;
        }
    }
    return status;
}

static weft_status time_plan(double *best_ms, weft_plan *plan, const weft_host *host) {
    weft_host_tensor tensors[WEFT_MAX_NODE_INPUTS];
    uint32_t count = 0;
    weft_status status = WEFT_OK;
    weft_port_info port;
    for (uint32_t i = 0; weft_plan_get_port(plan, i, &port) == WEFT_OK && !port.is_output; i++) {
        float *data = weft_alloc(host, (size_t)port.bytes);
        if (!data) {
            status = weft_fail_memory(host, "measuring input");
            break;
        }
        if (port.dtype == WEFT_F32) {
            weft_philox_uniform(data, (size_t)port.bytes / sizeof *data, 1, i);
        } else {
            memset(data, 0, (size_t)port.bytes);
        }
        tensors[count++] = (weft_host_tensor){.name = port.name, .data = data, .bytes = port.bytes};
    }
    if (status == WEFT_OK) {
        status = time_runs(best_ms, plan, tensors, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        weft_free(host, tensors[i].data);
    }
    return status;
}

static weft_status measure(double *best_ms, weft_device *device, const weft_graph *alone,
                           const char *name, weft_compile compile) {
    weft_plan *plan = NULL;
    weft_plan_params params = {.implementation = name};
    weft_status status = compile(&plan, device, alone, &params);
    if (status == WEFT_OK) {
        status = time_plan(best_ms, plan, &device->host);
    }
    weft_plan_destroy(&plan);
    return status;
}

static weft_status measure_all(const char **fastest, weft_device *device, const weft_graph *graph,
                               const struct weft_node *node, weft_compile compile) {
    weft_graph *alone = NULL;
    weft_status status = isolate(&alone, graph, node);
    double best = DBL_MAX;
    const struct weft_implementation *all = node->op->implementation;
    for (uint32_t i = 0; i < WEFT_MAX_IMPLEMENTATIONS && all[i].name && status == WEFT_OK; i++) {
        if (all[i].supports && !all[i].supports(graph, node, &device->info)) {
            continue;
        }
        double elapsed = DBL_MAX;
        status = measure(&elapsed, device, alone, all[i].name, compile);
        if (status == WEFT_OK && elapsed < best) {
            best = elapsed;
            *fastest = all[i].name;
        }
    }
    weft_graph_destroy(&alone);
    return status;
}

/** The implementation an entry of the disk cache names, or null. */
static const char *remembered(const struct weft_op *op, const uint8_t *data, size_t size) {
    for (uint32_t i = 0; i < WEFT_MAX_IMPLEMENTATIONS && op->implementation[i].name; i++) {
        if (strlen(op->implementation[i].name) == size &&
            memcmp(op->implementation[i].name, data, size) == 0) {
            return op->implementation[i].name;
        }
    }
    return NULL;
}

weft_status weft_measure_implementation(const char **name, weft_device *device,
                                        const weft_graph *graph, const struct weft_node *node,
                                        weft_compile compile) {
    weft_digest key = measurement_key(device, graph, node);
    uint8_t *data = NULL;
    size_t size = 0;
    weft_status status =
        weft_cache_read(&data, &size, device->cache_dir, "choice", &key, &device->host);
    if (status != WEFT_OK) {
        return status;
    }
    const char *known = data ? remembered(node->op, data, size) : NULL;
    weft_free(&device->host, data);
    if (known) {
        *name = known;
        return WEFT_OK;
    }
    const char *fastest = *name;
    status = measure_all(&fastest, device, graph, node, compile);
    if (status == WEFT_OK) {
        *name = fastest;
        weft_cache_write(device->cache_dir, "choice", &key, fastest, strlen(fastest),
                         &device->host);
    }
    return status;
}
