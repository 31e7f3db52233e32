/* SPDX-License-Identifier: MIT */
/*
 * Float32 arithmetic. Compiled with -ffp-contract=off; every operation is one C operation on floats
 * between explicit flushes of subnormal numbers, so that no mode of the host's can show.
 */
#include "core/math/fused.h"
#include "interpret/group.h"
#include "interpret/number.h"
#include "spirv/ir/glsl.h"

WEFT_INTERPRET_UNARY(f_negate, flush(a) ^ SIGN_BIT)
WEFT_INTERPRET_UNARY(f_abs, flush(a) & ~SIGN_BIT)

WEFT_INTERPRET_BINARY(f_add, word(number(a) + number(b)))
WEFT_INTERPRET_BINARY(f_sub, word(number(a) - number(b)))

/*
 * A product: exact in double, so that it can be rounded to 24 bits as if there were no least
 * exponent. From half a unit below 2^-126 on that gives 2^-126; what is smaller becomes zero.
 * (Rounding to a subnormal number first would carry more products up to 2^-126. Sums have no such
 * case: below 2^-125 they are exact.)
 */
static inline uint32_t multiply(uint32_t a, uint32_t b) {
    double exact = (double)number(a) * (double)number(b);
    bool tiny = exact < 0x1.FFFFFFp-127 && exact > -0x1.FFFFFFp-127;
    return tiny ? (a ^ b) & SIGN_BIT : word((float)exact);
}

WEFT_INTERPRET_BINARY(f_mul, multiply(a, b))

WEFT_INTERPRET_TERNARY(f_fma, weft_fused_multiply_add(a, b, c))

WEFT_INTERPRET_BINARY(f_equal, number(a) == number(b))
WEFT_INTERPRET_BINARY(f_not_equal, number(a) != number(b))
WEFT_INTERPRET_BINARY(f_less, number(a) < number(b))
WEFT_INTERPRET_BINARY(f_less_equal, number(a) <= number(b))
WEFT_INTERPRET_BINARY(f_greater, number(a) > number(b))
WEFT_INTERPRET_BINARY(f_greater_equal, number(a) >= number(b))

/* Toward zero. Undefined for what does not fit and for NaN; here that gives 2^31. */
static inline uint32_t to_signed(float value) {
    bool fits = value >= -0x1p31F && value < 0x1p31F;
    return fits ? (uint32_t)(int32_t)value : SIGN_BIT;
}

/* Converts to unsigned; undefined values give 2^32 - 1. */
static inline uint32_t to_unsigned(float value) {
    bool fits = value > -1.0F && value < 0x1p32F;
    return fits ? (uint32_t)value : UINT32_MAX;
}

WEFT_INTERPRET_UNARY(f_to_s, to_signed(number(a)))
WEFT_INTERPRET_UNARY(f_to_u, to_unsigned(number(a)))
WEFT_INTERPRET_UNARY(s_to_f, word((float)(int32_t)a))
WEFT_INTERPRET_UNARY(u_to_f, word((float)a))

weft_interpret_function *weft_interpret_find_arithmetic(uint32_t op) {
    static const struct weft_interpret_rule rules[] = {
        {SpvOpConvertFToU, f_to_u},
        {SpvOpConvertFToS, f_to_s},
        {SpvOpConvertSToF, s_to_f},
        {SpvOpConvertUToF, u_to_f},
        {SpvOpFNegate, f_negate},
        {SpvOpFAdd, f_add},
        {SpvOpFSub, f_sub},
        {SpvOpFMul, f_mul},
        {SpvOpFOrdEqual, f_equal},
        {SpvOpFUnordNotEqual, f_not_equal},
        {SpvOpFOrdLessThan, f_less},
        {SpvOpFOrdGreaterThan, f_greater},
        {SpvOpFOrdLessThanEqual, f_less_equal},
        {SpvOpFOrdGreaterThanEqual, f_greater_equal},
        {WEFT_IR_GLSL + WEFT_GLSL_F_ABS, f_abs},
        {WEFT_IR_GLSL + WEFT_GLSL_FMA, f_fma},
    };
    return weft_interpret_find(rules, sizeof rules / sizeof rules[0], op);
}
