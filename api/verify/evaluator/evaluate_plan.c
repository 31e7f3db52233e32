/* SPDX-License-Identifier: MIT */
/* Evaluating a compiled plan: its memory on the host, and its dispatches in order. */
#include <stdio.h>
#include <string.h>

#include <weft/inspect.h>

#include "core/host.h"
#include "core/try.h"
#include "verify/evaluator/evaluator.h"

/* A plan's memory. Host memory is the C library's: a plan does not tell whose allocator it has. */
struct memory {
    const weft_plan *plan;
    const struct weft_evaluated_port *ports;
    uint32_t port_count;
    uint8_t *arena;
    uint8_t **constants; /* by storage; null for those that are none */
    uint32_t storage_count;
    char *text;
};

static weft_status fail_memory(const struct memory *memory, const char *what) {
    snprintf(memory->text, WEFT_EVALUATOR_TEXT, "out of memory for %s", what);
    return WEFT_OUT_OF_HOST_MEMORY;
}

/* Fails a query of an existing plan for a part that it has. */
static weft_status fail_plan(const struct memory *memory, weft_status status, const char *what) {
    snprintf(memory->text, WEFT_EVALUATOR_TEXT, "%s: %s", what, weft_status_name(status));
    return status;
}

/* ---- storages ---- */

static weft_status read_constant(struct memory *memory, uint32_t index, uint64_t bytes) {
    memory->constants[index] = weft_alloc(NULL, (size_t)bytes);
    if (!memory->constants[index]) {
        return fail_memory(memory, "a constant");
    }
    const weft_status status =
        weft_plan_read_constant(memory->plan, index, memory->constants[index]);
    return status == WEFT_OK ? status
                             : fail_plan(memory, status, "a constant could not be read back");
}

static weft_status prepare_memory(struct memory *memory) {
    weft_plan_info plan;
    weft_storage_info storage;
    WEFT_TRY(weft_plan_get_info(memory->plan, &plan));
    while (weft_plan_get_storage(memory->plan, memory->storage_count, &storage) == WEFT_OK) {
        memory->storage_count++;
    }
    const size_t arena = (size_t)plan.arena_bytes + 1;
    memory->arena = weft_alloc(NULL, arena);
    memory->constants =
        weft_alloc_zero(NULL, (size_t)memory->storage_count + 1, sizeof *memory->constants);
    if (!memory->arena || !memory->constants) {
        return fail_memory(memory, "an arena");
    }
    memset(memory->arena, 0xFF, arena); /* WEFT_EVALUATOR_POISON in every word */
    for (uint32_t i = 0; i < memory->storage_count; i++) {
        WEFT_TRY(weft_plan_get_storage(memory->plan, i, &storage));
        if (storage.kind == WEFT_STORAGE_CONSTANT) {
            WEFT_TRY(read_constant(memory, i, storage.bytes));
        }
    }
    return WEFT_OK;
}

static void free_memory(struct memory *memory) {
    for (uint32_t i = 0; memory->constants && i < memory->storage_count; i++) {
        weft_free(NULL, memory->constants[i]);
    }
    weft_free(NULL, memory->constants);
    weft_free(NULL, memory->arena);
}

/* The bytes of a port of the plan; null, after saying so, when they are not given. */
static uint8_t *port_bytes(const struct memory *memory, uint32_t index) {
    weft_port_info port;
    if (weft_plan_get_port(memory->plan, index, &port) != WEFT_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < memory->port_count; i++) {
        const struct weft_evaluated_port *given = &memory->ports[i];
        if (strcmp(given->name, port.name) == 0 && given->size >= port.bytes) {
            return given->data;
        }
    }
    snprintf(memory->text, WEFT_EVALUATOR_TEXT, "'%s' is not given, or is too small", port.name);
    return NULL;
}

static uint8_t *storage_bytes(const struct memory *memory, uint32_t index) {
    weft_storage_info storage;
    if (weft_plan_get_storage(memory->plan, index, &storage) != WEFT_OK) {
        return NULL;
    }
    switch (storage.kind) {
    case WEFT_STORAGE_ARENA:
        return memory->arena + storage.offset;
    case WEFT_STORAGE_PORT:
        return port_bytes(memory, storage.port);
    case WEFT_STORAGE_CONSTANT:
        return memory->constants[index];
    }
    return NULL;
}

/* ---- dispatches ---- */

static weft_status bind_operands(struct weft_evaluated_dispatch *evaluated,
                                 const struct memory *memory, uint32_t dispatch, uint32_t count) {
    if (count > WEFT_MAX_BINDINGS) {
        return fail_plan(memory, WEFT_UNSUPPORTED, "more storage buffers than are evaluated");
    }
    for (uint32_t i = 0; i < count; i++) {
        weft_operand_info operand;
        WEFT_TRY(weft_plan_get_operand(memory->plan, dispatch, i, &operand));
        uint8_t *bytes = storage_bytes(memory, operand.storage);
        if (!bytes) {
            return WEFT_INVALID_ARGUMENT;
        }
        evaluated->range[i] = (struct weft_interpreted_range){
            .data = bytes + operand.offset, .size = operand.bytes, .writable = operand.written};
    }
    return WEFT_OK;
}

/* *words is to be freed. */
static weft_status read_module(uint32_t **words, size_t *size, const struct memory *memory,
                               uint32_t dispatch, const char *label) {
    *size = 0;
    weft_status status =
        weft_plan_get_module(memory->plan, dispatch, WEFT_MODULE_PORTABLE, NULL, size);
    if (status == WEFT_OK) {
        *words = weft_alloc(NULL, *size);
        status = !*words ? WEFT_OUT_OF_HOST_MEMORY
                         : weft_plan_get_module(memory->plan, dispatch, WEFT_MODULE_PORTABLE,
                                                *words, size);
    }
    if (status != WEFT_OK) {
        snprintf(memory->text, WEFT_EVALUATOR_TEXT, "the module of %s cannot be used%s", label,
                 status == WEFT_UNSUPPORTED ? ": only reproducible math has defined bits" : "");
    }
    return status;
}

static weft_status run_dispatch(const struct memory *memory, weft_evaluator *evaluator,
                                uint32_t index, const weft_dispatch_info *dispatch) {
    weft_kernel_info kernel;
    WEFT_TRY(weft_plan_get_kernel(memory->plan, index, &kernel));
    struct weft_evaluated_dispatch evaluated = {
        .label = dispatch->node,
        .specialization = kernel.specialization,
        .specialization_count = kernel.specialization_count,
        .push = kernel.push,
        .push_size = kernel.push_bytes,
        .groups = {dispatch->groups[0], dispatch->groups[1], dispatch->groups[2]}};
    WEFT_TRY(bind_operands(&evaluated, memory, index, kernel.operand_count));
    uint32_t *words = NULL;
    weft_status status = read_module(&words, &evaluated.size, memory, index, dispatch->node);
    if (status == WEFT_OK) {
        evaluated.words = words;
        status = weft_evaluate_dispatch(memory->text, evaluator, &evaluated);
    }
    weft_free(NULL, words);
    return status;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): dispatches write it */
weft_status weft_evaluate_plan(char text[WEFT_EVALUATOR_TEXT], weft_evaluator *evaluator,
                               const weft_plan *plan, const struct weft_evaluated_port *ports,
                               uint32_t count) {
    struct memory memory = {.plan = plan, .ports = ports, .port_count = count, .text = text};
    weft_dispatch_info dispatch;
    weft_status status = prepare_memory(&memory);
    for (uint32_t i = 0;
         status == WEFT_OK && weft_plan_get_dispatch(plan, i, &dispatch) == WEFT_OK &&
         !weft_evaluator_was_stopped(evaluator);
         i++) {
        status = run_dispatch(&memory, evaluator, i, &dispatch);
    }
    free_memory(&memory);
    return status;
}
