/* SPDX-License-Identifier: MIT */
#include "graph/graph.h"

#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "graph/op.h"

weft_status weft_graph_create(weft_graph **out, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "graph", out);
    weft_graph *graph = weft_alloc_zero(host, 1, sizeof *graph);
    if (!graph) {
        return weft_fail_memory(host, "a graph");
    }
    graph->host = host ? *host : (weft_host){0};
    if (!weft_grow(&graph->host, &graph->values, 0, &graph->value_capacity,
                   sizeof *graph->values)) {
        weft_free(host, graph);
        return weft_fail_memory(host, "a graph's values");
    }
    memset(&graph->values[0], 0, sizeof graph->values[0]);
    graph->value_count = 1;
    *out = graph;
    return WEFT_OK;
}

/** Frees memory that values own, from the first on. */
static void free_values(weft_graph *graph, uint32_t first) {
    for (uint32_t i = first; i < graph->value_count; i++) {
        weft_weight_destroy(&graph->values[i].weight);
        weft_free(&graph->host, graph->values[i].name);
    }
    graph->value_count = first;
}

void weft_graph_destroy(weft_graph **address) {
    WEFT_ENTER;
    weft_graph *graph = address ? *address : NULL;
    if (!graph) {
        return;
    }
    *address = NULL;
    weft_host host = graph->host;
    free_values(graph, 0);
    for (uint32_t i = 0; i < graph->result_count; i++) {
        weft_free(&host, graph->results[i].name);
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        weft_op_release(graph->ops[i]);
    }
    weft_free(&host, graph->ops);
    weft_free(&host, graph->values);
    weft_free(&host, graph->nodes);
    weft_free(&host, graph->results);
    weft_digest_map_free(&graph->kept_ops, &host);
    weft_digest_map_free(&graph->inputs, &host);
    weft_digest_map_free(&graph->outputs, &host);
    weft_digest_map_free(&graph->weights, &host);
    weft_free(&host, graph);
}

struct weft_graph_mark weft_graph_mark(const weft_graph *graph) {
    return (struct weft_graph_mark){.values = graph->value_count, .nodes = graph->node_count};
}

weft_status weft_graph_end(weft_graph *graph, struct weft_graph_mark mark, weft_status status) {
    if (status != WEFT_OK) {
        free_values(graph, mark.values);
        graph->node_count = mark.nodes;
    }
    return status;
}

static bool is_tensor(const weft_graph *graph, weft_tensor tensor) {
    return tensor.id > 0 && tensor.id < graph->value_count;
}

weft_status weft_graph_get_tensor(const weft_graph *graph, weft_tensor tensor, weft_shape *shape,
                                  weft_dtype *dtype) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), graph);
    if (!is_tensor(graph, tensor)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "tensor %u does not belong to this graph", tensor.id);
    }
    if (shape) {
        *shape = graph->values[tensor.id].shape;
    }
    if (dtype) {
        *dtype = graph->values[tensor.id].dtype;
    }
    return WEFT_OK;
}

/** The input of that name, or 0. What weft_graph_end took back may still be in the index. */
static uint32_t find_input(const weft_graph *graph, const char *name) {
    const uint32_t found = weft_index_find(&graph->inputs, name, strlen(name));
    const bool valid = found < graph->value_count && graph->values[found].name &&
                       strcmp(graph->values[found].name, name) == 0;
    return valid ? found : 0;
}

/** True if an input or a result has that name already. */
static bool name_taken(const weft_graph *graph, const char *name) {
    return find_input(graph, name) != 0 ||
           weft_index_find(&graph->outputs, name, strlen(name)) != WEFT_INDEX_NONE;
}

static weft_status check_name(const weft_graph *graph, const char *name) {
    if (!name || !name[0]) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "an input or output needs a name");
    }
    if (name_taken(graph, name)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "the name '%s' is taken in this graph", name);
    }
    return WEFT_OK;
}

weft_status weft_graph_add_value(weft_tensor *out, weft_graph *graph,
                                 const struct weft_value *value) {
    if (!weft_grow(&graph->host, &graph->values, graph->value_count, &graph->value_capacity,
                   sizeof *graph->values)) {
        return weft_fail_memory(&graph->host, "a graph's values");
    }
    graph->values[graph->value_count] = *value;
    out->id = graph->value_count++;
    if (!value->root) {
        graph->values[out->id].root = out->id;
    }
    return WEFT_OK;
}

weft_status weft_graph_input(weft_tensor *out, weft_graph *graph, const char *name,
                             weft_dtype dtype, weft_shape shape) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, name);
    weft_status status = check_name(graph, name);
    if (status == WEFT_OK && weft_dtype_size(dtype) == 0) {
        status = weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "input '%s': unknown dtype %d",
                           name, (int)dtype);
    }
    if (status == WEFT_OK) {
        status = weft_shape_check(shape, name, &graph->host);
    }
    if (status != WEFT_OK) {
        return status;
    }
    struct weft_value value = {.dtype = dtype, .shape = shape, .source = WEFT_VALUE_INPUT};
    value.name = weft_strdup(&graph->host, name);
    if (!value.name ||
        !weft_index_set(&graph->inputs, name, strlen(name), graph->value_count, &graph->host)) {
        weft_free(&graph->host, value.name);
        return weft_fail_memory(&graph->host, "an input's name");
    }
    status = weft_graph_add_value(out, graph, &value);
    if (status != WEFT_OK) {
        weft_free(&graph->host, value.name);
    }
    return status;
}

weft_status weft_graph_state(weft_tensor *out, weft_graph *graph, const char *name,
                             weft_dtype dtype, weft_shape shape) {
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, name);
    const uint32_t found = find_input(graph, name);
    if (!graph->values[found].is_state) {
        const weft_status status = weft_graph_input(out, graph, name, dtype, shape);
        if (status == WEFT_OK) {
            graph->values[out->id].is_state = true;
        }
        return status;
    }
    const struct weft_value *there = &graph->values[found];
    if (there->dtype != dtype || !weft_shape_equal(there->shape, shape)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "state '%s' is %s %s for another step of this graph, and not %s %s", name,
                         weft_dtype_name(there->dtype), weft_shape_text(there->shape, text[0]),
                         weft_dtype_name(dtype), weft_shape_text(shape, text[1]));
    }
    out->id = found;
    return WEFT_OK;
}

weft_status weft_graph_weight(weft_tensor *out, weft_graph *graph, weft_weight *weight) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, weight);
    const uint32_t found = weft_index_find(&graph->weights, &weight, sizeof weight);
    if (found < graph->value_count && graph->values[found].weight == weight) {
        out->id = found;
        return WEFT_OK;
    }
    if (!weft_index_set(&graph->weights, &weight, sizeof weight, graph->value_count,
                        &graph->host)) {
        return weft_fail_memory(&graph->host, "a graph's weights");
    }
    struct weft_value value = {.dtype = weight->dtype,
                               .shape = weight->shape,
                               .source = WEFT_VALUE_WEIGHT,
                               .weight = weight};
    weft_status status = weft_graph_add_value(out, graph, &value);
    if (status == WEFT_OK) {
        weft_weight_retain(weight);
    }
    return status;
}

weft_status weft_graph_constant(weft_tensor *out, weft_graph *graph, const char *name,
                                weft_dtype dtype, weft_shape shape, const void *data) {
    weft_weight *weight = NULL;
    weft_status status = weft_weight_create(
        &weight, weft_weight_params(.name = name, .dtype = dtype, .shape = shape, .data = data),
        &graph->host);
    if (status == WEFT_OK) {
        status = weft_graph_weight(out, graph, weight);
    }
    weft_weight_destroy(&weight);
    return status;
}

static weft_status add_result(weft_graph *graph, const char *name, uint32_t value) {
    struct weft_result result = {.name = weft_strdup(&graph->host, name), .value = value};
    if (!result.name || !weft_grow(&graph->host, &graph->results, graph->result_count,
                                   &graph->result_capacity, sizeof *graph->results)) {
        weft_free(&graph->host, result.name);
        return weft_fail_memory(&graph->host, "an output");
    }
    graph->results[graph->result_count++] = result;
    return WEFT_OK;
}

weft_status weft_graph_output(weft_graph *graph, const char *name, weft_tensor tensor) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), graph, name);
    weft_status status = check_name(graph, name);
    if (status == WEFT_OK) {
        status = weft_graph_get_tensor(graph, tensor, NULL, NULL);
    }
    if (status == WEFT_OK) {
        status = add_result(graph, name, tensor.id);
    }
    if (status == WEFT_OK && !weft_index_set(&graph->outputs, name, strlen(name),
                                             graph->result_count - 1, &graph->host)) {
        weft_free(&graph->host, graph->results[--graph->result_count].name);
        status = weft_fail_memory(&graph->host, "an output");
    }
    return status;
}

static weft_status check_inputs(const weft_graph *graph, const struct weft_op *op,
                                const weft_tensor *inputs, uint32_t count) {
    if (count < op->min_inputs || count > op->max_inputs) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s takes %u to %u inputs, not %u",
                         op->name, op->min_inputs, op->max_inputs, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool absent = inputs[i].id == 0 && i >= op->min_inputs;
        if (!absent && !is_tensor(graph, inputs[i])) {
            return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                             "%s: input %u (tensor %u) belongs to another graph", op->name, i,
                             inputs[i].id);
        }
        bool takes_state = op->state_input != 0 && i == op->state_input;
        if (graph->values[inputs[i].id].is_state != takes_state) {
            return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: input %u must %s a state",
                             op->name, i, takes_state ? "be" : "not be");
        }
    }
    return WEFT_OK;
}

uint64_t weft_value_bytes(const struct weft_value *value) {
    uint64_t elements = weft_shape_elements(value->shape);
    if (value->stride) {
        const struct weft_rows rows = weft_shape_rows(value->shape);
        elements = (rows.rows - 1) * value->stride + rows.columns;
    }
    return (elements * weft_dtype_size(value->dtype) + 3) / 4 * 4;
}

/* f16 and u8 lie several in a word, which ops do not know. */
static weft_status check_packed(const weft_graph *graph, const struct weft_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        const weft_dtype dtype = weft_node_dtype(graph, node, i);
        if (node->input[i] && weft_dtype_size(dtype) != 4) {
            return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                             "%s: input %u is %s, which weft_graph_convert makes f32",
                             node->op->name, i, weft_dtype_name(dtype));
        }
    }
    return WEFT_OK;
}

/* Infers the op's result from its inputs. */
static weft_status infer(const weft_graph *graph, struct weft_node *node,
                         struct weft_value *value) {
    const struct weft_op *op = node->op;
    const bool knows_packed = op->takes_packed || op->view;
    if (!knows_packed) {
        WEFT_TRY(check_packed(graph, node));
    }
    WEFT_TRY(op->infer(graph, node, &value->dtype, &value->shape));
    if (!knows_packed && weft_dtype_size(value->dtype) != 4) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: the output of an op is f32 or i32, not %s", op->name,
                         weft_dtype_name(value->dtype));
    }
    WEFT_TRY(weft_check_lengths(graph, node));
    return weft_shape_check(value->shape, op->name, &graph->host);
}

/** Keeps an op that a program has registered. */
static weft_status keep_op(weft_graph *graph, const struct weft_op *op) {
    const void *key = op;
    if (op->uid == 0 ||
        weft_index_find(&graph->kept_ops, (const void *)&key, sizeof key) != WEFT_INDEX_NONE) {
        return WEFT_OK;
    }
    if (!weft_grow(&graph->host, &graph->ops, graph->op_count, &graph->op_capacity,
                   sizeof *graph->ops) ||
        !weft_index_set(&graph->kept_ops, (const void *)&key, sizeof key, graph->op_count,
                        &graph->host)) {
        return weft_fail_memory(&graph->host, "a graph's ops");
    }
    weft_op_retain(op);
    graph->ops[graph->op_count++] = op;
    return WEFT_OK;
}

weft_status weft_graph_add(weft_tensor *out, weft_graph *graph, const struct weft_op *op,
                           const weft_tensor *inputs, uint32_t input_count, const void *params,
                           size_t params_size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, op);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(graph, host), inputs, input_count);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(graph, host), params, params_size);
    weft_status status = check_inputs(graph, op, inputs, input_count);
    if (status == WEFT_OK && params_size != op->params_size) {
        status = weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                           "%s takes %zu bytes of parameters, not %zu", op->name, op->params_size,
                           params_size);
    }
    if (status != WEFT_OK) {
        return status;
    }
    while (input_count > op->min_inputs && inputs[input_count - 1].id == 0) {
        input_count--; /* what is not given at the end is as if it could not be */
    }
    struct weft_node node = {.op = op, .input_count = input_count};
    for (uint32_t i = 0; i < input_count; i++) {
        node.input[i] = inputs[i].id;
    }
    if (params_size > 0) {
        memcpy(node.params.bytes, params, params_size);
    }
    struct weft_value value = {.source = WEFT_VALUE_NODE,
                               .root = op->view ? graph->values[inputs[0].id].root : 0,
                               .producer = graph->node_count};
    WEFT_TRY(infer(graph, &node, &value));
    if (op->is_view && op->is_view(graph, &node)) {
        return weft_graph_reshape(out, graph, inputs[0], value.shape);
    }
    if (!weft_grow(&graph->host, &graph->nodes, graph->node_count, &graph->node_capacity,
                   sizeof *graph->nodes)) {
        return weft_fail_memory(&graph->host, "a graph's nodes");
    }
    weft_tensor result = {0};
    status = keep_op(graph, op);
    if (status == WEFT_OK) {
        status = weft_graph_add_value(&result, graph, &value);
    }
    if (status == WEFT_OK) {
        node.output = result.id;
        graph->nodes[graph->node_count++] = node;
        *out = result;
    }
    return status;
}

static weft_status copy_values(weft_graph *copy, const weft_graph *graph) {
    for (uint32_t i = 1; i < graph->value_count; i++) {
        struct weft_value value = graph->values[i];
        if (value.name) {
            value.name = weft_strdup(&copy->host, value.name);
            if (!value.name) {
                return weft_fail_memory(&copy->host, "a copy of a graph");
            }
        }
        weft_tensor tensor;
        weft_status status = weft_graph_add_value(&tensor, copy, &value);
        if (status != WEFT_OK) {
            weft_free(&copy->host, value.name);
            return status;
        }
        if (value.weight) {
            weft_weight_retain(value.weight);
        }
    }
    return WEFT_OK;
}

static weft_status copy_nodes_and_results(weft_graph *copy, const weft_graph *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (!weft_grow(&copy->host, &copy->nodes, i, &copy->node_capacity, sizeof *copy->nodes)) {
            return weft_fail_memory(&copy->host, "a copy of a graph");
        }
        copy->nodes[i] = graph->nodes[i];
        copy->node_count++;
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        const weft_status status = keep_op(copy, graph->ops[i]);
        if (status != WEFT_OK) {
            return status;
        }
    }
    for (uint32_t i = 0; i < graph->result_count; i++) {
        WEFT_TRY(add_result(copy, graph->results[i].name, graph->results[i].value));
    }
    return WEFT_OK;
}

weft_status weft_graph_copy(weft_graph **out, const weft_graph *graph) {
    weft_graph *copy = NULL;
    weft_status status = weft_graph_create(&copy, &graph->host);
    if (status == WEFT_OK) {
        status = copy_values(copy, graph);
    }
    if (status == WEFT_OK) {
        status = copy_nodes_and_results(copy, graph);
    }
    if (status != WEFT_OK) {
        weft_graph_destroy(&copy);
        return status;
    }
    *out = copy;
    return WEFT_OK;
}

weft_status weft_graph_count_uses(uint32_t **out, const weft_graph *graph) {
    uint32_t *uses = weft_alloc_zero(&graph->host, graph->value_count, sizeof *uses);
    if (!uses) {
        return weft_fail_memory(&graph->host, "use counts");
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct weft_node *node = &graph->nodes[i];
        if (!node->op) {
            continue;
        }
        for (uint32_t k = 0; k < node->input_count; k++) {
            uses[node->input[k]]++;
        }
        const uint32_t fused[] = {node->epilogue.bias, node->epilogue.residual,
                                  node->epilogue.gamma, node->epilogue.beta};
        for (uint32_t k = 0; k < 4; k++) {
            uses[fused[k]]++;
        }
    }
    for (uint32_t i = 0; i < graph->result_count; i++) {
        uses[graph->results[i].value]++;
    }
    *out = uses;
    return WEFT_OK;
}

uint32_t weft_graph_producer(const weft_graph *graph, uint32_t value) {
    const struct weft_value *made = &graph->values[value];
    return made->source == WEFT_VALUE_NODE && graph->nodes[made->producer].op ? made->producer
                                                                              : UINT32_MAX;
}

uint32_t weft_graph_storage_of(const weft_graph *graph, uint32_t value) {
    return graph->values[value].root;
}
