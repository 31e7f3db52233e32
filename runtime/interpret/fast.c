/* SPDX-License-Identifier: MIT */
/* Operations of fast math alone, whose last bits differ from device to device. */
#include <math.h>

#include "interpret/group.h"
#include "interpret/number.h"
#include "spirv/ir/glsl.h"

/* ---- arithmetic ---- */

static inline float lesser(float a, float b) {
    return b < a ? b : a;
}

static inline float greater(float a, float b) {
    return a < b ? b : a;
}

WEFT_INTERPRET_BINARY(f_div, word(number(a) / number(b)))
WEFT_INTERPRET_BINARY(f_rem, word(fmodf(number(a), number(b))))
WEFT_INTERPRET_BINARY(f_mod, word(number(a) - number(b) * floorf(number(a) / number(b))))
WEFT_INTERPRET_BINARY(f_min, word(lesser(number(a), number(b))))
WEFT_INTERPRET_BINARY(f_max, word(greater(number(a), number(b))))
WEFT_INTERPRET_TERNARY(f_clamp, word(lesser(greater(number(a), number(b)), number(c))))
WEFT_INTERPRET_TERNARY(f_mix, word(number(a) + (number(b) - number(a)) * number(c)))

/* ---- comparisons ---- */

WEFT_INTERPRET_BINARY(unordered_equal, (number(a) < number(b) || number(a) > number(b)) ? 0u : 1u)
WEFT_INTERPRET_BINARY(ordered_not_equal, number(a) < number(b) || number(a) > number(b) ? 1u : 0u)
WEFT_INTERPRET_BINARY(unordered_less, number(a) >= number(b) ? 0u : 1u)
WEFT_INTERPRET_BINARY(unordered_greater, number(a) <= number(b) ? 0u : 1u)
WEFT_INTERPRET_BINARY(unordered_less_equal, number(a) > number(b) ? 0u : 1u)
WEFT_INTERPRET_BINARY(unordered_greater_equal, number(a) < number(b) ? 0u : 1u)
WEFT_INTERPRET_UNARY(is_nan, isnan(number(a)) ? 1u : 0u)
WEFT_INTERPRET_UNARY(is_inf, isinf(number(a)) ? 1u : 0u)

/* ---- functions of one number ---- */

static inline float sign_of(float a) {
    return a > 0.0F ? 1.0F : a < 0.0F ? -1.0F : a;
}

/* The half in the lower bits of a word. */
static inline float half_of(uint32_t bits) {
    const uint32_t exponent = bits >> 10 & 31;
    const float fraction = (float)(bits & 0x3FF);
    float value = exponent == 0    ? ldexpf(fraction, -24)
                  : exponent != 31 ? ldexpf(fraction + 1024.0F, (int)exponent - 25)
                  : fraction > 0   ? NAN
                                   : INFINITY;
    return (bits & 0x8000) != 0 ? -value : value;
}

WEFT_INTERPRET_UNARY(f_round, word(rintf(number(a))))
WEFT_INTERPRET_UNARY(f_trunc, word(truncf(number(a))))
WEFT_INTERPRET_UNARY(f_floor, word(floorf(number(a))))
WEFT_INTERPRET_UNARY(f_ceil, word(ceilf(number(a))))
WEFT_INTERPRET_UNARY(f_fract, word(number(a) - floorf(number(a))))
WEFT_INTERPRET_UNARY(f_sign, word(sign_of(number(a))))
WEFT_INTERPRET_UNARY(f_tanh, word(tanhf(number(a))))
WEFT_INTERPRET_UNARY(f_exp, word(expf(number(a))))
WEFT_INTERPRET_UNARY(f_log, word(logf(number(a))))
WEFT_INTERPRET_UNARY(f_exp2, word(exp2f(number(a))))
WEFT_INTERPRET_UNARY(f_log2, word(log2f(number(a))))
WEFT_INTERPRET_UNARY(f_sqrt, word(sqrtf(number(a))))
WEFT_INTERPRET_UNARY(f_inverse_sqrt, word(1.0F / sqrtf(number(a))))
WEFT_INTERPRET_UNARY(unpack_half, word(half_of(a)))

weft_interpret_function *weft_interpret_find_fast(uint32_t op) {
    static const struct weft_interpret_rule rules[] = {
        {SpvOpFDiv, f_div},
        {SpvOpFRem, f_rem},
        {SpvOpFMod, f_mod},
        {SpvOpFUnordEqual, unordered_equal},
        {SpvOpFOrdNotEqual, ordered_not_equal},
        {SpvOpFUnordLessThan, unordered_less},
        {SpvOpFUnordGreaterThan, unordered_greater},
        {SpvOpFUnordLessThanEqual, unordered_less_equal},
        {SpvOpFUnordGreaterThanEqual, unordered_greater_equal},
        {SpvOpIsNan, is_nan},
        {SpvOpIsInf, is_inf},
        {WEFT_IR_GLSL + WEFT_GLSL_ROUND, f_round},
        {WEFT_IR_GLSL + WEFT_GLSL_ROUND_EVEN, f_round},
        {WEFT_IR_GLSL + WEFT_GLSL_TRUNC, f_trunc},
        {WEFT_IR_GLSL + WEFT_GLSL_F_SIGN, f_sign},
        {WEFT_IR_GLSL + WEFT_GLSL_FLOOR, f_floor},
        {WEFT_IR_GLSL + WEFT_GLSL_CEIL, f_ceil},
        {WEFT_IR_GLSL + WEFT_GLSL_FRACT, f_fract},
        {WEFT_IR_GLSL + WEFT_GLSL_TANH, f_tanh},
        {WEFT_IR_GLSL + WEFT_GLSL_EXP, f_exp},
        {WEFT_IR_GLSL + WEFT_GLSL_LOG, f_log},
        {WEFT_IR_GLSL + WEFT_GLSL_EXP2, f_exp2},
        {WEFT_IR_GLSL + WEFT_GLSL_LOG2, f_log2},
        {WEFT_IR_GLSL + WEFT_GLSL_SQRT, f_sqrt},
        {WEFT_IR_GLSL + WEFT_GLSL_INVERSE_SQRT, f_inverse_sqrt},
        {WEFT_IR_GLSL + WEFT_GLSL_F_MIN, f_min},
        {WEFT_IR_GLSL + WEFT_GLSL_F_MAX, f_max},
        {WEFT_IR_GLSL + WEFT_GLSL_F_CLAMP, f_clamp},
        {WEFT_IR_GLSL + WEFT_GLSL_F_MIX, f_mix},
        {WEFT_IR_GLSL + WEFT_GLSL_UNPACK_HALF, unpack_half},
        {WEFT_IR_GLSL + WEFT_GLSL_N_MIN, f_min},
        {WEFT_IR_GLSL + WEFT_GLSL_N_MAX, f_max},
        {WEFT_IR_GLSL + WEFT_GLSL_N_CLAMP, f_clamp},
    };
    return weft_interpret_find(rules, sizeof rules / sizeof rules[0], op);
}
