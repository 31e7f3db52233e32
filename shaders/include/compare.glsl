// SPDX-License-Identifier: MIT
//
// Comparing floats by their bits: what becomes of NaN, and of the sign of a zero, is then the same everywhere.

#ifndef WEFT_INCLUDE_COMPARE_GLSL
#define WEFT_INCLUDE_COMPARE_GLSL

#include "math.glsl"
#include "partial.glsl"

bool weft_is_nan(uint bits)
{
    return (bits & WEFT_BITS_ABS) > WEFT_BITS_INF;
}

// weft_order_key, but for all that counts as zero the key of +0.
uint weft_value_key(float x)
{
    bool is_zero = (floatBitsToUint(x) & WEFT_BITS_ABS) < WEFT_BITS_MIN_NORMAL;
    return is_zero ? WEFT_BITS_SIGN : weft_order_key(x);
}

float weft_negative(float x)
{
    return uintBitsToFloat(floatBitsToUint(x) ^ WEFT_BITS_SIGN);
}

// The smaller of two numbers, -0 below +0; NaN when one of them is.
float weft_smaller(float a, float b)
{
    return weft_negative(weft_larger(weft_negative(a), weft_negative(b)));
}

#endif
