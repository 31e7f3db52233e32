/* SPDX-License-Identifier: MIT */
/*
 * Integers, booleans and bits. Arithmetic is modulo 2^32. What SPIR-V leaves undefined: a division
 * by zero gives 2^32 - 1 and its remainder the dividend, a shift by 32 or more gives 0 (the sign, if
 * arithmetic), and the bits of a field beyond the word are left out.
 */
#include "interpret/group.h"
#include "spirv/ir/glsl.h"

WEFT_INTERPRET_UNARY(move, a)

/* ---- arithmetic ---- */

WEFT_INTERPRET_UNARY(s_negate, 0u - a)
WEFT_INTERPRET_BINARY(i_add, a + b)
WEFT_INTERPRET_BINARY(i_sub, a - b)
WEFT_INTERPRET_BINARY(i_mul, a *b)
WEFT_INTERPRET_BINARY(i_carry, a + b < a)
WEFT_INTERPRET_BINARY(i_borrow, a < b)
WEFT_INTERPRET_BINARY(u_mul_high, (uint32_t)((uint64_t)a *b >> 32))
WEFT_INTERPRET_BINARY(s_mul_high,
                      (uint32_t)((uint64_t)((int64_t)(int32_t)a *(int64_t)(int32_t)b) >> 32))

/* A byte with its sign. */
static inline uint32_t signed_byte(uint32_t word, uint32_t index) {
    const uint32_t byte = word >> 8 * index & 0xFFu;
    return (byte ^ 0x80u) - 0x80u;
}

static inline uint32_t dot(uint32_t a, uint32_t b, bool mixed) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 4; i++) {
        sum += signed_byte(a, i) * (mixed ? b >> 8 * i & 0xFFu : signed_byte(b, i));
    }
    return sum;
}

WEFT_INTERPRET_BINARY(dot4, dot(a, b, false))
WEFT_INTERPRET_BINARY(dot4_mixed, dot(a, b, true))
WEFT_INTERPRET_BINARY(u_div, b == 0 ? UINT32_MAX : a / b)
WEFT_INTERPRET_BINARY(u_mod, b == 0 ? a : a % b)

/* The quotient toward zero; the one that overflows, -2^31 / -1, wraps. */
static inline uint32_t divide_signed(uint32_t a, uint32_t b) {
    return b == 0 ? UINT32_MAX : (uint32_t)((int64_t)(int32_t)a / (int32_t)b);
}

/* With the sign of a. */
static inline uint32_t remainder_signed(uint32_t a, uint32_t b) {
    return b == 0 ? a : (uint32_t)((int64_t)(int32_t)a % (int32_t)b);
}

/* With the sign of b. */
static inline uint32_t modulo_signed(uint32_t a, uint32_t b) {
    uint32_t remainder = remainder_signed(a, b);
    bool apart = ((remainder ^ b) & UINT32_C(0x80000000)) != 0;
    return remainder != 0 && b != 0 && apart ? remainder + b : remainder;
}

WEFT_INTERPRET_BINARY(s_div, divide_signed(a, b))
WEFT_INTERPRET_BINARY(s_rem, remainder_signed(a, b))
WEFT_INTERPRET_BINARY(s_mod, modulo_signed(a, b))

/* ---- comparisons ---- */

WEFT_INTERPRET_BINARY(i_equal, a == b)
WEFT_INTERPRET_BINARY(i_not_equal, a != b)
WEFT_INTERPRET_BINARY(u_less, a < b)
WEFT_INTERPRET_BINARY(u_less_equal, a <= b)
WEFT_INTERPRET_BINARY(s_less, (int32_t)a < (int32_t)b)
WEFT_INTERPRET_BINARY(s_less_equal, (int32_t)a <= (int32_t)b)
WEFT_INTERPRET_BINARY(u_greater, a > b)
WEFT_INTERPRET_BINARY(u_greater_equal, a >= b)
WEFT_INTERPRET_BINARY(s_greater, (int32_t)a > (int32_t)b)
WEFT_INTERPRET_BINARY(s_greater_equal, (int32_t)a >= (int32_t)b)
WEFT_INTERPRET_BINARY(u_min, a < b ? a : b)
WEFT_INTERPRET_BINARY(u_max, a < b ? b : a)
WEFT_INTERPRET_BINARY(s_min, (int32_t)a < (int32_t)b ? a : b)
WEFT_INTERPRET_BINARY(s_max, (int32_t)a < (int32_t)b ? b : a)
WEFT_INTERPRET_UNARY(s_abs, (int32_t)a < 0 ? 0u - a : a)
WEFT_INTERPRET_UNARY(s_sign, (int32_t)a < 0 ? UINT32_MAX : (uint32_t)(a != 0))
WEFT_INTERPRET_UNARY(logical_not, a == 0)
WEFT_INTERPRET_TERNARY(u_clamp, (a < b ? b : a) < c ? (a < b ? b : a) : c)
WEFT_INTERPRET_TERNARY(s_clamp, (int32_t)((int32_t)a < (int32_t)b ? b : a) < (int32_t)c
                                    ? ((int32_t)a < (int32_t)b ? b : a)
                                    : c)
WEFT_INTERPRET_TERNARY(select, a != 0 ? b : c)

/* ---- bits ---- */

WEFT_INTERPRET_BINARY(bitwise_and, a &b)
WEFT_INTERPRET_BINARY(bitwise_or, a | b)
WEFT_INTERPRET_BINARY(bitwise_xor, a ^ b)
WEFT_INTERPRET_UNARY(bitwise_not, ~a)
WEFT_INTERPRET_BINARY(shift_left, b < 32 ? a << b : 0)
WEFT_INTERPRET_BINARY(shift_right, b < 32 ? a >> b : 0)

/* Without the implementation-defined shift of a negative number. */
static inline uint32_t shift_signed(uint32_t a, uint32_t b) {
    uint32_t by = b < 32 ? b : 31;
    uint32_t sign = 0u - (a >> 31);
    return ((a ^ sign) >> by) ^ sign;
}

WEFT_INTERPRET_BINARY(shift_right_s, shift_signed(a, b))

/* A word with its low `count` bits set. */
static inline uint32_t low_bits(uint32_t count) {
    return count < 32 ? (UINT32_C(1) << count) - 1 : UINT32_MAX;
}

static inline uint32_t field(uint32_t word, uint32_t offset, uint32_t count) {
    return offset < 32 ? word >> offset & low_bits(count) : 0;
}

static inline uint32_t signed_field(uint32_t word, uint32_t offset, uint32_t count) {
    uint32_t bits = field(word, offset, count);
    bool negative = count > 0 && count < 32 && (bits >> (count - 1) & 1) != 0;
    return negative ? bits | ~low_bits(count) : bits;
}

WEFT_INTERPRET_TERNARY(bit_field_u, field(a, b, c))
WEFT_INTERPRET_TERNARY(bit_field_s, signed_field(a, b, c))

static void bit_field_insert(struct weft_interpret_group *group,
                             const struct weft_ir_instruction *instruction) {
    uint32_t *restrict d = weft_interpret_value(group, instruction->result);
    const uint32_t *restrict base = weft_interpret_operand(group, instruction, 0);
    const uint32_t *restrict insert = weft_interpret_operand(group, instruction, 1);
    const uint32_t *restrict offset = weft_interpret_operand(group, instruction, 2);
    const uint32_t *restrict count = weft_interpret_operand(group, instruction, 3);
    WEFT_INTERPRET_EACH(group,
                        uint32_t mask = offset[at] < 32 ? low_bits(count[at]) << offset[at] : 0;
                        uint32_t moved = offset[at] < 32 ? insert[at] << offset[at] : 0;
                        d[at] = (base[at] & ~mask) | (moved & mask));
}

static inline uint32_t reverse(uint32_t word) {
    uint32_t reversed = 0;
    for (uint32_t bit = 0; bit < 32; bit++) {
        reversed |= (word >> bit & 1) << (31 - bit);
    }
    return reversed;
}

static inline uint32_t count_bits(uint32_t word) {
    uint32_t count = 0;
    for (; word != 0; word &= word - 1) {
        count++;
    }
    return count;
}

/* The number of the highest bit set; 2^32 - 1 for none. */
static inline uint32_t highest(uint32_t word) {
    uint32_t bit = UINT32_MAX;
    for (; word != 0; word >>= 1) {
        bit++;
    }
    return bit;
}

WEFT_INTERPRET_UNARY(bit_reverse, reverse(a))
WEFT_INTERPRET_UNARY(bit_count, count_bits(a))
WEFT_INTERPRET_UNARY(find_lsb, highest(a &(0u - a)))
WEFT_INTERPRET_UNARY(find_u_msb, highest(a))
WEFT_INTERPRET_UNARY(find_s_msb, highest((int32_t)a < 0 ? ~a : a))

weft_interpret_function *weft_interpret_find_integer(uint32_t op) {
    static const struct weft_interpret_rule rules[] = {
        {SpvOpBitcast, move},
        {SpvOpSNegate, s_negate},
        {SpvOpIAdd, i_add},
        {SpvOpISub, i_sub},
        {SpvOpIMul, i_mul},
        {SpvOpUDiv, u_div},
        {SpvOpSDiv, s_div},
        {SpvOpUMod, u_mod},
        {SpvOpSRem, s_rem},
        {SpvOpSMod, s_mod},
        {WEFT_IR_CARRY, i_carry},
        {WEFT_IR_BORROW, i_borrow},
        {WEFT_IR_HIGH_UNSIGNED, u_mul_high},
        {WEFT_IR_HIGH_SIGNED, s_mul_high},
        {WEFT_IR_DOT4, dot4},
        {WEFT_IR_DOT4_MIXED, dot4_mixed},
        {SpvOpLogicalEqual, i_equal},
        {SpvOpLogicalNotEqual, i_not_equal},
        {SpvOpLogicalOr, bitwise_or},
        {SpvOpLogicalAnd, bitwise_and},
        {SpvOpLogicalNot, logical_not},
        {SpvOpSelect, select},
        {SpvOpIEqual, i_equal},
        {SpvOpINotEqual, i_not_equal},
        {SpvOpUGreaterThan, u_greater},
        {SpvOpSGreaterThan, s_greater},
        {SpvOpUGreaterThanEqual, u_greater_equal},
        {SpvOpSGreaterThanEqual, s_greater_equal},
        {SpvOpULessThan, u_less},
        {SpvOpSLessThan, s_less},
        {SpvOpULessThanEqual, u_less_equal},
        {SpvOpSLessThanEqual, s_less_equal},
        {SpvOpShiftRightLogical, shift_right},
        {SpvOpShiftRightArithmetic, shift_right_s},
        {SpvOpShiftLeftLogical, shift_left},
        {SpvOpBitwiseOr, bitwise_or},
        {SpvOpBitwiseXor, bitwise_xor},
        {SpvOpBitwiseAnd, bitwise_and},
        {SpvOpNot, bitwise_not},
        {SpvOpBitFieldInsert, bit_field_insert},
        {SpvOpBitFieldSExtract, bit_field_s},
        {SpvOpBitFieldUExtract, bit_field_u},
        {SpvOpBitReverse, bit_reverse},
        {SpvOpBitCount, bit_count},
        {WEFT_IR_GLSL + WEFT_GLSL_S_ABS, s_abs},
        {WEFT_IR_GLSL + WEFT_GLSL_S_SIGN, s_sign},
        {WEFT_IR_GLSL + WEFT_GLSL_U_MIN, u_min},
        {WEFT_IR_GLSL + WEFT_GLSL_S_MIN, s_min},
        {WEFT_IR_GLSL + WEFT_GLSL_U_MAX, u_max},
        {WEFT_IR_GLSL + WEFT_GLSL_S_MAX, s_max},
        {WEFT_IR_GLSL + WEFT_GLSL_U_CLAMP, u_clamp},
        {WEFT_IR_GLSL + WEFT_GLSL_S_CLAMP, s_clamp},
        {WEFT_IR_GLSL + WEFT_GLSL_FIND_I_LSB, find_lsb},
        {WEFT_IR_GLSL + WEFT_GLSL_FIND_S_MSB, find_s_msb},
        {WEFT_IR_GLSL + WEFT_GLSL_FIND_U_MSB, find_u_msb},
    };
    return weft_interpret_find(rules, sizeof rules / sizeof rules[0], op);
}
