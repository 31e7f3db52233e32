/* SPDX-License-Identifier: MIT */
/* Ops that programs register at run time (weft/op.h): the struct that an op of the library is, made from parameters. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "graph/op.h"

struct registered {
    struct weft_op op; /* first: what the handle points to */
    atomic_uint references;
    weft_host host;
    weft_implementation rows[]; /* the last one has no name */
};

/* ---- what is wrong with it ---- */

static weft_status check_rows(const weft_op_params *params, const weft_host *host) {
    for (uint32_t i = 0; i < params->implementation_count; i++) {
        const weft_implementation *row = &params->implementations[i];
        if (!row->name || !*row->name || !row->lower) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "op %s: implementation %u has no name or no lower function",
                             params->name, i);
        }
        if (strlen(row->name) >= WEFT_ROW_NAME_SIZE) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "op %s: '%s' is longer than the %d bytes of an implementation's name",
                             params->name, row->name, WEFT_ROW_NAME_SIZE - 1);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(row->name, params->implementations[k].name) == 0) {
                return weft_fail(host, WEFT_INVALID_ARGUMENT,
                                 "op %s: implementation '%s' is there twice", params->name,
                                 row->name);
            }
        }
    }
    return WEFT_OK;
}

static weft_status check(const weft_op_params *params, const weft_host *host) {
    const char *name = params->name;
    if (!name || !*name) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "weft_op_create: an op needs a name");
    }
    if (!params->infer) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "op %s: infer must not be null", name);
    }
    if (params->min_inputs == 0 || params->max_inputs > WEFT_MAX_NODE_INPUTS ||
        params->min_inputs > (params->max_inputs ? params->max_inputs : WEFT_MAX_NODE_INPUTS)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "op %s: takes %u to %u inputs, outside 1 … %d", name, params->min_inputs,
                         params->max_inputs, WEFT_MAX_NODE_INPUTS);
    }
    if (params->params_size > WEFT_MAX_PARAMETER_BYTES) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "op %s: %zu bytes of parameters, more than %d", name, params->params_size,
                         WEFT_MAX_PARAMETER_BYTES);
    }
    if (!params->implementations || params->implementation_count == 0 ||
        params->implementation_count > WEFT_MAX_VARIANTS) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "op %s: %u implementations, outside 1 … %d",
                         name, params->implementations ? params->implementation_count : 0,
                         WEFT_MAX_VARIANTS);
    }
    return check_rows(params, host);
}

/* ---- registering ---- */

weft_status weft_op_create(weft_op **out, const weft_op_params *params, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN_AS(host, "op, params", out, params);
    static atomic_uint_fast64_t made;
    WEFT_TRY(check(params, host));
    const size_t bytes = params->implementation_count * sizeof *params->implementations;
    struct registered *registered =
        weft_alloc_zero(host, 1, sizeof *registered + bytes + sizeof *params->implementations);
    if (!registered) {
        return weft_fail_memory(host, "an op");
    }
    atomic_init(&registered->references, 1);
    registered->host = host ? *host : (weft_host){0};
    memcpy(registered->rows, params->implementations, bytes);
    registered->op =
        (struct weft_op){.name = params->name,
                         .min_inputs = params->min_inputs,
                         .max_inputs = params->max_inputs ? params->max_inputs : params->min_inputs,
                         .params_size = params->params_size,
                         .infer = params->infer,
                         .choose = params->choose,
                         .describe = params->describe,
                         .implementations = registered->rows,
                         .user = params->user,
                         .uid = atomic_fetch_add(&made, 1) + 1};
    *out = &registered->op;
    return WEFT_OK;
}

/** The op is const for others; it has been allocated as this struct. */
static struct registered *registered_of(const struct weft_op *op) {
    return (void *)(uintptr_t)op;
}

void weft_op_retain(const struct weft_op *op) {
    atomic_fetch_add(&registered_of(op)->references, 1);
}

void weft_op_release(const struct weft_op *op) {
    struct registered *registered = registered_of(op);
    if (atomic_fetch_sub(&registered->references, 1) == 1) {
        const weft_host host = registered->host;
        weft_free(&host, registered);
    }
}

void weft_op_destroy(weft_op **op) {
    WEFT_ENTER;
    if (op && *op) {
        weft_op_release(*op);
        *op = NULL;
    }
}

/* ---- what its functions ask ---- */

void *weft_node_user(const weft_node *node) {
    return node ? node->op->user : NULL;
}

const void *weft_node_params(const weft_node *node) {
    return node ? node->params.bytes : NULL;
}

void weft_node_set_params(weft_node *node, const void *params) {
    WEFT_ENTER;
    if (node && params) {
        memcpy(node->params.bytes, params, node->op->params_size);
    }
}

const void *weft_node_weight(const weft_graph *graph, const weft_node *node, uint32_t input) {
    if (!graph || !weft_node_has_input(node, input)) {
        return NULL;
    }
    weft_weight *weight = graph->values[weft_graph_storage_of(graph, node->input[input])].weight;
    const void *data = NULL;
    return weight && weft_weight_data(&data, weight) == WEFT_OK ? data : NULL;
}

weft_status weft_node_fail(const weft_graph *graph, const weft_node *node, weft_status status,
                           const char *format, ...) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), graph, node, format);
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return weft_fail(&graph->host, status, "%s: %s", node->op->name, text);
}
