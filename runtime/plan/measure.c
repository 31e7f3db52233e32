/* SPDX-License-Identifier: MIT */
#include "plan/measure.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "core/math/philox.h"
#include "core/system/clock.h"
#include "core/try.h"
#include "plan/plan.h"

#define MEASURE_RUNS 3

/** Makes a graph that of this node alone; its inputs are called "0", "1" … */
static weft_status isolate(weft_graph *alone, const weft_graph *graph,
                           const struct weft_node *node) {
    weft_tensor inputs[WEFT_MAX_NODE_INPUTS] = {{0}};
    for (uint32_t i = 0; i < node->input_count; i++) {
        char name[12];
        snprintf(name, sizeof name, "%u", i);
        if (node->input[i]) {
            const struct weft_value *value = &graph->values[node->input[i]];
            WEFT_TRY(weft_graph_input(&inputs[i], alone, name, value->dtype, value->shape));
        }
    }
    weft_tensor result;
    WEFT_TRY(weft_graph_add(&result, alone, node->op, inputs, node->input_count, node->params.bytes,
                            node->op->params_size));
    return weft_graph_output(alone, "out", result);
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

/* Numbers by chance; of whole ones the largest that the port takes, so that lengths hide nothing. Null when there is no memory. */
static void *make_up(const struct weft_port *port, uint32_t stream, const weft_host *host) {
    const size_t count = (size_t)(port->bytes / 4);
    void *data = weft_alloc(host, (size_t)port->bytes);
    if (data && port->dtype == WEFT_F32) {
        weft_philox_uniform(data, count, 1, stream);
    }
    for (size_t i = 0; data && port->dtype != WEFT_F32 && i < count; i++) {
        ((uint32_t *)data)[i] = port->index_limit ? port->index_limit - 1 : 0;
    }
    return data;
}

static weft_status time_plan(double *best_ms, weft_plan *plan, const weft_host *host) {
    weft_host_tensor tensors[WEFT_MAX_NODE_INPUTS];
    uint32_t count = 0;
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < plan->port_count && !plan->ports[i].is_output; i++) {
        const struct weft_port *port = &plan->ports[i];
        void *data = make_up(port, i, host);
        if (!data) {
            status = weft_fail_memory(host, "measuring input");
            break;
        }
        tensors[count++] =
            (weft_host_tensor){.name = port->name, .data = data, .bytes = port->bytes};
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
                           const char *implementation) {
    weft_plan *plan = NULL;
    weft_plan_params params = {.implementation = implementation};
    weft_status status = weft_plan_compile(&plan, device, alone, &params);
    if (status == WEFT_OK) {
        status = time_plan(best_ms, plan, &device->host);
    }
    weft_plan_destroy(&plan);
    return status;
}

weft_status weft_measure_node(double *ms, weft_device *device, const weft_graph *graph,
                              const struct weft_node *node, const char *implementation) {
    weft_graph *alone = NULL;
    WEFT_TRY(weft_graph_create(&alone, &graph->host));
    weft_status status = isolate(alone, graph, node);
    if (status == WEFT_OK) {
        status = measure(ms, device, alone, implementation);
    }
    weft_graph_destroy(&alone);
    return status;
}

/* ---- one dispatch ---- */

struct dispatch_node {
    const struct weft_measured_dispatch *dispatch;
};

static weft_status dispatch_infer(const weft_graph *graph, struct weft_node *node,
                                  weft_dtype *dtype, weft_shape *shape) {
    (void)graph;
    (void)node;
    *dtype = WEFT_F32;
    *shape = weft_shape_of(1);
    return WEFT_OK;
}

/** Its output is written by nobody: only the time counts. */
static weft_status dispatch_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct dispatch_node *params = (const void *)node->params.bytes;
    const struct weft_measured_dispatch *dispatch = params->dispatch;
    const struct weft_variant *variant = dispatch->variant;
    const struct weft_shader_interface *interface = &variant->shader->interface;
    const uint32_t count =
        interface->push_count + interface->binding_count + interface->constant_count;
    uint32_t words[WEFT_MAX_PUSH_BYTES / 4 + WEFT_MAX_BINDINGS + WEFT_MAX_SPECIALIZATION];
    memcpy(words, dispatch->args, count * sizeof *words);
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        words[interface->push_count + i] =
            dispatch->bytes[i] ? weft_lower_scratch(lowering, dispatch->bytes[i]) : WEFT_NO_STORAGE;
    }
    struct weft_dispatch *lowered =
        weft_lower_kernel(lowering, variant->shader, variant->tiles, dispatch->grid, words);
    lowered->pipeline.subgroup = variant->subgroup;
    return weft_lower_status(lowering);
}

static const struct weft_op dispatch_op = {
    .name = "measured_dispatch",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct dispatch_node),
    .infer = dispatch_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "kernel", .lower = dispatch_lower}),
};

/* A node of that input for each; their outputs are "0", "1" … */
static weft_status build_dispatches(weft_graph *graph,
                                    const struct weft_measured_dispatch *dispatches,
                                    uint32_t count) {
    weft_tensor x = {0};
    WEFT_TRY(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1)));
    for (uint32_t i = 0; i < count; i++) {
        const struct dispatch_node node = {.dispatch = &dispatches[i]};
        char name[12];
        weft_tensor y = {0};
        snprintf(name, sizeof name, "%u", i);
        WEFT_TRY(weft_graph_add(&y, graph, &dispatch_op, &x, 1, &node, sizeof node));
        WEFT_TRY(weft_graph_output(graph, name, y));
    }
    return WEFT_OK;
}

weft_status weft_compile_dispatches(weft_device *device,
                                    const struct weft_measured_dispatch *dispatches,
                                    uint32_t count) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    WEFT_TRY(weft_graph_create(&graph, &device->host));
    weft_status status = build_dispatches(graph, dispatches, count);
    if (status == WEFT_OK) {
        status = weft_plan_compile(&plan, device, graph, NULL);
    }
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    return status;
}

weft_status weft_measure_dispatch(double *ms, weft_device *device,
                                  const struct weft_measured_dispatch *dispatch) {
    weft_graph *alone = NULL;
    WEFT_TRY(weft_graph_create(&alone, &device->host));
    weft_status status = build_dispatches(alone, dispatch, 1);
    if (status == WEFT_OK) {
        status = measure(ms, device, alone, NULL);
    }
    weft_graph_destroy(&alone);
    return status;
}
