/* SPDX-License-Identifier: MIT */
/* Compiling a graph to a plan. */
#include <math.h>
#include <string.h>

#include "core/given.h"
#include "core/system/clock.h"
#include "core/try.h"
#include "lower/choose.h"
#include "plan/measure.h"
#include "plan/passes.h"
#include "plan/plan.h"

/* ---- ports ---- */

static weft_status add_port(weft_plan *plan, const char *name, const struct weft_value *value,
                            bool is_output) {
    struct weft_port *port = &plan->ports[plan->port_count];
    const weft_host *host = &plan->device->host;
    port->name = weft_strdup(host, name);
    if (!port->name ||
        !weft_index_set(&plan->port_names, name, strlen(name), plan->port_count, host)) {
        weft_free(host, port->name);
        return weft_fail_memory(host, "a plan's ports");
    }
    port->dtype = value->dtype;
    port->shape = value->shape;
    port->bytes = weft_shape_elements(value->shape) * weft_dtype_size(value->dtype);
    port->is_output = is_output;
    port->is_state = value->is_state && !is_output;
    port->rings = value->rings;
    plan->port_count++;
    return WEFT_OK;
}

static weft_status make_ports(weft_plan *plan, const weft_graph *graph) {
    plan->ports = weft_alloc_zero(&plan->device->host, graph->value_count + graph->result_count,
                                  sizeof *plan->ports);
    if (!plan->ports) {
        return weft_fail_memory(&plan->device->host, "a plan's ports");
    }
    for (uint32_t i = 1; i < graph->value_count; i++) {
        if (graph->values[i].source == WEFT_VALUE_INPUT) {
            WEFT_TRY(add_port(plan, graph->values[i].name, &graph->values[i], false));
        }
    }
    for (uint32_t i = 0; i < graph->result_count; i++) {
        WEFT_TRY(
            add_port(plan, graph->results[i].name, &graph->values[graph->results[i].value], true));
    }
    return WEFT_OK;
}

/* An input of indices, or a view of one, has values from `first` to `limit` - 1. */
static void limit_index(weft_plan *plan, const weft_graph *graph, uint32_t indices, uint32_t first,
                        uint32_t limit) {
    uint32_t root = weft_graph_storage_of(graph, indices);
    if (indices == 0 || graph->values[root].source != WEFT_VALUE_INPUT) {
        return;
    }
    struct weft_port *port = &plan->ports[weft_plan_port_of(plan, graph->values[root].name)];
    port->index_first = port->index_first > first ? port->index_first : first;
    port->index_limit = port->index_limit && port->index_limit < limit ? port->index_limit : limit;
}

static void limit_inputs(weft_plan *plan, const weft_graph *graph, const struct weft_node *node) {
    for (uint32_t i = 0; node->op && i < 2; i++) { /* null: it is fused into another */
        const struct weft_indices *indices = &node->op->indices[i];
        if (indices->table != indices->input && weft_node_has_input(node, indices->table)) {
            const uint32_t axis = indices->axis ? indices->axis(node) : 0;
            limit_index(plan, graph, node->input[indices->input], 0,
                        weft_node_shape(graph, node, indices->table)->dim[axis]);
        }
        const struct weft_lengths *lengths = &node->op->lengths[i];
        if (lengths->input != 0 && weft_node_has_input(node, lengths->input)) {
            const uint32_t tokens = weft_node_shape(graph, node, lengths->of)->dim[1];
            limit_index(plan, graph, node->input[lengths->input], 1, tokens + 1);
        }
    }
}

/** Notes which inputs index tables or are lengths, so that weft_plan_execute can refuse bad ones. */
static void limit_indices(weft_plan *plan, const weft_graph *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        limit_inputs(plan, graph, &graph->nodes[i]);
    }
}

/* ---- building ---- */

static weft_status describe(weft_plan *plan, uint32_t pass, char *text) {
    plan->text[pass] = text;
    return text ? WEFT_OK : weft_fail_memory(&plan->device->host, "a description of a plan");
}

/* Products read them also where they are transposed: without the pass they would be numbers by then. */
static bool has_bytes(const weft_graph *graph) {
    bool found = false;
    for (uint32_t i = 1; i < graph->value_count && !found; i++) {
        found = graph->values[i].weight && weft_weight_is_int8(graph->values[i].weight);
    }
    return found;
}

static weft_status run_graph_passes(weft_plan *plan, weft_graph *graph,
                                    const weft_plan_params *params) {
    const weft_host *host = &plan->device->host;
    WEFT_TRY(weft_pass_prune(graph));
    WEFT_TRY(describe(plan, WEFT_PASS_GRAPH, weft_describe_graph(graph, false, host)));
    const bool quantize =
        plan->device->weight_storage >= WEFT_WEIGHTS_I8 && !plan->lowering.runs_once;
    if (!params->no_fusion || quantize || has_bytes(graph)) {
        WEFT_TRY(weft_pass_transposes(graph));
    }
    if (quantize) {
        WEFT_TRY(weft_pass_quantize(graph, plan->device));
    }
    if (!params->no_fusion) {
        WEFT_TRY(
            weft_pass_fold(graph, plan->device, params->implementation, plan->lowering.engine));
        WEFT_TRY(weft_pass_fuse(graph));
    }
    WEFT_TRY(describe(plan, WEFT_PASS_FUSE, weft_describe_graph(graph, false, host)));
    WEFT_TRY(weft_pass_choose(graph, plan->lowering.chooser));
    return describe(plan, WEFT_PASS_CHOOSE, weft_describe_graph(graph, true, host));
}

static weft_status run_lowering_passes(weft_plan *plan) {
    struct weft_lowering *lowering = &plan->lowering;
    WEFT_TRY(weft_pass_lower(lowering));
    WEFT_TRY(weft_pass_place(lowering, &plan->info.arena_bytes, &plan->info.arena_lower_bound));
    WEFT_TRY(describe(
        plan, WEFT_PASS_PLACE,
        weft_describe_placement(lowering, plan->info.arena_bytes, plan->info.arena_lower_bound)));
    return weft_pass_order(lowering, &plan->info.barriers);
}

static weft_status build_pipelines(weft_plan *plan) {
    const weft_host *host = &plan->device->host;
    const uint32_t count = plan->lowering.dispatch_count;
    struct weft_pipeline_request *requests =
        weft_alloc_zero(host, (size_t)count + 1, sizeof *requests);
    if (!requests) {
        return weft_fail_memory(host, "a plan's pipelines");
    }
    for (uint32_t i = 0; i < count; i++) {
        struct weft_dispatch *dispatch = &plan->lowering.dispatches[i];
        dispatch->pipeline.binding_count = dispatch->operand_count;
        dispatch->pipeline.push_size = dispatch->push_size;
        requests[i].desc = &dispatch->pipeline;
    }
    const weft_status status = weft_pipeline_get_all(requests, count, plan->device);
    for (uint32_t i = 0; i < count; i++) {
        plan->lowering.dispatches[i].built = requests[i].pipeline;
    }
    weft_free(host, requests);
    return status;
}

static weft_status make_times(weft_plan *plan) {
    plan->dispatch_ms = weft_alloc_zero(
        &plan->device->host, (size_t)plan->lowering.dispatch_count + 1, sizeof *plan->dispatch_ms);
    return plan->dispatch_ms ? WEFT_OK : weft_fail_memory(&plan->device->host, "times");
}

static void sum_up(weft_plan *plan) {
    plan->info.dispatches = plan->lowering.dispatch_count;
    for (uint32_t i = 0; i < plan->lowering.storage_count; i++) {
        const struct weft_storage *storage = &plan->lowering.storages[i];
        if (storage->kind == WEFT_STORAGE_CONSTANT) {
            plan->info.weight_bytes += storage->bytes;
            plan->info.f16_weight_bytes += storage->half == WEFT_HALF_SCALED ? storage->bytes : 0;
            plan->info.narrow_weight_bytes += storage->half > WEFT_HALF_SCALED ? storage->bytes : 0;
            plan->info.int8_weight_bytes += storage->half == WEFT_HALF_I8 ? storage->bytes : 0;
            plan->info.block_weight_bytes += storage->half >= WEFT_HALF_BLOCKS ? storage->bytes : 0;
        }
    }
    for (uint32_t i = 0; i < plan->lowering.dispatch_count; i++) {
        plan->info.flops += plan->lowering.dispatches[i].flops;
    }
}

static weft_status find_ports(weft_plan *plan, weft_graph *graph, const weft_plan_params *params) {
    plan->checkpoints = params->checkpoints;
    const uint32_t outputs = graph->result_count;
    WEFT_TRY(weft_pass_checkpoints(graph, params->checkpoints));
    plan->checkpoint_count = graph->result_count - outputs;
    WEFT_TRY(make_ports(plan, graph));
    plan->opening = params->opening;
    return params->opening != WEFT_OPENING_NONE ? weft_graph_copy(&plan->opens, graph) : WEFT_OK;
}

static weft_status build_steps(weft_plan *plan, weft_graph *graph, const weft_plan_params *params) {
    WEFT_TRY(find_ports(plan, graph, params));
    if (params->opening == WEFT_OPENING_ONLY) {
        limit_indices(plan, graph);
        return WEFT_OK;
    }
    WEFT_TRY(run_graph_passes(plan, graph, params));
    limit_indices(plan, graph);
    plan->lowering.graph = graph;
    WEFT_TRY(run_lowering_passes(plan));
    WEFT_TRY(build_pipelines(plan));
    sum_up(plan);
    struct weft_steps steps = {0};
    const weft_status split = weft_plan_split(&steps, plan, params->part_ms, false);
    weft_plan_take_steps(plan, &steps);
    WEFT_TRY(split);
    WEFT_TRY(weft_workspace_begin(&plan->workspace, plan, params->timestamps));
    if (params->timestamps) {
        WEFT_TRY(make_times(plan));
    }
    return describe(plan, WEFT_PASS_ORDER, weft_describe_order(plan));
}

static weft_status build(weft_plan *plan, weft_graph *graph, const weft_plan_params *params) {
    const weft_host *host = &plan->device->host;
    struct weft_chooser chooser = {.device = plan->device, .forced = params->implementation};
    plan->lowering.chooser = &chooser;
    weft_status status = build_steps(plan, graph, params);
    plan->lowering.chooser = NULL;
    plan->lowering.graph = NULL;
    plan->text[WEFT_PASS_CHOICES] = chooser.report;
    if (status == WEFT_OK && !chooser.report) {
        status = describe(plan, WEFT_PASS_CHOICES, weft_strdup(host, ""));
    }
    return status;
}

static weft_status run_once(const char *implementation, weft_device *device,
                            const weft_graph *graph, void *data, uint64_t bytes);

static const struct weft_engine engine = {.run_once = run_once,
                                          .time_dispatch = weft_measure_dispatch,
                                          .compile_dispatches = weft_compile_dispatches};

static weft_status compile(weft_plan **out, weft_device *device, const weft_graph *graph,
                           const weft_plan_params *params, bool runs_once) {
    weft_status status = weft_device_alive(device);
    if (status == WEFT_OK && graph->result_count == 0) {
        status = weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "the graph has no output");
    }
    if (status != WEFT_OK) {
        return status;
    }
    double start = weft_clock_ms();
    const uint32_t shaders = device->stats.shaders_compiled;
    const uint32_t pipelines = device->stats.pipelines_compiled;
    weft_graph *working = NULL;
    weft_plan *plan = weft_alloc_zero(&device->host, 1, sizeof *plan);
    if (!plan) {
        return weft_fail_memory(&device->host, "a plan");
    }
    plan->device = device;
    plan->lowering.device = device;
    plan->lowering.runs_once = runs_once;
    plan->lowering.engine = &engine;
    status = weft_graph_copy(&working, graph);
    if (status == WEFT_OK) {
        status = build(plan, working, params);
    }
    weft_graph_destroy(&working);
    if (status != WEFT_OK) {
        weft_plan_destroy(&plan);
        return status;
    }
    plan->info.shaders_compiled = device->stats.shaders_compiled - shaders;
    plan->info.pipelines_compiled = device->stats.pipelines_compiled - pipelines;
    plan->info.compile_ms = weft_clock_ms() - start;
    *out = plan;
    return WEFT_OK;
}

weft_status weft_plan_compile(weft_plan **out, weft_device *device, const weft_graph *graph,
                              const weft_plan_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(WEFT_HOST_OF(device, host), "plan, device, graph", out, device, graph);
    const weft_plan_params defaults = {0};
    const weft_plan_params *given = params ? params : &defaults;
    if (!(given->part_ms >= 0.0) || !isfinite(given->part_ms)) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_compile: part_ms %g must be finite and at least 0",
                         given->part_ms);
    }
    if ((unsigned)given->checkpoints > WEFT_CHECKPOINTS_NODES) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_compile: unknown checkpoints %d", (int)given->checkpoints);
    }
    if ((unsigned)given->opening > WEFT_OPENING_ONLY) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_plan_compile: unknown opening %d", (int)given->opening);
    }
    return compile(out, device, graph, given, false);
}

/* Numbers in place of those that no memory holds: the kernels are what was asked for. Ones, which are rates as well. */
static void fill_unknown(void *data, weft_dtype dtype, uint64_t bytes) {
    const float one = 1.0F;
    memset(data, 0, (size_t)bytes);
    for (uint64_t i = 0; dtype == WEFT_F32 && i < bytes / sizeof one; i++) {
        memcpy((float *)data + i, &one, sizeof one);
    }
}

static weft_status run_once(const char *implementation, weft_device *device,
                            const weft_graph *graph, void *data, uint64_t bytes) {
    const weft_plan_params params = {.implementation = implementation};
    weft_plan *plan = NULL;
    weft_status status = compile(&plan, device, graph, &params, true);
    if (status == WEFT_OK && device->compile_only) {
        fill_unknown(data, graph->values[graph->results[0].value].dtype, bytes);
    } else if (status == WEFT_OK) {
        weft_host_tensor out = {.name = "out", .data = data, .bytes = bytes};
        status = weft_plan_execute(plan, &out, 1);
    }
    weft_plan_destroy(&plan);
    return status;
}
