/* SPDX-License-Identifier: MIT */
/* LLVM's optimizer and code generator. */
#include "native/llvm/emit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "native/llvm/version.h"
#include "native/target.h"

/* Turns LLVM's message into an error of ours; frees it. */
static weft_status fail_with(struct weft_emit *emit, const char *what, char *message) {
    weft_ir_error(emit->program, WEFT_COMPILE_ERROR, "%s: %s", what,
                  message ? message : "(nothing)");
    LLVMDisposeMessage(message);
    return emit->program->status;
}

/* Without somebody who listens LLVM prints what it has to say, and ends the process where that is an error. */
static void hear(LLVMDiagnosticInfoRef told, void *user) {
    struct weft_emit *emit = user;
    if (LLVMGetDiagInfoSeverity(told) == LLVMDSError) {
        (void)fail_with(emit, "LLVM", LLVMGetDiagInfoDescription(told));
    }
}

void weft_emit_listen(struct weft_emit *emit) {
    LLVMContextSetDiagnosticHandler(emit->context, hear, emit);
}

static LLVMTargetMachineRef make_machine(struct weft_emit *emit) {
    const struct weft_native_machine *machine = weft_native_machine();
    LLVMTargetRef target = NULL;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(machine->triple, &target, &message)) {
        fail_with(emit, "LLVM does not know this processor", message);
        return NULL;
    }
    const LLVMTargetMachineRef made =
        LLVMCreateTargetMachine(target, machine->triple, machine->cpu, machine->features,
                                LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
    if (!made) {
        weft_ir_error(emit->program, WEFT_COMPILE_ERROR, "LLVM has no code generator for %s",
                      machine->triple);
    }
    return made;
}

static weft_status optimize(struct weft_emit *emit, LLVMTargetMachineRef machine) {
    const LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    const LLVMErrorRef error = LLVMRunPasses(emit->module, weft_llvm_passes(), machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error) {
        char *message = LLVMGetErrorMessage(error);
        weft_ir_error(emit->program, WEFT_COMPILE_ERROR, "LLVM: %s", message);
        LLVMDisposeErrorMessage(message);
    }
    return emit->program->status;
}

static weft_status generate(uint8_t **elf, size_t *size, struct weft_emit *emit,
                            LLVMTargetMachineRef machine) {
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, emit->module, LLVMObjectFile, &message,
                                            &buffer)) {
        return fail_with(emit, "LLVM's code generator", message);
    }
    *size = LLVMGetBufferSize(buffer);
    *elf = weft_alloc(emit->program->host, *size);
    if (*elf) {
        memcpy(*elf, LLVMGetBufferStart(buffer), *size);
    } else {
        weft_ir_error(emit->program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
    }
    LLVMDisposeMemoryBuffer(buffer);
    return emit->program->status;
}

static void set_layout(struct weft_emit *emit, LLVMTargetMachineRef machine) {
    const LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(emit->module, weft_native_machine()->triple);
    LLVMSetModuleDataLayout(emit->module, layout);
    LLVMDisposeTargetData(layout);
}

weft_status weft_emit_object(uint8_t **elf, size_t *size, struct weft_emit *emit) {
    char *message = NULL;
    if (LLVMVerifyModule(emit->module, LLVMReturnStatusAction, &message)) {
        return fail_with(emit, "what was made for LLVM does not hold together", message);
    }
    LLVMDisposeMessage(message);
    const LLVMTargetMachineRef machine = make_machine(emit);
    if (!machine) {
        return emit->program->status;
    }
    set_layout(emit, machine);
    weft_status status = optimize(emit, machine);
    if (status == WEFT_OK) {
        status = generate(elf, size, emit, machine);
    }
    LLVMDisposeTargetMachine(machine);
    return status;
}
