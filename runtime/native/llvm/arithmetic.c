/* SPDX-License-Identifier: MIT */
/* Instructions that compute. Scalars where the result is the same for all lanes or counts up with them. */
#include "native/llvm/emit.h"

#include "spirv/check.h"

#define MOST_OPERANDS 4u

/* ---- division ---- */

/*
 * Replaces divisors that would stop the process: SPIR-V leaves the result undefined, and inactive lanes can hold
 * anything.
 */
static LLVMValueRef safe_divisor(struct weft_emit *emit, LLVMValueRef b) {
    if (LLVMGetValueKind(b) == LLVMConstantIntValueKind && LLVMConstIntGetZExtValue(b) != 0) {
        return b;
    }
    const LLVMValueRef zero =
        LLVMBuildICmp(emit->builder, LLVMIntEQ, b, LLVMConstNull(LLVMTypeOf(b)), "");
    return LLVMBuildSelect(emit->builder, zero, weft_emit_number(emit, b, 1), b, "");
}

static LLVMValueRef high_product(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b,
                                 bool is_signed) {
    const LLVMTypeRef type = LLVMTypeOf(a);
    const uint32_t bits = weft_emit_width(LLVMTypeOf(a));
    LLVMTypeRef wide = LLVMIntTypeInContext(emit->context, 2 * bits);
    if (weft_emit_is_vector(a)) {
        wide = LLVMVectorType(wide, emit->lanes);
    }
    const LLVMOpcode extend = is_signed ? LLVMSExt : LLVMZExt;
    const LLVMValueRef product =
        LLVMBuildMul(emit->builder, LLVMBuildCast(emit->builder, extend, a, wide, ""),
                     LLVMBuildCast(emit->builder, extend, b, wide, ""), "");
    return LLVMBuildTrunc(
        emit->builder,
        LLVMBuildLShr(emit->builder, product, weft_emit_number(emit, product, bits), ""), type, "");
}

/*
 * A vector over a scalar of 32 bits that is known at run time only: multiplication by a reciprocal that is worked out
 * once (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, figure 4.1).
 */
static LLVMValueRef divide_by_scalar(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef scalar) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMTypeRef i32 = emit->types[WEFT_IR_I32];
    const LLVMTypeRef i64 = emit->types[WEFT_IR_I64];
    const LLVMValueRef one = weft_emit_u32(emit, 1);
    const LLVMValueRef d = safe_divisor(emit, scalar);
    LLVMTypeRef types[] = {i32};
    LLVMValueRef zeros_arguments[] = {LLVMBuildSub(builder, d, one, ""),
                                      LLVMConstNull(emit->types[WEFT_IR_BOOL])};
    const LLVMValueRef zeros = weft_emit_intrinsic(emit, "llvm.ctlz", types, 1, zeros_arguments, 2);
    const LLVMValueRef log = LLVMBuildSub(builder, weft_emit_u32(emit, 32), zeros, "");
    const LLVMValueRef wide_d = LLVMBuildZExt(builder, d, i64, "");
    const LLVMValueRef power =
        LLVMBuildShl(builder, weft_emit_u64(emit, 1), LLVMBuildZExt(builder, log, i64, ""), "");
    LLVMValueRef magic = LLVMBuildShl(builder, LLVMBuildSub(builder, power, wide_d, ""),
                                      weft_emit_u64(emit, 32), "");
    magic = LLVMBuildAdd(builder, LLVMBuildUDiv(builder, magic, wide_d, ""), weft_emit_u64(emit, 1),
                         "");
    const LLVMValueRef m = weft_emit_splat(emit, LLVMBuildTrunc(builder, magic, i32, ""));
    const LLVMValueRef is_one = LLVMBuildICmp(builder, LLVMIntEQ, log, weft_emit_u32(emit, 0), "");
    const LLVMValueRef first = LLVMBuildSelect(builder, is_one, weft_emit_u32(emit, 0), one, "");
    const LLVMValueRef second = LLVMBuildSub(builder, log, first, "");
    const LLVMValueRef t = high_product(emit, m, a, false);
    const LLVMValueRef half =
        LLVMBuildLShr(builder, LLVMBuildSub(builder, a, t, ""), weft_emit_splat(emit, first), "");
    return LLVMBuildLShr(builder, LLVMBuildAdd(builder, t, half, ""), weft_emit_splat(emit, second),
                         "");
}

/* A quotient or remainder of unsigned numbers. b_scalar: b as a scalar where it is one, else null. */
static LLVMValueRef divide_unsigned(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b,
                                    LLVMValueRef b_scalar, bool remainder) {
    const bool vector = weft_emit_is_vector(a);
    if (vector && b_scalar && !LLVMIsConstant(b_scalar) && weft_emit_width(LLVMTypeOf(a)) == 32) {
        const LLVMValueRef quotient = divide_by_scalar(emit, a, b_scalar);
        return remainder ? LLVMBuildSub(emit->builder, a,
                                        LLVMBuildMul(emit->builder, quotient, b, ""), "")
                         : quotient;
    }
    const LLVMValueRef safe = b_scalar && vector
                                  ? weft_emit_splat(emit, safe_divisor(emit, b_scalar))
                                  : safe_divisor(emit, b);
    return remainder ? LLVMBuildURem(emit->builder, a, safe, "")
                     : LLVMBuildUDiv(emit->builder, a, safe, "");
}

/* Through magnitudes, of which even the least integer has one as an unsigned number. */
static LLVMValueRef divide_signed(struct weft_emit *emit, uint32_t op, LLVMValueRef a,
                                  LLVMValueRef b) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(a));
    const LLVMValueRef minus_a = LLVMBuildICmp(builder, LLVMIntSLT, a, zero, "");
    const LLVMValueRef minus_b = LLVMBuildICmp(builder, LLVMIntSLT, b, zero, "");
    const LLVMValueRef x = LLVMBuildSelect(builder, minus_a, LLVMBuildNeg(builder, a, ""), a, "");
    const LLVMValueRef y = LLVMBuildSelect(builder, minus_b, LLVMBuildNeg(builder, b, ""), b, "");
    if (op == SpvOpSDiv) {
        const LLVMValueRef q = divide_unsigned(emit, x, y, NULL, false);
        const LLVMValueRef minus = LLVMBuildXor(builder, minus_a, minus_b, "");
        return LLVMBuildSelect(builder, minus, LLVMBuildNeg(builder, q, ""), q, "");
    }
    LLVMValueRef r = divide_unsigned(emit, x, y, NULL, true);
    r = LLVMBuildSelect(builder, minus_a, LLVMBuildNeg(builder, r, ""), r, "");
    if (op == SpvOpSRem) {
        return r;
    }
    const LLVMValueRef some = LLVMBuildICmp(builder, LLVMIntNE, r, zero, "");
    const LLVMValueRef other =
        LLVMBuildXor(builder, LLVMBuildICmp(builder, LLVMIntSLT, r, zero, ""), minus_b, "");
    return LLVMBuildSelect(builder, LLVMBuildAnd(builder, some, other, ""),
                           LLVMBuildAdd(builder, r, b, ""), r, "");
}

/* ---- integers ---- */

static LLVMValueRef resize(struct weft_emit *emit, LLVMValueRef a, LLVMTypeRef type,
                           bool is_signed) {
    const uint32_t from = weft_emit_width(LLVMTypeOf(a));
    const uint32_t to = weft_emit_width(type);
    return from > to    ? LLVMBuildTrunc(emit->builder, a, type, "")
           : from == to ? a
           : is_signed  ? LLVMBuildSExt(emit->builder, a, type, "")
                        : LLVMBuildZExt(emit->builder, a, type, "");
}

/* A distance of the width or more, which SPIR-V leaves open, must not become LLVM's poison. */
static LLVMValueRef distance(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b) {
    const LLVMTypeRef type = LLVMTypeOf(a);
    return LLVMBuildAnd(emit->builder, resize(emit, b, type, false),
                        weft_emit_number(emit, a, weft_emit_width(type) - 1), "");
}

/* The lowest `count` bits set, for a count up to the width. */
static LLVMValueRef low_bits(struct weft_emit *emit, LLVMValueRef count) {
    const uint32_t width = weft_emit_width(LLVMTypeOf(count));
    const LLVMValueRef full =
        LLVMBuildICmp(emit->builder, LLVMIntUGE, count, weft_emit_number(emit, count, width), "");
    const LLVMValueRef one = LLVMBuildShl(emit->builder, weft_emit_number(emit, count, 1),
                                          distance(emit, count, count), "");
    return LLVMBuildSelect(emit->builder, full, weft_emit_number(emit, count, UINT64_MAX),
                           LLVMBuildSub(emit->builder, one, weft_emit_number(emit, count, 1), ""),
                           "");
}

static LLVMValueRef bit_field(struct weft_emit *emit, uint32_t op, LLVMValueRef *x) {
    const LLVMBuilderRef builder = emit->builder;
    const uint32_t first = op == SpvOpBitFieldInsert ? 2 : 1;
    const LLVMValueRef offset = distance(emit, x[0], x[first]);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a program has all operands of its ops */
    const LLVMValueRef count = resize(emit, x[first + 1], LLVMTypeOf(x[0]), false);
    const LLVMValueRef low = low_bits(emit, count);
    if (op == SpvOpBitFieldInsert) {
        const LLVMValueRef mask = LLVMBuildShl(builder, low, offset, "");
        const LLVMValueRef moved = LLVMBuildShl(builder, x[1], offset, "");
        return LLVMBuildOr(builder, LLVMBuildAnd(builder, moved, mask, ""),
                           LLVMBuildAnd(builder, x[0], LLVMBuildNot(builder, mask, ""), ""), "");
    }
    const LLVMValueRef field =
        LLVMBuildAnd(builder, LLVMBuildLShr(builder, x[0], offset, ""), low, "");
    if (op == SpvOpBitFieldUExtract) {
        return field;
    }
    /* The sign of the field, extended: (f ^ s) - s, with s its highest bit. */
    const LLVMValueRef sign = LLVMBuildXor(
        builder, low, LLVMBuildLShr(builder, low, weft_emit_number(emit, low, 1), ""), "");
    return LLVMBuildSub(builder, LLVMBuildXor(builder, field, sign, ""), sign, "");
}

static LLVMValueRef carry(struct weft_emit *emit, uint32_t op, LLVMValueRef a, LLVMValueRef b) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMValueRef sum = LLVMBuildAdd(builder, a, b, "");
    const LLVMValueRef out = op == WEFT_IR_CARRY ? LLVMBuildICmp(builder, LLVMIntULT, sum, a, "")
                                                 : LLVMBuildICmp(builder, LLVMIntULT, a, b, "");
    return LLVMBuildZExt(builder, out, LLVMTypeOf(a), "");
}

/* ---- comparisons ---- */

static bool compare(struct weft_emit *emit, LLVMValueRef *made, uint32_t op, LLVMValueRef a,
                    LLVMValueRef b) {
    static const struct {
        uint16_t op;
        uint8_t is_float;
        uint8_t predicate;
    } comparisons[] = {
        {SpvOpIEqual, 0, LLVMIntEQ},
        {SpvOpINotEqual, 0, LLVMIntNE},
        {SpvOpLogicalEqual, 0, LLVMIntEQ},
        {SpvOpLogicalNotEqual, 0, LLVMIntNE},
        {SpvOpUGreaterThan, 0, LLVMIntUGT},
        {SpvOpSGreaterThan, 0, LLVMIntSGT},
        {SpvOpUGreaterThanEqual, 0, LLVMIntUGE},
        {SpvOpSGreaterThanEqual, 0, LLVMIntSGE},
        {SpvOpULessThan, 0, LLVMIntULT},
        {SpvOpSLessThan, 0, LLVMIntSLT},
        {SpvOpULessThanEqual, 0, LLVMIntULE},
        {SpvOpSLessThanEqual, 0, LLVMIntSLE},
        {SpvOpFOrdEqual, 1, LLVMRealOEQ},
        {SpvOpFUnordEqual, 1, LLVMRealUEQ},
        {SpvOpFOrdNotEqual, 1, LLVMRealONE},
        {SpvOpFUnordNotEqual, 1, LLVMRealUNE},
        {SpvOpFOrdLessThan, 1, LLVMRealOLT},
        {SpvOpFUnordLessThan, 1, LLVMRealULT},
        {SpvOpFOrdGreaterThan, 1, LLVMRealOGT},
        {SpvOpFUnordGreaterThan, 1, LLVMRealUGT},
        {SpvOpFOrdLessThanEqual, 1, LLVMRealOLE},
        {SpvOpFUnordLessThanEqual, 1, LLVMRealULE},
        {SpvOpFOrdGreaterThanEqual, 1, LLVMRealOGE},
        {SpvOpFUnordGreaterThanEqual, 1, LLVMRealUGE},
    };
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (comparisons[i].op == op) {
            *made = comparisons[i].is_float
                        ? LLVMBuildFCmp(emit->builder, (LLVMRealPredicate)comparisons[i].predicate,
                                        a, b, "")
                        : LLVMBuildICmp(emit->builder, (LLVMIntPredicate)comparisons[i].predicate,
                                        a, b, "");
            return true;
        }
    }
    return false;
}

/* ---- conversions ---- */

static LLVMValueRef from_signed(struct weft_emit *emit, LLVMTypeRef type, LLVMValueRef a) {
    const bool floats = weft_emit_element_type(type) == emit->types[WEFT_IR_F32];
    const LLVMValueRef nibble = floats ? weft_emit_nibble(emit, a) : NULL;
    return nibble ? nibble : LLVMBuildSIToFP(emit->builder, a, type, "");
}

static LLVMValueRef convert(struct weft_emit *emit, uint32_t op, LLVMTypeRef type, LLVMValueRef a) {
    switch (op) {
    case SpvOpConvertFToU:
        return LLVMBuildFPToUI(emit->builder, a, type, "");
    case SpvOpConvertFToS:
        return LLVMBuildFPToSI(emit->builder, a, type, "");
    case SpvOpConvertSToF:
        return from_signed(emit, type, a);
    case SpvOpConvertUToF:
        return LLVMBuildUIToFP(emit->builder, a, type, "");
    case SpvOpUConvert:
        return resize(emit, a, type, false);
    case SpvOpSConvert:
        return resize(emit, a, type, true);
    case SpvOpFConvert:
        return LLVMBuildFPCast(emit->builder, a, type, "");
    case SpvOpBitcast:
        return LLVMBuildBitCast(emit->builder, a, type, "");
    default:
        return NULL;
    }
}

/* ---- by the number of operands ---- */

static LLVMValueRef unary(struct weft_emit *emit, uint32_t op, LLVMTypeRef type, LLVMValueRef a) {
    const LLVMBuilderRef builder = emit->builder;
    switch (op) {
    case SpvOpSNegate:
        return LLVMBuildNeg(builder, a, "");
    case SpvOpFNegate:
        return LLVMBuildFNeg(builder, a, "");
    case SpvOpNot:
    case SpvOpLogicalNot:
        return LLVMBuildNot(builder, a, "");
    case SpvOpBitReverse:
        return weft_emit_unary(emit, "llvm.bitreverse", a);
    case SpvOpBitCount:
        return weft_emit_unary(emit, "llvm.ctpop", a);
    case SpvOpIsNan:
        return LLVMBuildFCmp(builder, LLVMRealUNO, a, a, "");
    case SpvOpIsInf: {
        const LLVMValueRef magnitude = weft_emit_unary(emit, "llvm.fabs", a);
        LLVMValueRef infinity = LLVMConstRealOfString(weft_emit_element_type(LLVMTypeOf(a)), "inf");
        infinity = weft_emit_is_vector(a) ? weft_emit_splat(emit, infinity) : infinity;
        return LLVMBuildFCmp(builder, LLVMRealOEQ, magnitude, infinity, "");
    }
    default:
        return convert(emit, op, type, a);
    }
}

/* x - y times x / y rounded down, or towards zero. */
static LLVMValueRef float_remainder(struct weft_emit *emit, const char *rounding, LLVMValueRef a,
                                    LLVMValueRef b) {
    const LLVMValueRef q = weft_emit_unary(emit, rounding, LLVMBuildFDiv(emit->builder, a, b, ""));
    return LLVMBuildFSub(emit->builder, a, LLVMBuildFMul(emit->builder, b, q, ""), "");
}

static LLVMValueRef binary(struct weft_emit *emit, uint32_t op, LLVMValueRef a, LLVMValueRef b,
                           LLVMValueRef b_scalar) {
    const LLVMBuilderRef builder = emit->builder;
    LLVMValueRef made = NULL;
    switch (op) {
    case SpvOpIAdd:
        return LLVMBuildAdd(builder, a, b, "");
    case SpvOpISub:
        return LLVMBuildSub(builder, a, b, "");
    case SpvOpIMul:
        return LLVMBuildMul(builder, a, b, "");
    case SpvOpFAdd:
        return LLVMBuildFAdd(builder, a, b, "");
    case SpvOpFSub:
        return LLVMBuildFSub(builder, a, b, "");
    case SpvOpFMul:
        return LLVMBuildFMul(builder, a, b, "");
    case SpvOpFDiv:
        return LLVMBuildFDiv(builder, a, b, "");
    case SpvOpFRem:
        return float_remainder(emit, "llvm.trunc", a, b);
    case SpvOpFMod:
        return float_remainder(emit, "llvm.floor", a, b);
    case SpvOpUDiv:
    case SpvOpUMod:
        return divide_unsigned(emit, a, b, b_scalar, op == SpvOpUMod);
    case SpvOpSDiv:
    case SpvOpSRem:
    case SpvOpSMod:
        return divide_signed(emit, op, a, b);
    case SpvOpShiftLeftLogical:
        return LLVMBuildShl(builder, a, distance(emit, a, b), "");
    case SpvOpShiftRightLogical:
        return LLVMBuildLShr(builder, a, distance(emit, a, b), "");
    case SpvOpShiftRightArithmetic:
        return LLVMBuildAShr(builder, a, distance(emit, a, b), "");
    case SpvOpBitwiseOr:
    case SpvOpLogicalOr:
        return LLVMBuildOr(builder, a, b, "");
    case SpvOpBitwiseXor:
        return LLVMBuildXor(builder, a, b, "");
    case SpvOpBitwiseAnd:
    case SpvOpLogicalAnd:
        return LLVMBuildAnd(builder, a, b, "");
    case WEFT_IR_CARRY:
    case WEFT_IR_BORROW:
        return carry(emit, op, a, b);
    case WEFT_IR_DOT4:
    case WEFT_IR_DOT4_MIXED:
        return weft_emit_dot(emit, a, b, NULL, op == WEFT_IR_DOT4_MIXED);
    case WEFT_IR_HIGH_UNSIGNED:
    case WEFT_IR_HIGH_SIGNED:
        return high_product(emit, a, b, op == WEFT_IR_HIGH_SIGNED);
    default:
        return compare(emit, &made, op, a, b) ? made : NULL;
    }
}

static LLVMValueRef compute(struct weft_emit *emit, const struct weft_ir_instruction *instruction,
                            LLVMValueRef *x, LLVMValueRef second_scalar, LLVMTypeRef type) {
    const uint32_t op = instruction->op;
    if (op >= WEFT_IR_GLSL && op < WEFT_IR_LOAD) {
        return weft_emit_glsl(emit, op - WEFT_IR_GLSL, instruction->type, x,
                              instruction->argument_count);
    }
    switch (instruction->argument_count) {
    case 1:
        return unary(emit, op, type, x[0]);
    case 2:
        return binary(emit, op, x[0], x[1], second_scalar);
    case 3:
        return op == SpvOpSelect ? LLVMBuildSelect(emit->builder, x[0], x[1], x[2], "")
                                 : bit_field(emit, op, x);
    case 4:
        return bit_field(emit, op, x);
    default:
        return NULL;
    }
}

/* ---- sums with what is added ---- */

/* Instruction that makes a value, or null. */
static const struct weft_ir_instruction *maker(const struct weft_emit *emit, weft_ir_value value) {
    const struct weft_ir_def *def = &emit->program->values[value];
    return def->constant || def->instruction == WEFT_IR_NONE
               ? NULL
               : &emit->program->instructions[def->instruction];
}

static LLVMValueRef operand(struct weft_emit *emit, weft_ir_value value, bool varying) {
    return varying ? weft_emit_vector(emit, value) : weft_emit_scalar(emit, value);
}

/* A sum of products of bytes and what it is added to as one operation; null where there is none. */
static LLVMValueRef add_dot(struct weft_emit *emit, const struct weft_ir_instruction *instruction,
                            bool varying) {
    const weft_ir_value *arguments = emit->program->arguments + instruction->arguments;
    for (uint32_t i = 0; i < 2 && varying && instruction->op == SpvOpIAdd; i++) {
        const struct weft_ir_instruction *dot = maker(emit, arguments[i]);
        if (dot && (dot->op == WEFT_IR_DOT4 || dot->op == WEFT_IR_DOT4_MIXED)) {
            const weft_ir_value *words = emit->program->arguments + dot->arguments;
            return weft_emit_dot(
                emit, weft_emit_vector(emit, words[0]), weft_emit_vector(emit, words[1]),
                weft_emit_vector(emit, arguments[1 - i]), dot->op == WEFT_IR_DOT4_MIXED);
        }
    }
    return NULL;
}

/* A value before bit casts among integers, which nothing can tell from it. */
static weft_ir_value before_casts(const struct weft_emit *emit, weft_ir_value value) {
    const struct weft_ir_instruction *cast = maker(emit, value);
    while (cast && cast->op == SpvOpBitcast && cast->type == WEFT_IR_I32) {
        const weft_ir_value from = emit->program->arguments[cast->arguments];
        if (emit->program->values[from].type != WEFT_IR_I32) {
            return value;
        }
        value = from;
        cast = maker(emit, value);
    }
    return value;
}

/* Operand of a shift by 16 bits, or 0. */
static weft_ir_value shifted(const struct weft_emit *emit, weft_ir_value value, uint32_t op) {
    const struct weft_ir_instruction *shift = maker(emit, before_casts(emit, value));
    if (!shift || shift->op != op || shift->type != WEFT_IR_I32) {
        return 0;
    }
    const weft_ir_value *arguments = emit->program->arguments + shift->arguments;
    const struct weft_ir_def *distance = &emit->program->values[arguments[1]];
    return distance->constant && distance->bits == 16 ? before_casts(emit, arguments[0]) : 0;
}

/*
 * Word of which a value is a half with its sign, as weft_dot2 of dot4.glsl extracts it: x << 16 >> 16, or, high, x >>
 * 16; 0: none.
 */
static weft_ir_value half_of(const struct weft_emit *emit, weft_ir_value value, bool high) {
    const weft_ir_value whole = shifted(emit, value, SpvOpShiftRightArithmetic);
    return high || whole == 0 ? whole : shifted(emit, whole, SpvOpShiftLeftLogical);
}

/* The words of whose halves a value is the product. */
static bool product_of_halves(weft_ir_value words[2], const struct weft_emit *emit,
                              weft_ir_value value, bool high) {
    const struct weft_ir_instruction *made = maker(emit, value);
    if (!made || made->op != SpvOpIMul) {
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        words[i] = half_of(emit, emit->program->arguments[made->arguments + i], high);
    }
    return words[0] != 0 && words[1] != 0;
}

/* sum + the product of low halves + that of high ones as one operation; null where it is no such sum. */
static LLVMValueRef add_pairs(struct weft_emit *emit, const struct weft_ir_instruction *instruction,
                              bool varying) {
    const weft_ir_value *outer = emit->program->arguments + instruction->arguments;
    weft_ir_value high[2], low[2];
    const struct weft_ir_instruction *sum =
        varying && instruction->op == SpvOpIAdd ? maker(emit, outer[0]) : NULL;
    if (!sum || sum->op != SpvOpIAdd || !product_of_halves(high, emit, outer[1], true)) {
        return NULL;
    }
    const weft_ir_value *inner = emit->program->arguments + sum->arguments;
    if (!product_of_halves(low, emit, inner[1], false) || low[0] != high[0] || low[1] != high[1]) {
        return NULL;
    }
    return weft_emit_pairs(emit, weft_emit_vector(emit, low[0]), weft_emit_vector(emit, low[1]),
                           weft_emit_vector(emit, inner[0]));
}

/* ---- f16 ---- */

/* Arguments of what makes a value by this operation on integers or floats; null where it is made otherwise. */
static const weft_ir_value *made_by(const struct weft_emit *emit, weft_ir_value value,
                                    uint32_t op) {
    const struct weft_ir_instruction *made = maker(emit, before_casts(emit, value));
    return made && made->op == op ? emit->program->arguments + made->arguments : NULL;
}

static bool is_number(const struct weft_emit *emit, weft_ir_value value, uint32_t bits) {
    const struct weft_ir_def *def = &emit->program->values[before_casts(emit, value)];
    return def->constant && def->bits == bits;
}

/* The other operand of an operation with a constant, which stands behind it, or on either side of what commutes; 0: none. */
static weft_ir_value beside(const struct weft_emit *emit, weft_ir_value value, uint32_t op,
                            uint32_t number) {
    const weft_ir_value *x = made_by(emit, value, op);
    const bool commutes = op == SpvOpIAdd || op == SpvOpBitwiseAnd;
    return x && is_number(emit, x[1], number)               ? before_casts(emit, x[0])
           : x && commutes && is_number(emit, x[0], number) ? before_casts(emit, x[1])
                                                            : 0;
}

/* What a value is chosen for where `below` is less than a limit, and otherwise; null: it is no such choice. */
static const weft_ir_value *chosen_below(const struct weft_emit *emit, weft_ir_value value,
                                         weft_ir_value below, uint32_t limit) {
    const weft_ir_value *choice = made_by(emit, value, SpvOpSelect);
    return choice && beside(emit, choice[0], SpvOpULessThan, limit) == below ? choice + 1 : NULL;
}

/* Bits of an f16 whose widened size a value is, as half.glsl's weft_float_of_any_f16 makes it; 0: it is none. */
static weft_ir_value widened_size(const struct weft_emit *emit, weft_ir_value value) {
    const weft_ir_value *outer = made_by(emit, value, SpvOpSelect);
    const weft_ir_value moved =
        outer ? beside(emit, outer[0], SpvOpULessThan, UINT32_C(0x00800000)) : 0;
    if (moved == 0) {
        return 0;
    }
    const weft_ir_value *small = made_by(emit, outer[1], SpvOpBitcast);
    const weft_ir_value raised =
        small ? beside(emit, small[0], SpvOpFSub, UINT32_C(0x38800000)) : 0;
    const weft_ir_value *cast = raised ? made_by(emit, raised, SpvOpBitcast) : NULL;
    const weft_ir_value *sum = made_by(emit, outer[2], SpvOpIAdd);
    const uint32_t at = sum && before_casts(emit, sum[0]) == moved ? 1 : 0;
    const weft_ir_value *bias = sum && before_casts(emit, sum[1 - at]) == moved
                                    ? chosen_below(emit, sum[at], moved, UINT32_C(0x0F800000))
                                    : NULL;
    const bool is_it = cast && beside(emit, cast[0], SpvOpIAdd, UINT32_C(0x38800000)) == moved &&
                       bias && is_number(emit, bias[0], UINT32_C(0x38000000)) &&
                       is_number(emit, bias[1], UINT32_C(0x70000000));
    const weft_ir_value size = is_it ? beside(emit, moved, SpvOpShiftLeftLogical, 13) : 0;
    return size ? beside(emit, size, SpvOpBitwiseAnd, 0x7FFF) : 0;
}

/* That of an f16 with its sign by the processor's own conversion, which no mode changes; null where it is something else. */
static LLVMValueRef widen_half(struct weft_emit *emit,
                               const struct weft_ir_instruction *instruction, bool varying) {
    const weft_ir_value *x = emit->program->arguments + instruction->arguments;
    for (uint32_t i = 0; i < 2 && emit->has_half && instruction->op == SpvOpBitwiseOr; i++) {
        const weft_ir_value bits = widened_size(emit, x[i]);
        const weft_ir_value sign = bits ? beside(emit, x[1 - i], SpvOpShiftLeftLogical, 16) : 0;
        if (sign && beside(emit, sign, SpvOpBitwiseAnd, 0x8000) == bits) {
            return LLVMBuildBitCast(
                emit->builder, weft_emit_float_of_half(emit, operand(emit, bits, varying)),
                varying ? weft_emit_vector_type(emit, WEFT_IR_I32) : emit->types[WEFT_IR_I32], "");
        }
    }
    return NULL;
}

/* The product that an operand is, if the module allows that it is fused with what takes it. */
static const struct weft_ir_instruction *product(const struct weft_emit *emit,
                                                 weft_ir_value value) {
    const struct weft_ir_instruction *made = maker(emit, value);
    return made && made->op == SpvOpFMul && made->fusible ? made : NULL;
}

/* a b + c, a b - c and c - a b as one operation; null where that may not be. */
static LLVMValueRef fuse(struct weft_emit *emit, const struct weft_ir_instruction *instruction,
                         bool varying) {
    const bool subtracts = instruction->op == SpvOpFSub;
    if (!emit->has_fma || !instruction->fusible || (instruction->op != SpvOpFAdd && !subtracts)) {
        return NULL;
    }
    const weft_ir_value *arguments = emit->program->arguments + instruction->arguments;
    for (uint32_t i = 0; i < 2; i++) {
        const struct weft_ir_instruction *made = product(emit, arguments[i]);
        if (!made) {
            continue;
        }
        const weft_ir_value *factors = emit->program->arguments + made->arguments;
        LLVMValueRef x[3] = {operand(emit, factors[0], varying), operand(emit, factors[1], varying),
                             operand(emit, arguments[1 - i], varying)};
        const uint32_t negated = i == 0 ? 2 : 0;
        x[negated] = subtracts ? LLVMBuildFNeg(emit->builder, x[negated], "") : x[negated];
        LLVMTypeRef type = LLVMTypeOf(x[0]);
        return weft_emit_intrinsic(emit, "llvm.fma", &type, 1, x, 3);
    }
    return NULL;
}

void weft_emit_arithmetic(struct weft_emit *emit, const struct weft_ir_instruction *instruction) {
    const weft_ir_value *arguments = emit->program->arguments + instruction->arguments;
    const bool varying = weft_emit_is_varying(emit, instruction->result);
    LLVMValueRef made = fuse(emit, instruction, varying);
    made = made ? made : add_dot(emit, instruction, varying);
    made = made ? made : add_pairs(emit, instruction, varying);
    made = made ? made : widen_half(emit, instruction, varying);
    if (!made && instruction->argument_count <= MOST_OPERANDS) {
        LLVMValueRef x[MOST_OPERANDS];
        LLVMValueRef second_scalar = NULL;
        for (uint32_t i = 0; i < instruction->argument_count; i++) {
            const bool scalar_condition =
                instruction->op == SpvOpSelect && i == 0 &&
                weft_emit_shape(emit, arguments[0]).kind == WEFT_IR_UNIFORM;
            x[i] = operand(emit, arguments[i], varying && !scalar_condition);
        }
        if (varying && instruction->argument_count == 2 &&
            weft_emit_shape(emit, arguments[1]).kind == WEFT_IR_UNIFORM) {
            second_scalar = weft_emit_scalar(emit, arguments[1]);
        }
        made = compute(emit, instruction, x, second_scalar,
                       varying ? weft_emit_vector_type(emit, instruction->type)
                               : emit->types[instruction->type]);
    }
    if (!made) {
        weft_ir_error(emit->program, WEFT_UNSUPPORTED, "the operation %u", instruction->op);
        made = LLVMGetPoison(varying ? weft_emit_vector_type(emit, instruction->type)
                                     : emit->types[instruction->type]);
    }
    weft_emit_define(emit, instruction->result, made);
}
