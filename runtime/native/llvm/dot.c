/* SPDX-License-Identifier: MIT */
/*
 * Sums of products of four bytes. Every form is exact for all bytes: none has an instruction that saturates. What a form costs for each
 * vector, beside what only one of the operands takes part in, which LLVM does once for many:
 *
 * VNNI     one instruction with an unsigned operand. Where both are signed, b is made 128 more, and 128 times the sum of a's bytes goes.
 * SSE, AVX widened to 16 bits, two multiplications of pairs and two sums
 * NEON     one instruction with signed operands. Where b is unsigned, it is made 128 less, and what that takes away comes back.
 */
#include "native/llvm/emit.h"
#include "native/target.h"

#define BIAS 0x80808080u

struct dot {
    struct weft_emit *emit;
    LLVMValueRef a, b, sum;
    bool mixed; /* b's bytes are unsigned */
    bool pairs; /* of halves of words instead of bytes */
};

/* ---- without instructions of its own ---- */

static LLVMValueRef byte_of(struct weft_emit *emit, LLVMValueRef word, uint32_t index,
                            bool is_signed) {
    const LLVMValueRef top =
        LLVMBuildShl(emit->builder, word, weft_emit_number(emit, word, 24 - 8 * index), "");
    const LLVMValueRef distance = weft_emit_number(emit, word, 24);
    return is_signed ? LLVMBuildAShr(emit->builder, top, distance, "")
                     : LLVMBuildLShr(emit->builder, top, distance, "");
}

static LLVMValueRef plain(const struct dot *dot) {
    struct weft_emit *emit = dot->emit;
    LLVMValueRef sum = dot->sum;
    for (uint32_t i = 0; i < 4; i++) {
        const LLVMValueRef product = LLVMBuildMul(emit->builder, byte_of(emit, dot->a, i, true),
                                                  byte_of(emit, dot->b, i, !dot->mixed), "");
        sum = sum ? LLVMBuildAdd(emit->builder, sum, product, "") : product;
    }
    return sum;
}

/* ---- by a vector's instructions ---- */

/* An intrinsic that is overloaded on no type, or on those. Operands whose type it takes otherwise in some version of LLVM are cast. */
static LLVMValueRef call(struct weft_emit *emit, const char *name, LLVMTypeRef *types,
                         uint32_t type_count, LLVMValueRef *operands, uint32_t count) {
    enum { MOST = 3 };
    LLVMTypeRef wanted[MOST];
    LLVMGetParamTypes(weft_emit_intrinsic_type(emit, name, types, type_count), wanted);
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = LLVMBuildBitCast(emit->builder, operands[i], wanted[i], "");
    }
    return weft_emit_intrinsic(emit, name, types, type_count, operands, count);
}

static LLVMValueRef splat(LLVMValueRef like, uint32_t word) {
    LLVMValueRef lanes[WEFT_NATIVE_MAX_LANES];
    const uint32_t count = LLVMGetVectorSize(LLVMTypeOf(like));
    for (uint32_t i = 0; i < count; i++) {
        lanes[i] = LLVMConstInt(LLVMGetElementType(LLVMTypeOf(like)), word, 0);
    }
    return LLVMConstVector(lanes, count);
}

static LLVMValueRef flip(struct weft_emit *emit, LLVMValueRef word) {
    return LLVMBuildXor(emit->builder, word, splat(word, BIAS), "");
}

static LLVMValueRef vnni(struct weft_emit *emit, LLVMValueRef sum, LLVMValueRef u, LLVMValueRef s) {
    const uint32_t lanes = LLVMGetVectorSize(LLVMTypeOf(s));
    LLVMValueRef operands[] = {sum, u, s};
    return call(emit,
                lanes == 16  ? "llvm.x86.avx512.vpdpbusd.512"
                : lanes == 8 ? "llvm.x86.avx512.vpdpbusd.256"
                             : "llvm.x86.avx512.vpdpbusd.128",
                NULL, 0, operands, 3);
}

static LLVMValueRef by_vnni(const struct dot *dot) {
    struct weft_emit *emit = dot->emit;
    if (dot->mixed) {
        return vnni(emit, dot->sum, dot->b, dot->a);
    }
    const LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(dot->a));
    return LLVMBuildSub(emit->builder, vnni(emit, dot->sum, flip(emit, dot->b), dot->a),
                        vnni(emit, zero, splat(dot->a, BIAS), dot->a), "");
}

/* Bytes 0 and 2, or 1 and 3, of each word in 16 bits. */
static LLVMValueRef widen(struct weft_emit *emit, LLVMValueRef word, bool odd, bool is_signed) {
    const LLVMBuilderRef builder = emit->builder;
    const LLVMTypeRef type =
        LLVMVectorType(emit->types[WEFT_IR_I16], 2 * LLVMGetVectorSize(LLVMTypeOf(word)));
    LLVMValueRef eights[2 * WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < LLVMGetVectorSize(type); i++) {
        eights[i] = LLVMConstInt(emit->types[WEFT_IR_I16], 8, 0);
    }
    const LLVMValueRef eight = LLVMConstVector(eights, LLVMGetVectorSize(type));
    LLVMValueRef pairs = LLVMBuildBitCast(builder, word, type, "");
    pairs = odd ? pairs : LLVMBuildShl(builder, pairs, eight, "");
    return is_signed ? LLVMBuildAShr(builder, pairs, eight, "")
                     : LLVMBuildLShr(builder, pairs, eight, "");
}

/* a and b as signed halves of words. */
static LLVMValueRef multiply_pairs(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b,
                                   LLVMValueRef sum) {
    const uint32_t lanes = LLVMGetVectorSize(LLVMTypeOf(sum));
    LLVMValueRef operands[] = {a, b};
    const LLVMValueRef pairs = call(emit,
                                    lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                                    : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                                 : "llvm.x86.sse2.pmadd.wd",
                                    NULL, 0, operands, 2);
    return LLVMBuildAdd(emit->builder, sum, pairs, "");
}

static LLVMValueRef by_pairs(const struct dot *dot) {
    struct weft_emit *emit = dot->emit;
    const LLVMValueRef even = multiply_pairs(emit, widen(emit, dot->a, false, true),
                                             widen(emit, dot->b, false, !dot->mixed), dot->sum);
    return multiply_pairs(emit, widen(emit, dot->a, true, true),
                          widen(emit, dot->b, true, !dot->mixed), even);
}

static LLVMValueRef neon(struct weft_emit *emit, LLVMValueRef sum, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef types[] = {LLVMTypeOf(sum), LLVMVectorType(emit->types[WEFT_IR_I8], 16)};
    LLVMValueRef operands[] = {sum, a, b};
    return call(emit, "llvm.aarch64.neon.sdot", types, 2, operands, 3);
}

static LLVMValueRef by_neon(const struct dot *dot) {
    struct weft_emit *emit = dot->emit;
    if (!dot->mixed) {
        return neon(emit, dot->sum, dot->a, dot->b);
    }
    const LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(dot->a));
    return LLVMBuildSub(emit->builder, neon(emit, dot->sum, dot->a, flip(emit, dot->b)),
                        neon(emit, zero, dot->a, splat(dot->a, BIAS)), "");
}

static LLVMValueRef by_registers(const struct dot *dot) {
    if (dot->pairs) {
        return multiply_pairs(dot->emit, dot->a, dot->b, dot->sum);
    }
    switch (weft_native_machine()->dot) {
    case WEFT_NATIVE_DOT_VNNI:
        return by_vnni(dot);
    case WEFT_NATIVE_DOT_PAIRS:
        return by_pairs(dot);
    case WEFT_NATIVE_DOT_NEON:
        return by_neon(dot);
    default:
        return plain(dot);
    }
}

/* ---- vectors that are longer than the machine's ---- */

/* Lanes first … first + count - 1 of two vectors one behind the other. */
static LLVMValueRef take(struct weft_emit *emit, LLVMValueRef low, LLVMValueRef high,
                         uint32_t first, uint32_t count) {
    LLVMValueRef places[WEFT_NATIVE_MAX_LANES];
    for (uint32_t i = 0; i < count; i++) {
        places[i] = weft_emit_u32(emit, first + i);
    }
    return LLVMBuildShuffleVector(emit->builder, low, high, LLVMConstVector(places, count), "");
}

static LLVMValueRef by_halves(const struct dot *dot) {
    const uint32_t lanes = LLVMGetVectorSize(LLVMTypeOf(dot->a));
    LLVMValueRef parts[2];
    if (lanes <= weft_native_machine()->lanes) {
        return by_registers(dot);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const struct dot half = {.emit = dot->emit,
                                 .a = take(dot->emit, dot->a, dot->a, i * lanes / 2, lanes / 2),
                                 .b = take(dot->emit, dot->b, dot->b, i * lanes / 2, lanes / 2),
                                 .sum =
                                     take(dot->emit, dot->sum, dot->sum, i * lanes / 2, lanes / 2),
                                 .mixed = dot->mixed,
                                 .pairs = dot->pairs};
        parts[i] = by_halves(&half);
    }
    return take(dot->emit, parts[0], parts[1], 0, lanes);
}

LLVMValueRef weft_emit_dot(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b, LLVMValueRef sum,
                           bool mixed) {
    struct dot dot = {.emit = emit, .a = a, .b = b, .sum = sum, .mixed = mixed};
    if (!weft_emit_is_vector(a)) {
        return plain(&dot);
    }
    dot.sum = sum ? sum : LLVMConstNull(LLVMTypeOf(a));
    return by_halves(&dot);
}

LLVMValueRef weft_emit_pairs(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b,
                             LLVMValueRef sum) {
    const enum weft_native_dot form = weft_native_machine()->dot;
    const struct dot dot = {.emit = emit, .a = a, .b = b, .sum = sum, .pairs = true};
    return form == WEFT_NATIVE_DOT_PAIRS || form == WEFT_NATIVE_DOT_VNNI ? by_halves(&dot) : NULL;
}
