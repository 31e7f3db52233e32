/* SPDX-License-Identifier: MIT */
/* Built-in variables, operations over a subgroup, and which function emits which instruction. */
#include "native/llvm/emit.h"

#include <stddef.h>

#include "spirv/check.h"

/* ---- built-in variables ---- */

/* gl_LocalInvocationIndex: of lane 0, or of all lanes. */
static LLVMValueRef local_index(struct weft_emit *emit, bool vector) {
    const LLVMValueRef first =
        LLVMBuildMul(emit->builder, emit->subgroup, weft_emit_u32(emit, emit->lanes), "");
    return vector ? LLVMBuildAdd(emit->builder, weft_emit_splat(emit, first), emit->iota, "")
                  : first;
}

static LLVMValueRef local_id(struct weft_emit *emit, uint32_t dimension, bool vector) {
    const uint32_t *size = emit->program->local_size;
    uint32_t inner = 1;
    for (uint32_t i = 0; i < dimension; i++) {
        inner *= size[i];
    }
    const LLVMValueRef index = local_index(emit, vector);
    const LLVMValueRef quotient =
        LLVMBuildUDiv(emit->builder, index, weft_emit_number(emit, index, inner), "");
    return LLVMBuildURem(emit->builder, quotient, weft_emit_number(emit, index, size[dimension]),
                         "");
}

static LLVMValueRef global_id(struct weft_emit *emit, uint32_t dimension, bool vector) {
    LLVMValueRef first =
        LLVMBuildMul(emit->builder, emit->workgroup[dimension],
                     weft_emit_u32(emit, emit->program->local_size[dimension]), "");
    first = vector ? weft_emit_splat(emit, first) : first;
    return LLVMBuildAdd(emit->builder, first, local_id(emit, dimension, vector), "");
}

static LLVMValueRef number_of_workgroups(struct weft_emit *emit, uint32_t dimension) {
    LLVMValueRef at =
        weft_emit_u64(emit, offsetof(struct weft_native_call, groups) + 4 * (uint64_t)dimension);
    const LLVMValueRef from =
        LLVMBuildGEP2(emit->builder, emit->types[WEFT_IR_I8], emit->call, &at, 1, "");
    return LLVMBuildLoad2(emit->builder, emit->types[WEFT_IR_I32], from, "");
}

static void emit_input(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const bool vector = weft_emit_is_varying(emit, instruction->result);
    const uint32_t component = instruction->place < 3 ? instruction->place : 0;
    LLVMValueRef made = NULL;
    switch (instruction->root) {
    case SpvBuiltInNumWorkgroups:
        made = number_of_workgroups(emit, component);
        break;
    case SpvBuiltInWorkgroupId:
        made = emit->workgroup[component];
        break;
    case SpvBuiltInLocalInvocationId:
        made = local_id(emit, component, vector);
        break;
    case SpvBuiltInGlobalInvocationId:
        made = global_id(emit, component, vector);
        break;
    case SpvBuiltInLocalInvocationIndex:
        made = local_index(emit, vector);
        break;
    case SpvBuiltInSubgroupSize:
        made = weft_emit_u32(emit, emit->lanes);
        break;
    case SpvBuiltInNumSubgroups:
        made = weft_emit_u32(emit, emit->subgroups);
        break;
    case SpvBuiltInSubgroupId:
        made = emit->subgroup;
        break;
    case SpvBuiltInSubgroupLocalInvocationId:
        made = weft_emit_u32(emit, 0);
        break;
    default:
        weft_ir_error(emit->program, WEFT_UNSUPPORTED, "the built-in %u", instruction->root);
        made = weft_emit_u32(emit, 0);
        break;
    }
    weft_emit_define(emit, instruction->result, made);
}

/* ---- over a subgroup ---- */

static LLVMValueRef choose(struct weft_emit *emit, LLVMValueRef condition, LLVMValueRef a,
                           LLVMValueRef b) {
    return LLVMBuildSelect(emit->builder, condition, a, b, "");
}

static LLVMValueRef combine(struct weft_emit *emit, uint32_t op, LLVMValueRef a, LLVMValueRef b) {
    const LLVMBuilderRef builder = emit->builder;
    switch (op) {
    case SpvOpGroupNonUniformIAdd:
        return LLVMBuildAdd(builder, a, b, "");
    case SpvOpGroupNonUniformFAdd:
        return LLVMBuildFAdd(builder, a, b, "");
    case SpvOpGroupNonUniformIMul:
        return LLVMBuildMul(builder, a, b, "");
    case SpvOpGroupNonUniformFMul:
        return LLVMBuildFMul(builder, a, b, "");
    case SpvOpGroupNonUniformSMin:
        return choose(emit, LLVMBuildICmp(builder, LLVMIntSLT, a, b, ""), a, b);
    case SpvOpGroupNonUniformUMin:
        return choose(emit, LLVMBuildICmp(builder, LLVMIntULT, a, b, ""), a, b);
    case SpvOpGroupNonUniformFMin:
        return choose(emit, LLVMBuildFCmp(builder, LLVMRealOLT, a, b, ""), a, b);
    case SpvOpGroupNonUniformSMax:
        return choose(emit, LLVMBuildICmp(builder, LLVMIntSGT, a, b, ""), a, b);
    case SpvOpGroupNonUniformUMax:
        return choose(emit, LLVMBuildICmp(builder, LLVMIntUGT, a, b, ""), a, b);
    case SpvOpGroupNonUniformFMax:
        return choose(emit, LLVMBuildFCmp(builder, LLVMRealOGT, a, b, ""), a, b);
    case SpvOpGroupNonUniformBitwiseAnd:
    case SpvOpGroupNonUniformLogicalAnd:
        return LLVMBuildAnd(builder, a, b, "");
    case SpvOpGroupNonUniformBitwiseOr:
    case SpvOpGroupNonUniformLogicalOr:
        return LLVMBuildOr(builder, a, b, "");
    default:
        return LLVMBuildXor(builder, a, b, "");
    }
}

static LLVMValueRef constant_of(struct weft_emit *emit, uint32_t type, uint64_t bits) {
    const LLVMTypeRef integer = LLVMIntTypeInContext(emit->context, weft_ir_bits(type));
    return LLVMConstBitCast(LLVMConstInt(integer, bits, 0), emit->types[type]);
}

static LLVMValueRef element(struct weft_emit *emit, LLVMValueRef vector, uint32_t lane) {
    return LLVMBuildExtractElement(emit->builder, vector, weft_emit_u32(emit, lane), "");
}

/* Lane after lane: of all, of those up to each lane (scan 1), or of those before it (scan 2). */
static LLVMValueRef reduce(struct weft_emit *emit, const struct weft_ir_instruction *instruction,
                           weft_ir_value value) {
    const uint32_t op = instruction->variant;
    const uint32_t scan = instruction->place;
    const LLVMValueRef neutral =
        constant_of(emit, instruction->type, weft_ir_identity(op, instruction->type));
    LLVMValueRef vector = weft_emit_vector(emit, value);
    if (emit->exec) {
        vector = choose(emit, emit->exec, vector, weft_emit_splat(emit, neutral));
    }
    LLVMValueRef scanned = LLVMGetPoison(LLVMTypeOf(vector));
    LLVMValueRef made = neutral;
    for (uint32_t i = 0; i < emit->lanes; i++) {
        const LLVMValueRef before = made;
        made =
            i == 0 ? element(emit, vector, 0) : combine(emit, op, made, element(emit, vector, i));
        scanned = LLVMBuildInsertElement(emit->builder, scanned, scan == 2 ? before : made,
                                         weft_emit_u32(emit, i), "");
    }
    return scan == 0 ? made : scanned;
}

static LLVMValueRef vote(struct weft_emit *emit, uint32_t op, weft_ir_value value) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMValueRef vector = weft_emit_vector(emit, value);
    const LLVMValueRef exec = weft_emit_exec(emit);
    if (op == SpvOpGroupNonUniformAny) {
        return weft_emit_any(emit, LLVMBuildAnd(builder, exec, vector, ""));
    }
    LLVMValueRef wrong = NULL;
    if (op == SpvOpGroupNonUniformAll) {
        wrong = LLVMBuildNot(builder, vector, "");
    } else {
        const LLVMValueRef first = weft_emit_splat(
            emit, LLVMBuildExtractElement(builder, vector, weft_emit_first_lane(emit), ""));
        const bool is_float = weft_ir_is_float(emit->program->values[value].type);
        wrong = is_float ? LLVMBuildFCmp(builder, LLVMRealUNE, vector, first, "")
                         : LLVMBuildICmp(builder, LLVMIntNE, vector, first, "");
    }
    return LLVMBuildNot(builder, weft_emit_any(emit, LLVMBuildAnd(builder, exec, wrong, "")), "");
}

static void emit_subgroup(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const LLVMBuilderRef builder = emit->builder;
    const weft_ir_value *arguments = emit->program->arguments + instruction->arguments;
    const uint32_t op = instruction->variant;
    LLVMValueRef made = NULL;
    if (op == SpvOpGroupNonUniformElect) {
        made = LLVMBuildICmp(builder, LLVMIntEQ, emit->iota,
                             weft_emit_splat(emit, weft_emit_first_lane(emit)), "");
    } else if (op <= SpvOpGroupNonUniformAllEqual) {
        made = vote(emit, op, arguments[0]);
    } else if (op == SpvOpGroupNonUniformBroadcast) {
        const LLVMValueRef lane = LLVMBuildAnd(builder, weft_emit_scalar(emit, arguments[1]),
                                               weft_emit_u32(emit, emit->lanes - 1), "");
        made = LLVMBuildExtractElement(builder, weft_emit_vector(emit, arguments[0]), lane, "");
    } else if (op == SpvOpGroupNonUniformBroadcastFirst) {
        made = LLVMBuildExtractElement(builder, weft_emit_vector(emit, arguments[0]),
                                       weft_emit_first_lane(emit), "");
    } else if (op >= SpvOpGroupNonUniformIAdd) {
        made = reduce(emit, instruction, arguments[0]);
    } else {
        weft_ir_error(emit->program, WEFT_UNSUPPORTED, "the subgroup operation %u", op);
        made = LLVMGetPoison(emit->types[instruction->type]);
    }
    weft_emit_define(emit, instruction->result, made);
}

/* ---- all instructions ---- */

void weft_emit_instruction(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    switch (instruction->op) {
    case WEFT_IR_LOAD:
        weft_emit_load(emit, instruction);
        break;
    case WEFT_IR_STORE:
        weft_emit_store(emit, instruction);
        break;
    case WEFT_IR_ATOMIC:
        weft_emit_atomic(emit, instruction);
        break;
    case WEFT_IR_GET:
        weft_emit_get(emit, instruction);
        break;
    case WEFT_IR_SET:
        weft_emit_set(emit, instruction);
        break;
    case WEFT_IR_INPUT:
        emit_input(emit, instruction);
        break;
    case WEFT_IR_LENGTH:
        weft_emit_length(emit, instruction);
        break;
    case WEFT_IR_SUBGROUP:
        emit_subgroup(emit, instruction);
        break;
    case WEFT_IR_NOTHING:
        break;
    default:
        weft_emit_arithmetic(emit, instruction);
        break;
    }
}
