/* SPDX-License-Identifier: MIT */
/*
 * Edges: conditions that compare something that counts up over the lanes with something that is one for all of them, as where
 * rows end. Nearly always they hold for all lanes or for none, which the first and the last lane tell.
 */
#include "native/llvm/emit.h"
#include "spirv/check.h"

/* LLVM's predicate of a comparison of whole numbers that is no equality, or 0. */
static LLVMIntPredicate predicate_of(uint32_t op) {
    switch (op) {
    case SpvOpULessThan:
        return LLVMIntULT;
    case SpvOpULessThanEqual:
        return LLVMIntULE;
    case SpvOpUGreaterThan:
        return LLVMIntUGT;
    case SpvOpUGreaterThanEqual:
        return LLVMIntUGE;
    case SpvOpSLessThan:
        return LLVMIntSLT;
    case SpvOpSLessThanEqual:
        return LLVMIntSLE;
    case SpvOpSGreaterThan:
        return LLVMIntSGT;
    case SpvOpSGreaterThanEqual:
        return LLVMIntSGE;
    default:
        return (LLVMIntPredicate)0;
    }
}

static const struct weft_ir_instruction *maker_of(const struct weft_emit *emit,
                                                  weft_ir_value condition) {
    const struct weft_ir_def *def = &emit->program->values[condition];
    return def->constant || def->instruction == WEFT_IR_NONE
               ? NULL
               : &emit->program->instructions[def->instruction];
}

static bool is_edge_or_uniform(const struct weft_emit *emit, weft_ir_value condition) {
    return weft_emit_shape(emit, condition).kind == WEFT_IR_UNIFORM ||
           weft_emit_is_edge(emit, condition);
}

bool weft_emit_is_edge(const struct weft_emit *emit, weft_ir_value condition) {
    const struct weft_ir_instruction *made = maker_of(emit, condition);
    if (!made) {
        return false;
    }
    const weft_ir_value *arguments = emit->program->arguments + made->arguments;
    switch (made->op) {
    case SpvOpLogicalAnd:
    case SpvOpLogicalOr:
        return is_edge_or_uniform(emit, arguments[0]) && is_edge_or_uniform(emit, arguments[1]);
    case SpvOpLogicalNot:
        return weft_emit_is_edge(emit, arguments[0]);
    default:
        return predicate_of(made->op) != 0 &&
               weft_emit_shape(emit, arguments[0]).kind <= WEFT_IR_LINEAR &&
               weft_emit_shape(emit, arguments[1]).kind <= WEFT_IR_LINEAR;
    }
}

/* The last lane's value of what is uniform or linear. */
static LLVMValueRef last_lane(struct weft_emit *emit, weft_ir_value value) {
    const struct weft_ir_shape shape = weft_emit_shape(emit, value);
    const LLVMValueRef first = weft_emit_scalar(emit, value);
    const int64_t span = shape.kind == WEFT_IR_LINEAR
                             ? weft_ir_lane_offset(emit->program, shape, emit->lanes - 1)
                             : 0;
    return LLVMBuildAdd(emit->builder, first, LLVMConstInt(LLVMTypeOf(first), (uint64_t)span, 1),
                        "");
}

/* Condition that the lanes' values go up without wrapping around. */
static LLVMValueRef goes_up(struct weft_emit *emit, weft_ir_value value, LLVMValueRef last,
                            bool is_signed) {
    return LLVMBuildICmp(emit->builder, is_signed ? LLVMIntSGE : LLVMIntUGE, last,
                         weft_emit_scalar(emit, value), "");
}

/* One side counts up, the other is one for all lanes: between the first lane and the last the comparison turns at most
 * once. Null for what is not of that kind. */
static LLVMValueRef comparison_on_ends(struct weft_emit *emit,
                                       const struct weft_ir_instruction *made, bool sense) {
    const weft_ir_value *arguments = emit->program->arguments + made->arguments;
    const LLVMIntPredicate predicate = predicate_of(made->op);
    const bool linear[2] = {weft_emit_shape(emit, arguments[0]).kind == WEFT_IR_LINEAR,
                            weft_emit_shape(emit, arguments[1]).kind == WEFT_IR_LINEAR};
    const struct weft_ir_shape counts = weft_emit_shape(emit, arguments[linear[0] ? 0 : 1]);
    if (predicate == 0 || linear[0] == linear[1] || counts.stride < 0 || counts.outer < 0) {
        return NULL;
    }
    const LLVMBuilderRef builder = emit->builder;
    const LLVMValueRef last[2] = {last_lane(emit, arguments[0]), last_lane(emit, arguments[1])};
    const uint32_t counting = linear[0] ? 0 : 1;
    const LLVMValueRef ends[2] = {LLVMBuildICmp(builder, predicate,
                                                weft_emit_scalar(emit, arguments[0]),
                                                weft_emit_scalar(emit, arguments[1]), ""),
                                  LLVMBuildICmp(builder, predicate, last[0], last[1], "")};
    const LLVMValueRef holds =
        sense ? LLVMBuildAnd(builder, ends[0], ends[1], "")
              : LLVMBuildNot(builder, LLVMBuildOr(builder, ends[0], ends[1], ""), "");
    return LLVMBuildAnd(builder, holds,
                        goes_up(emit, arguments[counting], last[counting], predicate >= LLVMIntSGT),
                        "");
}

LLVMValueRef weft_emit_edge_holds(struct weft_emit *emit, weft_ir_value condition, bool sense) {
    if (weft_emit_shape(emit, condition).kind == WEFT_IR_UNIFORM) {
        const LLVMValueRef scalar = weft_emit_scalar(emit, condition);
        return sense ? scalar : LLVMBuildNot(emit->builder, scalar, "");
    }
    const struct weft_ir_instruction *made = maker_of(emit, condition);
    if (!made) {
        return NULL;
    }
    const weft_ir_value *arguments = emit->program->arguments + made->arguments;
    if (made->op == SpvOpLogicalNot) {
        return weft_emit_edge_holds(emit, arguments[0], !sense);
    }
    if (made->op != (sense ? SpvOpLogicalAnd : SpvOpLogicalOr)) {
        return comparison_on_ends(emit, made, sense);
    }
    const LLVMValueRef a = weft_emit_edge_holds(emit, arguments[0], sense);
    const LLVMValueRef b = a ? weft_emit_edge_holds(emit, arguments[1], sense) : NULL;
    return b ? LLVMBuildAnd(emit->builder, a, b, "") : NULL;
}
