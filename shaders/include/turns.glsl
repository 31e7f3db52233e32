// SPDX-License-Identifier: MIT
//
// Phases in turns: the fractional part of a sum of products of float32 numbers, however large, and the
// cosine and sine of it. One rounding of such a product as it is would lose the phase from about 2^24
// turns on, and much of it before. All steps are exact but the last three, which leave the angle, of at
// most pi/4, with a relative error of 2^-23: cosine and sine have an absolute error below 1.5e-7 for all
// positions and frequencies. `precise` keeps the exact steps as they are in fast mode.

#ifndef WEFT_INCLUDE_TURNS_GLSL
#define WEFT_INCLUDE_TURNS_GLSL

#include "math.glsl"

#define WEFT_BITS_2_POW_MINUS_80 0x17800000u
#define WEFT_BITS_2_POW_MINUS_40 0x2b800000u
#define WEFT_BITS_2_POW_23 0x4b000000u

// A number of turns modulo 1: high + low, |high| <= 1/2, low below an ulp or so of high's greatest value.
struct weft_turns {
    float high;
    float low;
};

bool weft_impl_is_below(float x, uint bits)
{
    return (floatBitsToUint(x) & WEFT_BITS_ABS) < bits;
}

// x less a whole number: within 1/2 of 0 for |x| < 2^22, 0 from 2^23 on, where every float32 is whole, and
// within 1 between. Exact. NaN for NaN and infinities.
float weft_impl_fraction(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    float magnitude = uintBitsToFloat(a);
    precise float shifted = magnitude + 12582912.0f; // 1.5 * 2^23: rounds to a whole number
    precise float whole = shifted - 12582912.0f;
    precise float rest = magnitude - whole;
    uint r = floatBitsToUint(rest) ^ (u & WEFT_BITS_SIGN);
    r = a >= WEFT_BITS_2_POW_23 ? 0u : r;
    return uintBitsToFloat(a >= WEFT_BITS_INF ? WEFT_BITS_NAN : r);
}

// The 12 leading bits of x; the rest of it has 12 too.
float weft_impl_leading(float x)
{
    return uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u);
}

// sum + x for |x| <= 1: Knuth's exact sum, whose error joins the low part. It is at most 1.5, so that its fraction is within 1/2.
weft_turns weft_impl_turns_plus(weft_turns sum, float x)
{
    precise float s = sum.high + x;
    precise float part = s - sum.high;
    precise float before = s - part;
    precise float lost = (sum.high - before) + (x - part);
    precise float low = sum.low + lost;
    return weft_turns(weft_impl_fraction(s), low);
}

// sum + a b. Dekker's exact product, p and the error of p; below 2^-40 that error is of no account, and p
// itself below 2^-80. A factor below 2^-40 is made larger at the other's cost, so that no part is subnormal.
weft_turns weft_turns_add(weft_turns sum, float a_given, float b_given)
{
    bool a_small = weft_impl_is_below(a_given, WEFT_BITS_2_POW_MINUS_40);
    bool b_small = weft_impl_is_below(b_given, WEFT_BITS_2_POW_MINUS_40);
    float up = uintBitsToFloat(0x5d800000u);   // 2^60
    float down = uintBitsToFloat(0x21800000u); // 2^-60
    float a = weft_flush(a_given) * (a_small ? up : (b_small ? down : 1.0f));
    float b = weft_flush(b_given) * (a_small ? down : (b_small ? up : 1.0f));
    float ah = weft_impl_leading(a);
    float bh = weft_impl_leading(b);
    precise float al = a - ah;
    precise float bl = b - bh;
    precise float p = a * b;
    precise float cross = (ah * bh - p) + ah * bl;
    precise float error = (cross + al * bh) + al * bl;
    error = weft_impl_is_below(p, WEFT_BITS_2_POW_MINUS_40) ? 0.0f : error;
    error = weft_impl_is_below(p, WEFT_BITS_INF) ? error : 0.0f; // p says what there is to say
    p = weft_impl_is_below(p, WEFT_BITS_2_POW_MINUS_80) || (a_small && b_small) ? 0.0f : p;
    sum = weft_impl_turns_plus(sum, weft_impl_fraction(p));
    return weft_impl_turns_plus(sum, weft_impl_fraction(error));
}

// The angle to the nearest quarter turn is at most pi/4, up to the last bit.
void weft_turns_cos_sin(weft_turns turns, out float cosine, out float sine)
{
    // 4 high by its bits, as weft_twice (math.glsl): at most 2 here, and what becomes of 0 is too small to matter.
    float four = uintBitsToFloat(floatBitsToUint(turns.high) + 0x01000000u);
    precise float shifted = four + 12582912.0f;
    precise float quarters = shifted - 12582912.0f;
    precise float rest = (turns.high - quarters * 0.25f) + turns.low;
    float angle = rest * 6.28318548f;
    uint quarter = floatBitsToUint(shifted) & 3u;
    // The polynomials in fast mode, too, where the built-in functions may be off by 2^-11. Subnormal terms are lost in what they are
    // added to.
    uint c = floatBitsToUint(weft_impl_small_cos(angle));
    uint s = floatBitsToUint(weft_impl_small_sin(angle));
    bool odd = (quarter & 1u) != 0u;
    uint negate_cosine = ((quarter + 1u) & 2u) << 30;
    uint negate_sine = (quarter & 2u) << 30;
    cosine = uintBitsToFloat((odd ? s : c) ^ negate_cosine);
    sine = uintBitsToFloat((odd ? c : s) ^ negate_sine);
}

#endif
