/* SPDX-License-Identifier: MIT */
/* Results of the passes as text for people. */
#include <string.h>

#include "core/given.h"
#include "core/text.h"
#include "plan/plan.h"

const char *const weft_plan_passes[WEFT_PLAN_PASS_COUNT] = {"graph", "fuse",  "choose",
                                                            "place", "order", "choices"};

static void add_value_name(struct weft_text *text, const weft_graph *graph, uint32_t id) {
    const struct weft_value *value = &graph->values[id];
    if (id == 0) {
        weft_text_add(text, "-");
    } else if (value->weight) {
        weft_text_add(text, "%s", value->weight->name);
    } else if (value->name) {
        weft_text_add(text, "%s", value->name);
    } else {
        weft_text_add(text, "%%%u", id);
    }
}

static void add_epilogue(struct weft_text *text, const weft_graph *graph,
                         const struct weft_epilogue *epilogue) {
    if (epilogue->bias) {
        weft_text_add(text, " + bias ");
        add_value_name(text, graph, epilogue->bias);
    }
    if (epilogue->activation) {
        weft_text_add(text, " | %s", weft_activation_name(epilogue->activation));
    }
    if (epilogue->residual) {
        weft_text_add(text, " + residual ");
        add_value_name(text, graph, epilogue->residual);
    }
    if (epilogue->gamma) {
        weft_text_add(text, " | layer_norm ");
        add_value_name(text, graph, epilogue->gamma);
    }
}

static void add_node(struct weft_text *text, const weft_graph *graph, const struct weft_node *node,
                     bool implementations) {
    char shape[WEFT_SHAPE_TEXT_SIZE];
    weft_text_add(text, "%%%-4u %-18s %s", node->output,
                  weft_shape_text(graph->values[node->output].shape, shape), node->op->name);
    if (node->op->describe) {
        char params[128];
        node->op->describe(node, params, sizeof params);
        weft_text_add(text, "%s", params);
    } else {
        weft_fields_describe(text, node);
    }
    weft_text_add(text, "(");
    for (uint32_t i = 0; i < node->input_count; i++) {
        weft_text_add(text, i ? ", " : "");
        add_value_name(text, graph, node->input[i]);
    }
    weft_text_add(text, ")");
    add_epilogue(text, graph, &node->epilogue);
    if (implementations && node->implementation) {
        weft_text_add(text, "  [%s]", node->implementation->name);
    }
    weft_text_add(text, "\n");
}

char *weft_describe_graph(const weft_graph *graph, bool implementations, const weft_host *host) {
    struct weft_text text = {.host = *host};
    char shape[WEFT_SHAPE_TEXT_SIZE];
    for (uint32_t i = 1; i < graph->value_count; i++) {
        if (graph->values[i].source == WEFT_VALUE_INPUT) {
            weft_text_add(&text, "%-5s %-18s %s %s\n", graph->values[i].name,
                          weft_shape_text(graph->values[i].shape, shape),
                          graph->values[i].is_state ? "state" : "input",
                          weft_dtype_name(graph->values[i].dtype));
        }
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].op) {
            add_node(&text, graph, &graph->nodes[i], implementations);
        }
    }
    for (uint32_t i = 0; i < graph->result_count; i++) {
        weft_text_add(&text, "output %s = ", graph->results[i].name);
        add_value_name(&text, graph, graph->results[i].value);
        weft_text_add(&text, "\n");
    }
    return weft_text_take(&text);
}

char *weft_describe_placement(const struct weft_lowering *lowering, uint64_t arena_bytes,
                              uint64_t lower_bound) {
    struct weft_text text = {.host = lowering->device->host};
    weft_text_add(&text, "arena %llu bytes, lower bound %llu\n", (unsigned long long)arena_bytes,
                  (unsigned long long)lower_bound);
    weft_text_add(&text, "%12s %12s  dispatches  tensor\n", "offset", "bytes");
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        const struct weft_storage *storage = &lowering->storages[i];
        if (storage->kind != WEFT_STORAGE_ARENA || storage->first == UINT32_MAX) {
            continue;
        }
        weft_text_add(&text, "%12llu %12llu  %4u - %-4u ", (unsigned long long)storage->offset,
                      (unsigned long long)storage->bytes, storage->first, storage->last);
        if (storage->value) {
            weft_text_add(&text, "%%%u\n", storage->value);
        } else {
            weft_text_add(&text, "scratch\n");
        }
    }
    return weft_text_take(&text);
}

char *weft_describe_order(const weft_plan *plan) {
    struct weft_text text = {.host = plan->device->host};
    for (uint32_t i = 0; i < plan->steps.count; i++) {
        const struct weft_dispatch_part *step = &plan->steps.at[i];
        const struct weft_dispatch *dispatch = &plan->lowering.dispatches[step->dispatch];
        if (step->new_submission) {
            weft_text_add(&text, "submission\n");
        } else if (dispatch->barrier) {
            weft_text_add(&text, "  barrier\n");
        }
        weft_text_add(&text, "  %4u %-24s %ux%ux%u groups, %.3g Mflop, %.3g MB\n", step->dispatch,
                      dispatch->pipeline.name, step->groups[0], step->groups[1], step->groups[2],
                      dispatch->flops * 1e-6, dispatch->bytes * 1e-6);
    }
    return weft_text_take(&text);
}

weft_status weft_plan_describe(const weft_plan *plan, const char *pass, const char **text) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, pass, text);
    for (uint32_t i = 0; i < WEFT_PLAN_PASS_COUNT; i++) {
        if (strcmp(weft_plan_passes[i], pass) == 0) {
            *text = plan->text[i];
            return WEFT_OK;
        }
    }
    return weft_fail(&plan->device->host, WEFT_NOT_FOUND,
                     "there is no pass '%s'; the passes are graph, fuse, choose, place and order",
                     pass);
}

weft_status weft_plan_get_dispatch(const weft_plan *plan, uint32_t index,
                                   weft_dispatch_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(plan, device->host), plan, info);
    if (index >= plan->lowering.dispatch_count) {
        return WEFT_NOT_FOUND;
    }
    const struct weft_dispatch *dispatch = &plan->lowering.dispatches[index];
    *info = (weft_dispatch_info){
        .node = dispatch->label,
        .kernel = dispatch->pipeline.name,
        .groups = {dispatch->groups[0], dispatch->groups[1], dispatch->groups[2]},
        .flops = dispatch->flops,
        .bytes = dispatch->bytes,
        .barrier = dispatch->barrier};
    return WEFT_OK;
}
