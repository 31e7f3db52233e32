/* SPDX-License-Identifier: MIT */
/* The module of one kernel. */
#include "native/llvm/emit.h"

#include <string.h>

#include "core/math/float_state.h"
#include "native/target.h"

static void make_types(struct weft_emit *emit) {
    const LLVMContextRef context = emit->context;
    emit->types[WEFT_IR_BOOL] = LLVMInt1TypeInContext(context);
    emit->types[WEFT_IR_I8] = LLVMInt8TypeInContext(context);
    emit->types[WEFT_IR_I16] = LLVMInt16TypeInContext(context);
    emit->types[WEFT_IR_I32] = LLVMInt32TypeInContext(context);
    emit->types[WEFT_IR_I64] = LLVMInt64TypeInContext(context);
    emit->types[WEFT_IR_F32] = LLVMFloatTypeInContext(context);
    emit->types[WEFT_IR_F64] = LLVMDoubleTypeInContext(context);
    emit->pointer = LLVMPointerTypeInContext(context, 0);
    emit->half = LLVMHalfTypeInContext(context);
    LLVMValueRef lanes[WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < emit->lanes; i++) {
        lanes[i] = weft_emit_u32(emit, i);
    }
    emit->iota = LLVMConstVector(lanes, emit->lanes);
}

/* Scopes that tell LLVM that scratch memory and the ranges do not overlap. */
static LLVMValueRef make_scope(struct weft_emit *emit, LLVMMetadataRef domain, const char *name) {
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(emit->context, name, strlen(name)), domain};
    LLVMMetadataRef scope = LLVMMDNodeInContext2(emit->context, parts, 2);
    return LLVMMetadataAsValue(emit->context, LLVMMDNodeInContext2(emit->context, &scope, 1));
}

static void make_metadata(struct weft_emit *emit) {
    static const char kernel[] = "kernel";
    LLVMMetadataRef name = LLVMMDStringInContext2(emit->context, kernel, sizeof kernel - 1);
    const LLVMMetadataRef domain = LLVMMDNodeInContext2(emit->context, &name, 1);
    emit->invariant_kind = LLVMGetMDKindIDInContext(emit->context, "invariant.load", 14);
    emit->scope_kind = LLVMGetMDKindIDInContext(emit->context, "alias.scope", 11);
    emit->noalias_kind = LLVMGetMDKindIDInContext(emit->context, "noalias", 7);
    emit->loop_kind = LLVMGetMDKindIDInContext(emit->context, "llvm.loop", 9);
    emit->scratch_scope = make_scope(emit, domain, "scratch");
    emit->memory_scope = make_scope(emit, domain, "memory");
}

static void add_attribute(struct weft_emit *emit, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(emit->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(emit->context, name, (unsigned)strlen(name),
                                                      value, (unsigned)strlen(value)));
}

static void add_enum_attribute(struct weft_emit *emit, const char *name) {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(emit->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(emit->context, kind, 0));
}

static void make_function(struct weft_emit *emit) {
    const LLVMTypeRef i32 = emit->types[WEFT_IR_I32];
    LLVMTypeRef parameters[] = {emit->pointer, i32, i32, i32, i32};
    const LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(emit->context), parameters, 5, 0);
    emit->function = LLVMAddFunction(emit->module, WEFT_NATIVE_ENTRY, type);
    /* Treatment of subnormals while this runs (core/math/float_state.h), also when LLVM folds constants. */
    add_attribute(emit, "denormal-fp-math",
                  WEFT_FLOAT_STATE_FLUSHES ? "preserve-sign,preserve-sign" : "ieee,ieee");
    add_attribute(emit, "no-builtins", "true"); /* no calls of functions that are nowhere */
    add_enum_attribute(emit, "nounwind");
    if (weft_native_machine()->windows_stack) {
        add_attribute(emit, "probe-stack", "inline-asm");
        add_enum_attribute(emit, "noredzone");
    }
    emit->entry = weft_emit_block(emit, "entry");
}

static void emit_module(struct weft_emit *emit) {
    const struct weft_native_machine *machine = weft_native_machine();
    make_types(emit);
    make_metadata(emit);
    make_function(emit);
    const bool old = strcmp(machine->cpu, "x86-64") == 0 || strcmp(machine->cpu, "x86-64-v2") == 0;
    emit->has_fma = !old;
    emit->has_half = !old;
    emit->scratch_size = (emit->program->shared_size + 63) / 64 * 64;
    weft_emit_workgroup(emit);
    emit->program->scratch_size = emit->scratch_size;
}

weft_status weft_ir_emit(uint8_t **elf, size_t *size, struct weft_ir_program *program) {
    const weft_host *host = program->host;
    struct weft_emit emit = {.program = program, .lanes = program->lanes};
    emit.invocations = program->local_size[0] * program->local_size[1] * program->local_size[2];
    emit.subgroups = (emit.invocations + emit.lanes - 1) / emit.lanes;
    emit.targets = weft_alloc_zero(host, (size_t)program->node_count + 1, sizeof *emit.targets);
    emit.ends = weft_alloc_zero(host, (size_t)program->node_count + 1, sizeof *emit.ends);
    if (!emit.targets || !emit.ends) {
        weft_ir_error(program, WEFT_OUT_OF_HOST_MEMORY, "out of memory");
    } else {
        emit.context = LLVMContextCreate();
        weft_emit_listen(&emit);
        emit.module = LLVMModuleCreateWithNameInContext("kernel", emit.context);
        emit.builder = LLVMCreateBuilderInContext(emit.context);
        emit_module(&emit);
        if (program->status == WEFT_OK) {
            program->status = weft_emit_object(elf, size, &emit);
        }
        LLVMDisposeBuilder(emit.builder);
        LLVMDisposeModule(emit.module);
        LLVMContextDispose(emit.context);
    }
    weft_free(host, emit.jumped);
    weft_free(host, emit.ends);
    weft_free(host, emit.targets);
    return program->status;
}
