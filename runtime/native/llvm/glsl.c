/* SPDX-License-Identifier: MIT */
/* GLSL.std.450. Reproducible modules have the exact ones only; the others are as exact as GLSL asks for. */
#include "native/llvm/emit.h"

#include <math.h>

#include "spirv/ir/glsl.h"

static LLVMValueRef real(struct weft_emit *emit, LLVMValueRef like, double number) {
    const LLVMValueRef scalar = LLVMConstReal(weft_emit_element_type(LLVMTypeOf(like)), number);
    return weft_emit_is_vector(like) ? weft_emit_splat(emit, scalar) : scalar;
}

static LLVMValueRef lesser(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(emit->builder, LLVMBuildFCmp(emit->builder, LLVMRealOLT, b, a, ""), b, a,
                           "");
}

static LLVMValueRef greater(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(emit->builder, LLVMBuildFCmp(emit->builder, LLVMRealOLT, a, b, ""), b, a,
                           "");
}

static LLVMValueRef choose(struct weft_emit *emit, LLVMIntPredicate predicate, LLVMValueRef a,
                           LLVMValueRef b) {
    return LLVMBuildSelect(emit->builder, LLVMBuildICmp(emit->builder, predicate, a, b, ""), a, b,
                           "");
}

static LLVMValueRef multiply_add(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b,
                                 LLVMValueRef c) {
    LLVMValueRef arguments[] = {a, b, c};
    LLVMTypeRef type = LLVMTypeOf(a);
    if (emit->has_fma) {
        return weft_emit_intrinsic(emit, "llvm.fma", &type, 1, arguments, 3);
    }
    return LLVMBuildFAdd(emit->builder, LLVMBuildFMul(emit->builder, a, b, ""), c, "");
}

static LLVMTypeRef integers_like(struct weft_emit *emit, LLVMValueRef value) {
    const LLVMTypeRef type = emit->types[WEFT_IR_I32];
    return weft_emit_is_vector(value) ? LLVMVectorType(type, emit->lanes) : type;
}

static LLVMValueRef polynomial(struct weft_emit *emit, LLVMValueRef x, const double *coefficients,
                               uint32_t count) {
    LLVMValueRef sum = real(emit, x, coefficients[0]);
    for (uint32_t i = 1; i < count; i++) {
        sum = multiply_add(emit, sum, x, real(emit, x, coefficients[i]));
    }
    return sum;
}

/* 2^x: 2^n of the nearest whole number by bits, times a polynomial (Taylor's, of ln 2 f) on [-1/2, 1/2]. */
static LLVMValueRef exp2_of(struct weft_emit *emit, LLVMValueRef x) {
    static const double coefficients[] = {1.5403530393381609e-4,
                                          1.3333558146428443e-3,
                                          9.6181291076284772e-3,
                                          5.5504108664821580e-2,
                                          2.4022650695910071e-1,
                                          6.9314718055994531e-1,
                                          1.0};
    const LLVMBuilderRef builder = emit->builder;
    const LLVMTypeRef integers = integers_like(emit, x);
    const LLVMValueRef low = greater(emit, x, real(emit, x, -126.0));
    const LLVMValueRef clamped = lesser(emit, low, real(emit, x, 127.99999));
    const LLVMValueRef n = weft_emit_unary(emit, "llvm.rint", clamped);
    const LLVMValueRef f = LLVMBuildFSub(builder, clamped, n, "");
    LLVMValueRef power = LLVMBuildFPToSI(builder, n, integers, "");
    /* In two steps, since 2^128 is no float while 2^128 times something below 1 is. */
    const LLVMValueRef half = LLVMBuildAShr(builder, power, weft_emit_number(emit, power, 1), "");
    const LLVMValueRef parts[] = {half, LLVMBuildSub(builder, power, half, "")};
    LLVMValueRef made =
        polynomial(emit, f, coefficients, sizeof coefficients / sizeof coefficients[0]);
    for (uint32_t i = 0; i < 2; i++) {
        const LLVMValueRef biased = LLVMBuildShl(
            builder, LLVMBuildAdd(builder, parts[i], weft_emit_number(emit, power, 127), ""),
            weft_emit_number(emit, power, 23), "");
        made =
            LLVMBuildFMul(builder, made, LLVMBuildBitCast(builder, biased, LLVMTypeOf(x), ""), "");
    }
    const LLVMValueRef high = LLVMBuildFCmp(builder, LLVMRealOGE, x, real(emit, x, 128.0), "");
    made = LLVMBuildSelect(builder, high, real(emit, x, (double)INFINITY), made, "");
    const LLVMValueRef tiny = LLVMBuildFCmp(builder, LLVMRealOLT, x, real(emit, x, -126.0), "");
    made = LLVMBuildSelect(builder, tiny, real(emit, x, 0.0), made, "");
    const LLVMValueRef nan = LLVMBuildFCmp(builder, LLVMRealUNO, x, x, "");
    return LLVMBuildSelect(builder, nan, x, made, "");
}

/* log2 of the mantissa in [sqrt(1/2), sqrt(2)) by the series of 2 atanh((m - 1) / (m + 1)), plus the exponent. */
static LLVMValueRef log2_of(struct weft_emit *emit, LLVMValueRef x) {
    static const double coefficients[] = {2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0,
                                          2.0 / 5.0,  2.0 / 3.0, 2.0};
    const LLVMBuilderRef builder = emit->builder;
    const LLVMTypeRef integers = integers_like(emit, x);
    const LLVMValueRef bits = LLVMBuildBitCast(builder, x, integers, "");
    const LLVMValueRef offset =
        LLVMBuildSub(builder, bits, weft_emit_number(emit, bits, 0x3F3504F3u), "");
    const LLVMValueRef exponent =
        LLVMBuildAShr(builder, offset, weft_emit_number(emit, bits, 23), "");
    const LLVMValueRef mantissa = LLVMBuildBitCast(
        builder,
        LLVMBuildSub(builder, bits,
                     LLVMBuildShl(builder, exponent, weft_emit_number(emit, bits, 23), ""), ""),
        LLVMTypeOf(x), "");
    const LLVMValueRef one = real(emit, x, 1.0);
    const LLVMValueRef s = LLVMBuildFDiv(builder, LLVMBuildFSub(builder, mantissa, one, ""),
                                         LLVMBuildFAdd(builder, mantissa, one, ""), "");
    const LLVMValueRef series = polynomial(emit, LLVMBuildFMul(builder, s, s, ""), coefficients,
                                           sizeof coefficients / sizeof coefficients[0]);
    const LLVMValueRef log = LLVMBuildFMul(builder, LLVMBuildFMul(builder, s, series, ""),
                                           real(emit, x, 1.4426950408889634), "");
    LLVMValueRef made =
        LLVMBuildFAdd(builder, log, LLVMBuildSIToFP(builder, exponent, LLVMTypeOf(x), ""), "");
    const LLVMValueRef infinite =
        LLVMBuildFCmp(builder, LLVMRealOEQ, x, real(emit, x, (double)INFINITY), "");
    made = LLVMBuildSelect(builder, infinite, x, made, "");
    const LLVMValueRef zero = LLVMBuildFCmp(builder, LLVMRealOEQ, x, real(emit, x, 0.0), "");
    made = LLVMBuildSelect(builder, zero, real(emit, x, (double)-INFINITY), made, "");
    const LLVMValueRef bad = LLVMBuildFCmp(builder, LLVMRealULT, x, real(emit, x, 0.0), "");
    return LLVMBuildSelect(builder, bad, real(emit, x, (double)NAN), made, "");
}

static LLVMValueRef exp_of(struct weft_emit *emit, LLVMValueRef x) {
    return exp2_of(emit, LLVMBuildFMul(emit->builder, x, real(emit, x, 1.4426950408889634), ""));
}

/* 1 - 2 / (e^2x + 1); x itself where that would lose it. */
static LLVMValueRef tanh_of(struct weft_emit *emit, LLVMValueRef x) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMValueRef e = exp_of(emit, LLVMBuildFMul(builder, x, real(emit, x, 2.0), ""));
    const LLVMValueRef quotient = LLVMBuildFDiv(
        builder, real(emit, x, 2.0), LLVMBuildFAdd(builder, e, real(emit, x, 1.0), ""), "");
    const LLVMValueRef made = LLVMBuildFSub(builder, real(emit, x, 1.0), quotient, "");
    const LLVMValueRef square = LLVMBuildFMul(builder, x, x, "");
    /* x - x^3 / 3 + 2 x^5 / 15 */
    static const double coefficients[] = {2.0 / 15.0, -1.0 / 3.0, 1.0};
    const LLVMValueRef small =
        LLVMBuildFMul(builder, x, polynomial(emit, square, coefficients, 3), "");
    const LLVMValueRef near =
        LLVMBuildFCmp(builder, LLVMRealOLT, square, real(emit, x, 0.0025), "");
    return LLVMBuildSelect(builder, near, small, made, "");
}

static LLVMTypeRef f32_like(const struct weft_emit *emit, LLVMValueRef word) {
    return weft_emit_is_vector(word) ? weft_emit_vector_type(emit, WEFT_IR_F32)
                                     : emit->types[WEFT_IR_F32];
}

LLVMValueRef weft_emit_float_of_half(struct weft_emit *emit, LLVMValueRef word) {
    const bool vector = weft_emit_is_vector(word);
    const LLVMTypeRef i16 =
        vector ? LLVMVectorType(emit->types[WEFT_IR_I16], emit->lanes) : emit->types[WEFT_IR_I16];
    const LLVMTypeRef half = vector ? LLVMVectorType(emit->half, emit->lanes) : emit->half;
    const LLVMValueRef bits = LLVMBuildTrunc(emit->builder, word, i16, "");
    return LLVMBuildFPExt(emit->builder, LLVMBuildBitCast(emit->builder, bits, half, ""),
                          f32_like(emit, word), "");
}

/* The half in the lower bits of a word. Where the processor has no conversion, half subnormals count as zeros. */
static LLVMValueRef unpack_half(struct weft_emit *emit, LLVMValueRef word) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMTypeRef f32 = f32_like(emit, word);
    if (emit->has_half) {
        return weft_emit_float_of_half(emit, word);
    }
    const LLVMValueRef magnitude =
        LLVMBuildAnd(builder, word, weft_emit_number(emit, word, 0x7FFF), "");
    const LLVMValueRef sign =
        LLVMBuildShl(builder, LLVMBuildAnd(builder, word, weft_emit_number(emit, word, 0x8000), ""),
                     weft_emit_number(emit, word, 16), "");
    const LLVMValueRef moved =
        LLVMBuildShl(builder, magnitude, weft_emit_number(emit, word, 13), "");
    const LLVMValueRef special =
        LLVMBuildICmp(builder, LLVMIntUGE, magnitude, weft_emit_number(emit, word, 0x7C00), "");
    const LLVMValueRef bias =
        LLVMBuildSelect(builder, special, weft_emit_number(emit, word, 224u << 23),
                        weft_emit_number(emit, word, 112u << 23), "");
    LLVMValueRef made = LLVMBuildAdd(builder, moved, bias, "");
    const LLVMValueRef tiny =
        LLVMBuildICmp(builder, LLVMIntULT, magnitude, weft_emit_number(emit, word, 0x400), "");
    made = LLVMBuildSelect(builder, tiny, weft_emit_number(emit, word, 0), made, "");
    return LLVMBuildBitCast(builder, LLVMBuildOr(builder, made, sign, ""), f32, "");
}

/* 31 minus the leading zeros; -1 where there is no bit. */
static LLVMValueRef highest_bit(struct weft_emit *emit, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef arguments[] = {value, LLVMConstNull(emit->types[WEFT_IR_BOOL])};
    const LLVMValueRef zeros = weft_emit_intrinsic(emit, "llvm.ctlz", &type, 1, arguments, 2);
    const uint32_t bits = weft_emit_width(type);
    return LLVMBuildSub(emit->builder, weft_emit_number(emit, value, bits - 1), zeros, "");
}

static LLVMValueRef lowest_bit(struct weft_emit *emit, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef arguments[] = {value, LLVMConstNull(emit->types[WEFT_IR_BOOL])};
    const LLVMValueRef zeros = weft_emit_intrinsic(emit, "llvm.cttz", &type, 1, arguments, 2);
    const LLVMValueRef none =
        LLVMBuildICmp(emit->builder, LLVMIntEQ, value, LLVMConstNull(type), "");
    return LLVMBuildSelect(emit->builder, none, weft_emit_number(emit, value, UINT64_MAX), zeros,
                           "");
}

static LLVMValueRef absolute(struct weft_emit *emit, LLVMValueRef value) {
    return choose(emit, LLVMIntSGT, value, LLVMBuildNeg(emit->builder, value, ""));
}

static LLVMValueRef sign_of(struct weft_emit *emit, LLVMValueRef value, bool is_float) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
    if (is_float) {
        const LLVMValueRef above = LLVMBuildFCmp(builder, LLVMRealOGT, value, zero, "");
        const LLVMValueRef below = LLVMBuildFCmp(builder, LLVMRealOLT, value, zero, "");
        return LLVMBuildSelect(builder, above, real(emit, value, 1.0),
                               LLVMBuildSelect(builder, below, real(emit, value, -1.0), value, ""),
                               "");
    }
    const LLVMValueRef above = LLVMBuildICmp(builder, LLVMIntSGT, value, zero, "");
    const LLVMValueRef below = LLVMBuildICmp(builder, LLVMIntSLT, value, zero, "");
    return LLVMBuildSelect(
        builder, above, weft_emit_number(emit, value, 1),
        LLVMBuildSelect(builder, below, weft_emit_number(emit, value, UINT64_MAX), zero, ""), "");
}

static LLVMValueRef unary(struct weft_emit *emit, uint32_t number, LLVMValueRef a) {
    switch (number) {
    case WEFT_GLSL_TRUNC:
        return weft_emit_unary(emit, "llvm.trunc", a);
    case WEFT_GLSL_ROUND:
    case WEFT_GLSL_ROUND_EVEN:
        return weft_emit_unary(emit, "llvm.rint", a);
    case WEFT_GLSL_FLOOR:
        return weft_emit_unary(emit, "llvm.floor", a);
    case WEFT_GLSL_CEIL:
        return weft_emit_unary(emit, "llvm.ceil", a);
    case WEFT_GLSL_FRACT:
        return LLVMBuildFSub(emit->builder, a, weft_emit_unary(emit, "llvm.floor", a), "");
    case WEFT_GLSL_F_ABS:
        return weft_emit_unary(emit, "llvm.fabs", a);
    case WEFT_GLSL_S_ABS:
        return absolute(emit, a);
    case WEFT_GLSL_F_SIGN:
    case WEFT_GLSL_S_SIGN:
        return sign_of(emit, a, number == WEFT_GLSL_F_SIGN);
    case WEFT_GLSL_TANH:
        return tanh_of(emit, a);
    case WEFT_GLSL_EXP:
        return exp_of(emit, a);
    case WEFT_GLSL_EXP2:
        return exp2_of(emit, a);
    case WEFT_GLSL_LOG2:
        return log2_of(emit, a);
    case WEFT_GLSL_LOG:
        return LLVMBuildFMul(emit->builder, log2_of(emit, a), real(emit, a, 0.69314718055994531),
                             "");
    case WEFT_GLSL_SQRT:
        return weft_emit_unary(emit, "llvm.sqrt", a);
    case WEFT_GLSL_INVERSE_SQRT:
        return LLVMBuildFDiv(emit->builder, real(emit, a, 1.0),
                             weft_emit_unary(emit, "llvm.sqrt", a), "");
    case WEFT_GLSL_UNPACK_HALF:
        return unpack_half(emit, a);
    case WEFT_GLSL_FIND_I_LSB:
        return lowest_bit(emit, a);
    case WEFT_GLSL_FIND_U_MSB:
        return highest_bit(emit, a);
    case WEFT_GLSL_FIND_S_MSB: {
        const LLVMValueRef minus =
            LLVMBuildICmp(emit->builder, LLVMIntSLT, a, LLVMConstNull(LLVMTypeOf(a)), "");
        return highest_bit(
            emit, LLVMBuildSelect(emit->builder, minus, LLVMBuildNot(emit->builder, a, ""), a, ""));
    }
    default:
        return NULL;
    }
}

static LLVMValueRef binary(struct weft_emit *emit, uint32_t number, LLVMValueRef a,
                           LLVMValueRef b) {
    switch (number) {
    case WEFT_GLSL_F_MIN:
    case WEFT_GLSL_N_MIN:
        return lesser(emit, a, b);
    case WEFT_GLSL_F_MAX:
    case WEFT_GLSL_N_MAX:
        return greater(emit, a, b);
    case WEFT_GLSL_U_MIN:
        return choose(emit, LLVMIntULT, a, b);
    case WEFT_GLSL_S_MIN:
        return choose(emit, LLVMIntSLT, a, b);
    case WEFT_GLSL_U_MAX:
        return choose(emit, LLVMIntUGT, a, b);
    case WEFT_GLSL_S_MAX:
        return choose(emit, LLVMIntSGT, a, b);
    default:
        return NULL;
    }
}

static LLVMValueRef ternary(struct weft_emit *emit, uint32_t number, LLVMValueRef *x) {
    const LLVMBuilderRef builder = emit->builder;
    switch (number) {
    case WEFT_GLSL_F_CLAMP:
    case WEFT_GLSL_N_CLAMP:
        return lesser(emit, greater(emit, x[0], x[1]), x[2]);
    case WEFT_GLSL_U_CLAMP:
        return choose(emit, LLVMIntULT, choose(emit, LLVMIntUGT, x[0], x[1]), x[2]);
    case WEFT_GLSL_S_CLAMP:
        return choose(emit, LLVMIntSLT, choose(emit, LLVMIntSGT, x[0], x[1]), x[2]);
    case WEFT_GLSL_F_MIX:
        return multiply_add(emit, x[2], LLVMBuildFSub(builder, x[1], x[0], ""), x[0]);
    case WEFT_GLSL_FMA:
        return multiply_add(emit, x[0], x[1], x[2]);
    default:
        return NULL;
    }
}

LLVMValueRef weft_emit_glsl(struct weft_emit *emit, uint32_t number, uint32_t type,
                            LLVMValueRef *operands, uint32_t count) {
    LLVMValueRef made = NULL;
    const bool approximated =
        number == WEFT_GLSL_TANH || (number >= WEFT_GLSL_EXP && number <= WEFT_GLSL_LOG2);
    if (approximated && type != WEFT_IR_F32) {
        weft_ir_error(emit->program, WEFT_UNSUPPORTED, "GLSL.std.450 %u of 64 bits", number);
        return NULL;
    }
    if (count == 1) {
        made = unary(emit, number, operands[0]);
    } else if (count == 2) {
        made = binary(emit, number, operands[0], operands[1]);
    } else if (count == 3) {
        made = ternary(emit, number, operands);
    }
    if (!made) {
        weft_ir_error(emit->program, WEFT_UNSUPPORTED, "GLSL.std.450 %u", number);
    }
    return made;
}
