/* SPDX-License-Identifier: MIT */
/* Values as scalars and vectors, and masks. */
#include "native/llvm/emit.h"

#include <string.h>

LLVMTypeRef weft_emit_vector_type(const struct weft_emit *emit, uint32_t type) {
    return LLVMVectorType(emit->types[type], emit->lanes);
}

LLVMValueRef weft_emit_u32(const struct weft_emit *emit, uint32_t value) {
    return LLVMConstInt(emit->types[WEFT_IR_I32], value, 0);
}

LLVMValueRef weft_emit_u64(const struct weft_emit *emit, uint64_t value) {
    return LLVMConstInt(emit->types[WEFT_IR_I64], value, 0);
}

bool weft_emit_is_vector(LLVMValueRef value) {
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

LLVMTypeRef weft_emit_element_type(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

uint32_t weft_emit_width(LLVMTypeRef type) {
    return LLVMGetIntTypeWidth(weft_emit_element_type(type));
}

LLVMValueRef weft_emit_number(const struct weft_emit *emit, LLVMValueRef like, uint64_t number) {
    const LLVMTypeRef type = LLVMTypeOf(like);
    if (!weft_emit_is_vector(like)) {
        return LLVMConstInt(type, number, 1);
    }
    LLVMValueRef lanes[WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < emit->lanes; i++) {
        lanes[i] = LLVMConstInt(LLVMGetElementType(type), number, 1);
    }
    return LLVMConstVector(lanes, emit->lanes);
}

LLVMValueRef weft_emit_splat(struct weft_emit *emit, LLVMValueRef scalar) {
    const LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), emit->lanes);
    const LLVMTypeRef mask = LLVMVectorType(emit->types[WEFT_IR_I32], emit->lanes);
    const LLVMValueRef one = LLVMBuildInsertElement(emit->builder, LLVMGetPoison(type), scalar,
                                                    weft_emit_u32(emit, 0), "");
    return LLVMBuildShuffleVector(emit->builder, one, LLVMGetPoison(type), LLVMConstNull(mask), "");
}

struct weft_ir_shape weft_emit_shape(const struct weft_emit *emit, weft_ir_value value) {
    return emit->program->values[value].shape;
}

bool weft_emit_is_varying(const struct weft_emit *emit, weft_ir_value value) {
    return emit->program->values[value].shape.kind == WEFT_IR_VARYING;
}

static LLVMValueRef constant(const struct weft_emit *emit, const struct weft_ir_def *def) {
    const LLVMTypeRef type = emit->types[def->type];
    if (!weft_ir_is_float(def->type)) {
        return LLVMConstInt(type, def->bits, 0);
    }
    const LLVMTypeRef bits = LLVMIntTypeInContext(emit->context, weft_ir_bits(def->type));
    return LLVMConstBitCast(LLVMConstInt(bits, def->bits, 0), type);
}

LLVMValueRef weft_emit_scalar(struct weft_emit *emit, weft_ir_value value) {
    const struct weft_ir_def *def = &emit->program->values[value];
    if (def->constant) {
        return constant(emit, def);
    }
    if (!def->llvm || def->shape.kind == WEFT_IR_VARYING) {
        weft_ir_error(emit->program, WEFT_COMPILE_ERROR, "a value is used before it is made");
        return LLVMGetPoison(emit->types[def->type]);
    }
    return def->llvm;
}

/* Difference of each lane to lane 0. */
static LLVMValueRef steps(const struct weft_emit *emit, uint32_t type, struct weft_ir_shape shape) {
    LLVMValueRef lanes[WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < emit->lanes; i++) {
        lanes[i] = LLVMConstInt(emit->types[type],
                                (uint64_t)weft_ir_lane_offset(emit->program, shape, i), 1);
    }
    return LLVMConstVector(lanes, emit->lanes);
}

LLVMValueRef weft_emit_vector(struct weft_emit *emit, weft_ir_value value) {
    const struct weft_ir_def *def = &emit->program->values[value];
    if (def->shape.kind != WEFT_IR_VARYING) {
        const LLVMValueRef splat = weft_emit_splat(emit, weft_emit_scalar(emit, value));
        return def->shape.kind != WEFT_IR_LINEAR
                   ? splat
                   : LLVMBuildAdd(emit->builder, splat, steps(emit, def->type, def->shape), "");
    }
    if (!def->llvm) {
        weft_ir_error(emit->program, WEFT_COMPILE_ERROR, "a value is used before it is made");
        return LLVMGetPoison(weft_emit_vector_type(emit, def->type));
    }
    return def->llvm;
}

void weft_emit_define(struct weft_emit *emit, weft_ir_value value, LLVMValueRef made) {
    emit->program->values[value].llvm = made;
}

/* ---- intrinsics ---- */

LLVMValueRef weft_emit_intrinsic(struct weft_emit *emit, const char *name, LLVMTypeRef *types,
                                 uint32_t type_count, LLVMValueRef *arguments, uint32_t count) {
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    const LLVMValueRef function = LLVMGetIntrinsicDeclaration(emit->module, id, types, type_count);
    const LLVMTypeRef type = LLVMIntrinsicGetType(emit->context, id, types, type_count);
    return LLVMBuildCall2(emit->builder, type, function, arguments, count, "");
}

LLVMTypeRef weft_emit_intrinsic_type(struct weft_emit *emit, const char *name, LLVMTypeRef *types,
                                     uint32_t type_count) {
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    return LLVMIntrinsicGetType(emit->context, id, types, type_count);
}

LLVMValueRef weft_emit_unary(struct weft_emit *emit, const char *name, LLVMValueRef a) {
    LLVMTypeRef type = LLVMTypeOf(a);
    return weft_emit_intrinsic(emit, name, &type, 1, &a, 1);
}

/* ---- masks ---- */

LLVMValueRef weft_emit_all_lanes(struct weft_emit *emit, bool on) {
    const LLVMTypeRef type = weft_emit_vector_type(emit, WEFT_IR_BOOL);
    return on ? LLVMConstAllOnes(type) : LLVMConstNull(type);
}

LLVMValueRef weft_emit_exec(struct weft_emit *emit) {
    return emit->exec ? emit->exec : weft_emit_all_lanes(emit, true);
}

/* A mask as bits of an i32: in two ways. */

#if defined(__aarch64__)

/* The upper half of a vector of so many elements or'ed to the lower one. */
static LLVMValueRef fold_halves(struct weft_emit *emit, LLVMValueRef vector, uint32_t count) {
    LLVMValueRef places[2][WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < count / 2; i++) {
        places[0][i] = weft_emit_u32(emit, i);
        places[1][i] = weft_emit_u32(emit, i + count / 2);
    }
    LLVMValueRef halves[2];
    for (uint32_t k = 0; k < 2; k++) {
        halves[k] = LLVMBuildShuffleVector(emit->builder, vector, vector,
                                           LLVMConstVector(places[k], count / 2), "");
    }
    return LLVMBuildOr(emit->builder, halves[0], halves[1], "");
}

/*
 * Each lane's bit, added up by an instruction that LLVM does not look into. Where it does, as in the other way below, it turns
 * "the bits are not 0" into the largest of 16-bit elements of which only the lowest bit counts: LLVM 15 then takes a mask that
 * has been negated for empty when one of its lanes is.
 */
static LLVMValueRef mask_bits(struct weft_emit *emit, LLVMValueRef mask) {
    LLVMValueRef places[WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < emit->lanes; i++) {
        places[i] = weft_emit_u32(emit, UINT32_C(1) << i);
    }
    const LLVMValueRef all = LLVMConstVector(places, emit->lanes);
    LLVMValueRef bits =
        LLVMBuildSelect(emit->builder, mask, all, LLVMConstNull(LLVMTypeOf(all)), "");
    for (uint32_t count = emit->lanes; count > 4; count /= 2) {
        bits = fold_halves(emit, bits, count);
    }
    LLVMTypeRef types[] = {emit->types[WEFT_IR_I32], LLVMTypeOf(bits)};
    return weft_emit_intrinsic(emit, "llvm.aarch64.neon.uaddv", types, 2, &bits, 1);
}

#else

static LLVMValueRef mask_bits(struct weft_emit *emit, LLVMValueRef mask) {
    const LLVMTypeRef bits = LLVMIntTypeInContext(emit->context, emit->lanes);
    return LLVMBuildZExt(emit->builder, LLVMBuildBitCast(emit->builder, mask, bits, ""),
                         emit->types[WEFT_IR_I32], "");
}

#endif

LLVMValueRef weft_emit_first_lane(struct weft_emit *emit) {
    if (!emit->exec) {
        return weft_emit_u32(emit, 0);
    }
    LLVMTypeRef type = emit->types[WEFT_IR_I32];
    LLVMValueRef arguments[] = {mask_bits(emit, emit->exec),
                                LLVMConstNull(emit->types[WEFT_IR_BOOL])};
    const LLVMValueRef lane = weft_emit_intrinsic(emit, "llvm.cttz", &type, 1, arguments, 2);
    /* If no lane runs, any valid lane number will do. */
    return LLVMBuildAnd(emit->builder, lane, weft_emit_u32(emit, emit->lanes - 1), "");
}

LLVMValueRef weft_emit_any(struct weft_emit *emit, LLVMValueRef mask) {
    return LLVMBuildICmp(emit->builder, LLVMIntNE, mask_bits(emit, mask), weft_emit_u32(emit, 0),
                         "");
}

LLVMValueRef weft_emit_mask_load(struct weft_emit *emit, LLVMValueRef variable) {
    const LLVMTypeRef type = weft_emit_vector_type(emit, WEFT_IR_I32);
    return LLVMBuildICmp(emit->builder, LLVMIntNE,
                         LLVMBuildLoad2(emit->builder, type, variable, ""), LLVMConstNull(type),
                         "");
}

void weft_emit_mask_store(struct weft_emit *emit, LLVMValueRef variable, LLVMValueRef mask) {
    const LLVMTypeRef type = weft_emit_vector_type(emit, WEFT_IR_I32);
    LLVMBuildStore(emit->builder, LLVMBuildSExt(emit->builder, mask, type, ""), variable);
}

/* ---- places ---- */

LLVMValueRef weft_emit_variable(struct weft_emit *emit, LLVMTypeRef type) {
    const LLVMBasicBlockRef here = LLVMGetInsertBlock(emit->builder);
    LLVMPositionBuilderBefore(emit->builder, LLVMGetBasicBlockTerminator(emit->entry));
    const LLVMValueRef variable = LLVMBuildAlloca(emit->builder, type, "");
    LLVMPositionBuilderAtEnd(emit->builder, here);
    return variable;
}

LLVMBasicBlockRef weft_emit_block(struct weft_emit *emit, const char *name) {
    return LLVMAppendBasicBlockInContext(emit->context, emit->function, name);
}

void weft_emit_at(struct weft_emit *emit, LLVMBasicBlockRef block) {
    LLVMPositionBuilderAtEnd(emit->builder, block);
}
