/* SPDX-License-Identifier: MIT */
#include "native/interpreted.h"

#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "interpret/interpret.h"
#include "spirv/check.h"

/*
 * The code of an object, integers little-endian: 4 bytes magic, 4 lanes, 4 count of constants, 4 size of the entry point's
 * name with its end, in whole words; then each constant (4 bytes id, 4 size, 8 value), the name, and the words.
 */
#define MAGIC_AT      0u
#define LANES_AT      4u
#define COUNT_AT      8u
#define NAME_AT       12u
#define CONSTANTS_AT  16u
#define CONSTANT_SIZE 16u
#define MOST          4096u /* constants, and bytes of a name */

static const uint8_t magic[4] = {'W', 'I', 'R', '\n'};

static size_t round_up(size_t size, size_t to) {
    return (size + to - 1) / to * to;
}

/* ---- an object of a module ---- */

static uint8_t *write_code(size_t *size, const struct weft_ir_source *source,
                           const weft_host *host) {
    const size_t name = strlen(source->entry_point) + 1;
    const size_t words_at =
        CONSTANTS_AT + CONSTANT_SIZE * (size_t)source->constant_count + round_up(name, 4);
    uint8_t *code = weft_alloc_zero(host, words_at + source->size, 1);
    if (!code) {
        return NULL;
    }
    memcpy(code, magic, sizeof magic);
    weft_store_bytes(code + LANES_AT, source->lanes, 4);
    weft_store_bytes(code + COUNT_AT, source->constant_count, 4);
    weft_store_bytes(code + NAME_AT, round_up(name, 4), 4);
    uint8_t *at = code + CONSTANTS_AT;
    for (uint32_t i = 0; i < source->constant_count; i++, at += CONSTANT_SIZE) {
        const struct weft_ir_specialization *constant = &source->constants[i];
        weft_store_bytes(at, constant->id, 4);
        weft_store_bytes(at + 4, constant->size, 4);
        memcpy(at + 8, constant->value, constant->size < 8 ? constant->size : 8);
    }
    memcpy(at, source->entry_point, name);
    memcpy(code + words_at, source->words, source->size);
    *size = words_at + source->size;
    return code;
}

static size_t scratch_size(const struct weft_interpreted *interpreted) {
    return round_up(sizeof(struct weft_interpret_group), 64) + weft_interpreted_memory(interpreted);
}

static weft_status describe(struct weft_native_interface *interface,
                            struct weft_interpreted *interpreted, const weft_host *host) {
    const struct weft_ir_program *program = weft_interpreted_program(interpreted);
    const size_t scratch = scratch_size(interpreted);
    if (scratch > UINT32_MAX) {
        return weft_fail(host, WEFT_UNSUPPORTED, "interpreting a kernel takes %zu bytes", scratch);
    }
    *interface = (struct weft_native_interface){.lanes = program->lanes,
                                                .scratch_size = (uint32_t)scratch,
                                                .push_size = program->push_size,
                                                .binding_count = program->binding_count};
    memcpy(interface->local_size, program->local_size, sizeof interface->local_size);
    memcpy(interface->bindings, program->bindings, sizeof interface->bindings);
    return WEFT_OK;
}

static weft_status interpret(struct weft_interpreted **interpreted,
                             const struct weft_ir_source *source, const weft_host *host) {
    char text[WEFT_IR_TEXT] = "";
    const weft_status status = weft_interpret(interpreted, source, false, text, host);
    return status == WEFT_OK ? status
                             : weft_fail(host, status, "interpreting for the processor: %s", text);
}

weft_status weft_native_interpret(struct weft_native_object *object,
                                  const struct weft_ir_source *source, const weft_host *host) {
    struct weft_interpreted *interpreted = NULL;
    struct weft_native_interface interface;
    *object = (struct weft_native_object){0};
    WEFT_TRY(interpret(&interpreted, source, host));
    weft_status status = describe(&interface, interpreted, host);
    weft_interpreted_free(&interpreted);
    if (status == WEFT_OK) {
        size_t size = 0;
        uint8_t *code = write_code(&size, source, host);
        status = code ? weft_native_object_pack(object, &interface, code, size, host)
                      : weft_fail_memory(host, "a module");
        weft_free(host, code);
    }
    return status;
}

/* ---- a kernel of an object ---- */

static void WEFT_NATIVE_ABI run(const struct weft_native_call *call, uint32_t x, uint32_t y,
                                uint32_t z, uint32_t count) {
    struct weft_interpret_group *group = call->scratch;
    const struct weft_ir_program *program = weft_interpreted_program(call->interpreted);
    *group = (struct weft_interpret_group){
        .kernel = call->interpreted,
        .memory = (uint8_t *)call->scratch + round_up(sizeof *group, 64),
        .groups = {call->groups[0], call->groups[1], call->groups[2]},
        .step_limit = UINT64_MAX,
        .robust = true,
        .halt = call->halt};
    for (uint32_t i = 0; i < program->binding_count; i++) {
        group->range[i] = (struct weft_interpreted_range){
            .data = call->ranges[i].data, .size = call->ranges[i].size, .writable = true};
    }
    group->range[WEFT_INTERPRET_PUSH] = (struct weft_interpreted_range){
        .data = (uint8_t *)(uintptr_t)call->push, .size = program->push_size};
    weft_interpret_begin(group);
    for (uint32_t i = 0; i < count && group->fault.kind == WEFT_INTERPRET_NO_FAULT; i++) {
        group->id[0] = x + i;
        group->id[1] = y;
        group->id[2] = z;
        weft_interpret_group(group);
    }
}

bool weft_native_is_interpreted(const uint8_t *code, size_t size) {
    return size >= CONSTANTS_AT && memcmp(code, magic, sizeof magic) == 0;
}

/* Parses an aligned copy of the code; false if its sizes do not fit. */
static bool read_code(struct weft_ir_source *source, struct weft_ir_specialization *constants,
                      const uint8_t *code, size_t size) {
    const size_t count = (size_t)weft_load_bytes(code + COUNT_AT, 4);
    const size_t name = (size_t)weft_load_bytes(code + NAME_AT, 4);
    const size_t name_at = CONSTANTS_AT + CONSTANT_SIZE * count;
    if (count > MOST || name == 0 || name > MOST || name % 4 != 0 || size % 4 != 0 ||
        size < name_at + name || code[name_at + name - 1] != '\0') {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = code + CONSTANTS_AT + CONSTANT_SIZE * i;
        constants[i] = (struct weft_ir_specialization){.id = (uint32_t)weft_load_bytes(at, 4),
                                                       .size = (uint32_t)weft_load_bytes(at + 4, 4),
                                                       .value = at + 8};
    }
    *source =
        (struct weft_ir_source){.words = (const uint32_t *)(const void *)(code + name_at + name),
                                .size = size - name_at - name,
                                .entry_point = (const char *)code + name_at,
                                .constants = constants,
                                .constant_count = (uint32_t)count,
                                .lanes = (uint32_t)weft_load_bytes(code + LANES_AT, 4)};
    return source->lanes == 4 || source->lanes == 8 || source->lanes == 16;
}

static weft_status load(struct weft_native_kernel *kernel, struct weft_ir_specialization *constants,
                        const uint8_t *code, size_t size, const weft_host *host) {
    struct weft_ir_source source;
    struct weft_native_interface interface;
    if (!read_code(&source, constants, code, size) ||
        weft_spirv_check(source.words, source.size, NULL) != WEFT_OK) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "interpreted code: the module does not hold together");
    }
    const weft_status status = interpret(&kernel->interpreted, &source, host);
    if (status != WEFT_OK) {
        return status == WEFT_OUT_OF_HOST_MEMORY ? status : WEFT_BAD_FILE;
    }
    WEFT_TRY(describe(&interface, kernel->interpreted, host));
    if (memcmp(&interface, &kernel->interface, sizeof interface) != 0) {
        return weft_fail(host, WEFT_BAD_FILE, "interpreted code: the module has another interface");
    }
    kernel->entry = run;
    return WEFT_OK;
}

weft_status weft_native_interpreted_load(struct weft_native_kernel *kernel, const uint8_t *code,
                                         size_t size, const weft_host *host) {
    uint8_t *copy = weft_alloc(host, size);
    struct weft_ir_specialization *constants = weft_alloc_zero(host, MOST, sizeof *constants);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    if (!copy || !constants) {
        status = weft_fail_memory(host, "interpreted code");
    } else {
        memcpy(copy, code, size);
        status = load(kernel, constants, copy, size, host);
    }
    weft_free(host, constants);
    weft_free(host, copy);
    return status;
}
