/* SPDX-License-Identifier: MIT */
/*
 * fma(a, b, c) by 32-bit numbers: float32, with exponents in integers, which stay at their place in the word, since shifts of vectors are
 * dear in SwiftShader. a and b are scaled to 1 to 2, c by the exponents of both, to 2^-60 to 2^61: beyond, one of product and addend is only
 * what decides a tie. So nothing underflows or overflows. The product is two numbers (Dekker), the sum is rounded to odd, then to nearest
 * (Boldo and Melquiond, IEEE Trans. Comp. 57(4), 2008); the exponent comes back by integers. Infinities and NaN go by a product and a sum,
 * which are exact then.
 */
#include "spirv/passes/fma.h"

#define SIGN      0x80000000u
#define EXPONENT  0x7F800000u /* also infinity */
#define OTHERS    0x807FFFFFu /* all but the exponent */
#define UPPER     0xFFFFF000u /* leaves 12 bits of a significand of 24 */
#define ONES      0xFFFFFFFFu
#define LEAST     0x80000000u            /* of signed integers */
#define POWER(of) ((uint32_t)(of) << 23) /* an exponent at its place */
#define FAR       60

#define U32(opcode, ...)   WEFT_FMA_PUT(writer, WEFT_FMA_UINT, SpvOp##opcode, __VA_ARGS__)
#define F32(opcode, ...)   WEFT_FMA_PUT(writer, WEFT_FMA_FLOAT, SpvOp##opcode, __VA_ARGS__)
#define TRUTH(opcode, ...) WEFT_FMA_PUT(writer, WEFT_FMA_BOOL, SpvOp##opcode, __VA_ARGS__)
#define GLSL(number, ...)  U32(ExtInst, writer->glsl, GLSLstd450##number, __VA_ARGS__)
#define WORD(bits)         weft_fma_constant_of(writer, WEFT_FMA_UINT, (bits))

/* Ids of a sum or product of two numbers: rounded, and what that left out. */
struct pair {
    uint32_t rounded, rest;
};

/* An operand: all ids. */
struct operand {
    uint32_t bits, exponent;
};

static struct operand take_apart(struct weft_fma_writer *writer, uint32_t x) {
    const uint32_t bits = U32(Bitcast, x);
    return (struct operand){.bits = bits, .exponent = U32(BitwiseAnd, bits, WORD(EXPONENT))};
}

/* Bits of x with another exponent; its zero where a condition holds. */
static uint32_t scale(struct weft_fma_writer *writer, struct operand x, uint32_t exponent,
                      uint32_t is_zero) {
    const uint32_t others = U32(BitwiseAnd, x.bits, WORD(OTHERS));
    const uint32_t sign = U32(BitwiseAnd, x.bits, WORD(SIGN));
    const uint32_t whole = U32(BitwiseOr, others, exponent);
    return U32(Select, is_zero, sign, whole);
}

/* Dekker's product, of numbers in 1 to 2, or zeros. Halves have 12 bits, so that their products are exact. */
static struct pair multiply(struct weft_fma_writer *writer, uint32_t a_bits, uint32_t b_bits) {
    const uint32_t a = F32(Bitcast, a_bits);
    const uint32_t b = F32(Bitcast, b_bits);
    const uint32_t a_upper = U32(BitwiseAnd, a_bits, WORD(UPPER));
    const uint32_t b_upper = U32(BitwiseAnd, b_bits, WORD(UPPER));
    const uint32_t a1 = F32(Bitcast, a_upper);
    const uint32_t b1 = F32(Bitcast, b_upper);
    const uint32_t a0 = F32(FSub, a, a1);
    const uint32_t b0 = F32(FSub, b, b1);
    const uint32_t rounded = F32(FMul, a, b);
    const uint32_t top = F32(FMul, a1, b1);
    const uint32_t middle_a = F32(FMul, a1, b0);
    const uint32_t middle_b = F32(FMul, a0, b1);
    const uint32_t low = F32(FMul, a0, b0);
    const uint32_t without_top = F32(FSub, top, rounded);
    const uint32_t without_a = F32(FAdd, without_top, middle_a);
    const uint32_t without_b = F32(FAdd, without_a, middle_b);
    return (struct pair){.rounded = rounded, .rest = F32(FAdd, without_b, low)};
}

/* Knuth's sum. */
static struct pair add(struct weft_fma_writer *writer, uint32_t x, uint32_t y) {
    const uint32_t sum = F32(FAdd, x, y);
    const uint32_t y_there = F32(FSub, sum, x);
    const uint32_t x_there = F32(FSub, sum, y_there);
    const uint32_t y_lost = F32(FSub, y, y_there);
    const uint32_t x_lost = F32(FSub, x, x_there);
    return (struct pair){.rounded = sum, .rest = F32(FAdd, x_lost, y_lost)};
}

/* x + y, cut off towards zero, with the lowest bit set where that is not exact. */
static uint32_t add_to_odd(struct weft_fma_writer *writer, uint32_t x, uint32_t y) {
    const struct pair sum = add(writer, x, y);
    const uint32_t bits = U32(Bitcast, sum.rounded);
    const uint32_t rest = U32(Bitcast, sum.rest);
    const uint32_t signs = U32(BitwiseXor, bits, rest);
    const uint32_t is_beyond = TRUTH(SLessThan, signs, WORD(0));
    const uint32_t back = U32(Select, is_beyond, WORD(ONES), WORD(0));
    const uint32_t cut = U32(IAdd, bits, back);
    const uint32_t odd = U32(BitwiseOr, cut, WORD(1));
    const uint32_t zero = weft_fma_constant_of(writer, WEFT_FMA_FLOAT, 0);
    const uint32_t is_exact = TRUTH(FOrdEqual, sum.rest, zero);
    const uint32_t chosen = U32(Select, is_exact, bits, odd);
    return F32(Bitcast, chosen);
}

/* x times a power of two: infinity where that is too large, zero where it is below 2^-126. */
static uint32_t scale_back(struct weft_fma_writer *writer, uint32_t x, uint32_t power) {
    const uint32_t bits = U32(Bitcast, x);
    const uint32_t exponent = U32(BitwiseAnd, bits, WORD(EXPONENT));
    const uint32_t sign = U32(BitwiseAnd, bits, WORD(SIGN));
    const uint32_t scaled = U32(IAdd, bits, power);
    const uint32_t least = U32(ISub, WORD(POWER(1)), exponent);
    const uint32_t most = U32(ISub, WORD(POWER(254)), exponent);
    const uint32_t is_small = TRUTH(SLessThan, power, least);
    const uint32_t is_past = TRUTH(SGreaterThan, power, most);
    const uint32_t infinite = U32(BitwiseOr, sign, WORD(EXPONENT));
    const uint32_t normal = U32(Select, is_small, sign, scaled);
    const uint32_t bounded = U32(Select, is_past, infinite, normal);
    return F32(Bitcast, bounded);
}

/* a·b + c of finite numbers. */
static uint32_t add_up(struct weft_fma_writer *writer, const struct operand x[3]) {
    const uint32_t factor = GLSL(UMin, x[0].exponent, x[1].exponent);
    const uint32_t no_product = TRUTH(IEqual, factor, WORD(0));
    const uint32_t no_addend = TRUTH(IEqual, x[2].exponent, WORD(0));
    const uint32_t one = WORD(POWER(127));
    const uint32_t power_a = U32(ISub, x[0].exponent, one);
    const uint32_t power_b = U32(ISub, x[1].exponent, one);
    const uint32_t power_ab = U32(IAdd, power_a, power_b);
    const uint32_t of_product = U32(Select, no_product, WORD(LEAST), power_ab);
    const uint32_t of_addend = U32(ISub, x[2].exponent, WORD(POWER(127 + FAR)));
    const uint32_t power = GLSL(SMax, of_product, of_addend);
    const uint32_t apart = U32(ISub, x[2].exponent, power);
    const uint32_t exponent = GLSL(SMax, apart, WORD(POWER(127 - FAR)));
    const uint32_t a = scale(writer, x[0], one, no_product);
    const uint32_t b = scale(writer, x[1], one, no_product);
    const uint32_t c_bits = scale(writer, x[2], exponent, no_addend);
    const uint32_t c = F32(Bitcast, c_bits);
    const struct pair product = multiply(writer, a, b);
    const struct pair lower = add(writer, c, product.rest);
    const struct pair upper = add(writer, product.rounded, lower.rounded);
    const uint32_t rest = add_to_odd(writer, lower.rest, upper.rest);
    const uint32_t sum = F32(FAdd, upper.rounded, rest);
    const uint32_t number = scale_back(writer, sum, power);
    /* A zero has the sign of this sum. */
    const uint32_t nothing = F32(FAdd, product.rounded, c);
    const uint32_t zero = weft_fma_constant_of(writer, WEFT_FMA_FLOAT, 0);
    const uint32_t is_nothing = TRUTH(FOrdEqual, sum, zero);
    return F32(Select, is_nothing, nothing, number);
}

static uint32_t put_body(struct weft_fma_writer *writer, const uint32_t x[3]) {
    struct operand operands[3];
    for (uint32_t i = 0; i < 3; i++) {
        operands[i] = take_apart(writer, x[i]);
    }
    const uint32_t finite = add_up(writer, operands);
    const uint32_t factors = GLSL(UMax, operands[0].exponent, operands[1].exponent);
    const uint32_t special_factor = TRUTH(IEqual, factors, WORD(EXPONENT));
    const uint32_t most = GLSL(UMax, factors, operands[2].exponent);
    const uint32_t is_special = TRUTH(IEqual, most, WORD(EXPONENT));
    const uint32_t product = F32(FMul, x[0], x[1]);
    const uint32_t zero = weft_fma_constant_of(writer, WEFT_FMA_FLOAT, 0);
    const uint32_t infinite = F32(Select, special_factor, product, zero);
    const uint32_t special = F32(FAdd, infinite, x[2]);
    return F32(Select, is_special, special, finite);
}

weft_status weft_spirv_fma_by_integers(struct weft_spirv_edit *edit) {
    return weft_fma_replace(edit, put_body);
}
