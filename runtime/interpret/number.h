/* SPDX-License-Identifier: MIT */
/* Words as float32 numbers: subnormal ones are zeros, as operands and as results. */
#ifndef WEFT_INTERPRET_NUMBER_H
#define WEFT_INTERPRET_NUMBER_H

#include <float.h>
#include <stdint.h>
#include <string.h>

#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error \
    "The interpreter needs float arithmetic that is rounded to float at once (FLT_EVAL_METHOD 0)."
#endif
#ifdef __FAST_MATH__
#error "The interpreter needs IEEE arithmetic: compile it without -ffast-math."
#endif
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && FLT_MAX_EXP == 128, "float is binary32");

#define SIGN_BIT      UINT32_C(0x80000000)
#define EXPONENT_BITS UINT32_C(0x7F800000)

/* A subnormal number becomes the zero of its sign. */
static inline uint32_t flush(uint32_t bits) {
    return (bits & EXPONENT_BITS) != 0 ? bits : bits & SIGN_BIT;
}

/* The number that bits are, and the bits that a number has, as they are. */
static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* An operand. */
static inline float number(uint32_t bits) {
    return float_of(flush(bits));
}

/* A result. */
static inline uint32_t word(float value) {
    return flush(bits_of(value));
}

#endif
