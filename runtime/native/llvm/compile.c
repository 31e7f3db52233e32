/* SPDX-License-Identifier: MIT */
/* From a module to an object. */
#include <string.h>

#include "core/system/fork_gate.h"
#include "core/try.h"
#include "native/llvm/analysis.h"
#include "native/llvm/llvm.h"

static weft_status check_source(const struct weft_ir_source *source, const weft_host *host) {
    if (source->lanes != 4 && source->lanes != 8 && source->lanes != 16) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "vectors of %u lanes, expected 4, 8 or 16",
                         source->lanes);
    }
    return WEFT_OK;
}

weft_status weft_ir_analyze(struct weft_ir_program *program) {
    weft_ir_drop_dead_stores(program);
    weft_ir_drop_barriers(program);
    weft_ir_widen(program);
    weft_ir_mark_workgroup(program);
    weft_ir_find_homes(program);
    weft_ir_find_shapes(program);
    weft_ir_find_fragments(program);
    return program->status;
}

static weft_status compile(struct weft_native_object *object, struct weft_ir_program *program,
                           const struct weft_ir_source *source) {
    uint8_t *elf = NULL;
    size_t size = 0;
    struct weft_native_interface interface = {.lanes = source->lanes};
    weft_status status = weft_ir_decode(program, source);
    status = status == WEFT_OK ? weft_ir_analyze(program) : status;
    status = status == WEFT_OK ? weft_ir_emit(&elf, &size, program) : status;
    if (status != WEFT_OK) {
        (void)weft_fail(program->host, status, "compiling for the processor: %s", program->text);
    } else {
        memcpy(interface.local_size, program->local_size, sizeof interface.local_size);
        memcpy(interface.bindings, program->bindings, sizeof interface.bindings);
        interface.binding_count = program->binding_count;
        interface.push_size = program->push_size;
        interface.scratch_size = program->scratch_size;
        status = weft_native_object_pack(object, &interface, elf, size, program->host);
    }
    weft_free(program->host, elf);
    return status;
}

weft_status weft_native_compile(struct weft_native_object *object,
                                const struct weft_ir_source *source, const weft_host *host) {
    static weft_fork_gate gate; /* LLVM has locks of its own */
    const uint32_t changes = weft_native_compiler_changes();
    WEFT_TRY(check_source(source, host));
    WEFT_TRY(weft_fork_gate_enter(&gate, "compiling a kernel", host));
    weft_status status = weft_llvm_open(host);
    if (status == WEFT_OK && changes != weft_native_compiler_changes()) {
        /* The object would be kept under the other one's name. */
        status = weft_fail(host, WEFT_UNSUPPORTED,
                           "the processor's compiler could not be loaded; another one was: %s",
                           weft_native_compiler());
    }
    struct weft_ir_program program = {
        .host = host, .lanes = source->lanes, .checked = source->checked, .native = true};
    if (status == WEFT_OK) {
        status = compile(object, &program, source);
    }
    weft_fork_gate_leave(&gate);
    weft_ir_free(&program);
    return status;
}
