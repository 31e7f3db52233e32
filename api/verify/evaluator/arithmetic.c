/* SPDX-License-Identifier: MIT */
/*
 * Float32 arithmetic. Compiled with -ffp-contract=off; every operation is one C operation on floats
 * between explicit flushes of subnormal numbers, so that no mode of the host's can show.
 */
#include <float.h>
#include <string.h>

#include "verify/evaluator/execute.h"

#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error "The evaluator needs float arithmetic that is rounded to float at once (FLT_EVAL_METHOD 0)."
#endif
#ifdef __FAST_MATH__
#error "The evaluator needs IEEE arithmetic: compile it without -ffast-math."
#endif
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && FLT_MAX_EXP == 128, "float is binary32");

#define SIGN_BIT      UINT32_C(0x80000000)
#define EXPONENT_BITS UINT32_C(0x7F800000)

/* A subnormal number becomes the zero of its sign. */
static inline uint32_t flush(uint32_t bits) {
    return (bits & EXPONENT_BITS) != 0 ? bits : bits & SIGN_BIT;
}

/* An operand. */
static inline float number(uint32_t bits) {
    uint32_t flushed = flush(bits);
    float value;
    memcpy(&value, &flushed, sizeof value);
    return value;
}

/* A result. */
static inline uint32_t word(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return flush(bits);
}

WEFT_EVAL_UNARY(f_negate, flush(a) ^ SIGN_BIT)
WEFT_EVAL_UNARY(f_abs, flush(a) & ~SIGN_BIT)

WEFT_EVAL_BINARY(f_add, word(number(a) + number(b)))
WEFT_EVAL_BINARY(f_sub, word(number(a) - number(b)))

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

WEFT_EVAL_BINARY(f_mul, multiply(a, b))

WEFT_EVAL_BINARY(f_equal, number(a) == number(b))
WEFT_EVAL_BINARY(f_not_equal, number(a) != number(b))
WEFT_EVAL_BINARY(f_less, number(a) < number(b))
WEFT_EVAL_BINARY(f_less_equal, number(a) <= number(b))

/* Toward zero. Undefined for what does not fit and for NaN; here that gives 2^31. */
static inline uint32_t to_signed(float value) {
    bool fits = value >= -0x1p31F && value < 0x1p31F;
    return fits ? (uint32_t)(int32_t)value : SIGN_BIT;
}

/* The same; undefined values give 2^32 - 1. */
static inline uint32_t to_unsigned(float value) {
    bool fits = value > -1.0F && value < 0x1p32F;
    return fits ? (uint32_t)value : UINT32_MAX;
}

WEFT_EVAL_UNARY(f_to_s, to_signed(number(a)))
WEFT_EVAL_UNARY(f_to_u, to_unsigned(number(a)))
WEFT_EVAL_UNARY(s_to_f, word((float)(int32_t)a))
WEFT_EVAL_UNARY(u_to_f, word((float)a))
