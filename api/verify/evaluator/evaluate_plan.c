/* SPDX-License-Identifier: MIT */
/* Evaluating a compiled plan: its memory on the host, and its dispatches in order. */
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "shader/embedded.h"
#include "shader/spirv_pass.h"
#include "verify/evaluator/evaluator.h"

/* A plan's memory. */
struct memory {
    const weft_plan *plan;
    const weft_host *host;
    const struct weft_evaluated_port *ports;
    uint32_t port_count;
    uint8_t *arena;
    uint8_t **constants; /* by storage; null for those that are none */
    char *text;
};

static weft_status fail_memory(const struct memory *memory, const char *what) {
    snprintf(memory->text, WEFT_EVALUATOR_TEXT, "out of memory for %s", what);
    return WEFT_OUT_OF_HOST_MEMORY;
}

/* ---- storages ---- */

static weft_status read_constant(struct memory *memory, uint32_t index) {
    const struct weft_constant *constant = memory->plan->lowering.storages[index].constant;
    memory->constants[index] = weft_alloc(memory->host, (size_t)constant->bytes);
    if (memory->constants[index] == NULL) {
        return fail_memory(memory, "a constant");
    }
    weft_status status = weft_device_download(memory->plan->device, constant->buffer, 0,
                                              memory->constants[index], constant->bytes);
    if (status != WEFT_OK) {
        snprintf(memory->text, WEFT_EVALUATOR_TEXT, "a constant could not be read back: %s",
                 weft_status_name(status));
    }
    return status;
}

static weft_status prepare_memory(struct memory *memory) {
    const struct weft_lowering *lowering = &memory->plan->lowering;
    size_t arena = (size_t)memory->plan->info.arena_bytes + 1;
    memory->arena = weft_alloc(memory->host, arena);
    memory->constants = weft_alloc_zero(memory->host, (size_t)lowering->storage_count + 1,
                                        sizeof *memory->constants);
    if (memory->arena == NULL || memory->constants == NULL) {
        return fail_memory(memory, "an arena");
    }
    memset(memory->arena, 0xFF, arena); /* WEFT_EVALUATOR_POISON in every word */
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < lowering->storage_count && status == WEFT_OK; i++) {
        if (lowering->storages[i].kind == WEFT_STORAGE_CONSTANT) {
            status = read_constant(memory, i);
        }
    }
    return status;
}

static void free_memory(struct memory *memory) {
    for (uint32_t i = 0; memory->constants != NULL && i < memory->plan->lowering.storage_count;
         i++) {
        weft_free(memory->host, memory->constants[i]);
    }
    weft_free(memory->host, memory->constants);
    weft_free(memory->host, memory->arena);
}

/* The bytes of a port of the plan; null when they are not given. */
static uint8_t *port_bytes(const struct memory *memory, const struct weft_port *port) {
    for (uint32_t i = 0; i < memory->port_count; i++) {
        const struct weft_evaluated_port *given = &memory->ports[i];
        if (strcmp(given->name, port->name) == 0 && given->size >= port->bytes) {
            return given->data;
        }
    }
    return NULL;
}

static uint8_t *storage_bytes(const struct memory *memory, uint32_t index) {
    const struct weft_storage *storage = &memory->plan->lowering.storages[index];
    switch (storage->kind) {
    case WEFT_STORAGE_ARENA:
        return memory->arena + storage->offset;
    case WEFT_STORAGE_PORT:
        return port_bytes(memory, &memory->plan->ports[storage->port]);
    case WEFT_STORAGE_CONSTANT:
        return memory->constants[index];
    }
    return NULL;
}

/* ---- dispatches ---- */

static weft_status find_module(struct weft_spirv *module, const struct memory *memory,
                               const struct weft_pipeline_desc *pipeline) {
    *module = pipeline->spirv;
    if (module->words != NULL) {
        return WEFT_OK;
    }
    const struct weft_shader *shader = weft_shader_find(pipeline->name);
    if (shader == NULL) {
        snprintf(memory->text, WEFT_EVALUATOR_TEXT, "no embedded shader is called %s",
                 pipeline->name);
        return WEFT_NOT_FOUND;
    }
    *module = (struct weft_spirv){.words = shader->reproducible.words, .size = shader->reproducible.size};
    return WEFT_OK;
}

static weft_status bind_operands(struct weft_evaluated_dispatch *evaluated,
                                 const struct memory *memory,
                                 const struct weft_dispatch *dispatch) {
    for (uint32_t i = 0; i < dispatch->operand_count; i++) {
        const struct weft_operand *operand = &dispatch->operand[i];
        const struct weft_storage *storage = &memory->plan->lowering.storages[operand->storage];
        uint8_t *bytes = storage_bytes(memory, operand->storage);
        if (bytes == NULL) {
            snprintf(memory->text, WEFT_EVALUATOR_TEXT, "'%s' is not given, or is too small",
                     memory->plan->ports[storage->port].name);
            return WEFT_INVALID_ARGUMENT;
        }
        evaluated->range[i] = (struct weft_evaluated_range){
            .data = bytes + operand->offset,
            .size = operand->range != 0 ? operand->range : storage->bytes - operand->offset,
            .writable = operand->write};
    }
    return WEFT_OK;
}

static weft_status run_dispatch(const struct memory *memory, weft_evaluator *evaluator,
                                const struct weft_dispatch *dispatch) {
    const struct weft_pipeline_desc *pipeline = &dispatch->pipeline;
    struct weft_evaluated_dispatch evaluated = {
        .label = dispatch->label,
        .specialization = pipeline->specialization,
        .specialization_count = pipeline->specialization_count,
        .push = dispatch->push,
        .push_size = dispatch->push_size,
        .groups = {dispatch->groups[0], dispatch->groups[1], dispatch->groups[2]}};
    struct weft_spirv module;
    weft_status status = bind_operands(&evaluated, memory, dispatch);
    status = status != WEFT_OK ? status : find_module(&module, memory, pipeline);
    uint32_t *words = NULL;
    if (status == WEFT_OK) {
        status = weft_spirv_make_reproducible(&words, &evaluated.size, module.words, module.size,
                                              memory->host);
        evaluated.words = words;
        snprintf(memory->text, WEFT_EVALUATOR_TEXT, "the module of %s cannot be used",
                 dispatch->label);
    }
    if (status == WEFT_OK) {
        status = weft_evaluate_dispatch(memory->text, evaluator, &evaluated);
    }
    weft_free(memory->host, words);
    return status;
}

weft_status weft_evaluate_plan(char text[WEFT_EVALUATOR_TEXT], weft_evaluator *evaluator,
                               const weft_plan *plan, const struct weft_evaluated_port *ports,
                               uint32_t count) {
    if (plan->device->math != WEFT_MATH_REPRODUCIBLE) {
        snprintf(text, WEFT_EVALUATOR_TEXT, "only reproducible math has defined bits");
        return WEFT_INVALID_ARGUMENT;
    }
    struct memory memory = {.plan = plan,
                            .host = &plan->device->host,
                            .ports = ports,
                            .port_count = count,
                            .text = text};
    weft_status status = prepare_memory(&memory);
    for (uint32_t i = 0; i < plan->lowering.dispatch_count && status == WEFT_OK &&
                         !weft_evaluator_was_stopped(evaluator);
         i++) {
        status = run_dispatch(&memory, evaluator, &plan->lowering.dispatches[i]);
    }
    free_memory(&memory);
    return status;
}
