// SPDX-License-Identifier: MIT
//
// Constants of 16 bits, two in a word. Asks for neither 16-bit storage nor 16-bit arithmetic, so every device can do it. What widens exactly
// does so by integers and one difference of normal numbers that is exact: no driver's own conversion has a say.

#ifndef WEFT_INCLUDE_HALF_GLSL
#define WEFT_INCLUDE_HALF_GLSL

// How an operand is stored: enum weft_half of lower/lowering.h. 0 is f32.
#define WEFT_HALF_SCALED 1 // f16, in fast mode: rounded, times a power of two
#define WEFT_HALF_BF16   2
#define WEFT_HALF_F16    3 // as given
#define WEFT_HALF_I8     4 // bytes, four in a word, with scales behind them (int8.glsl): not for the functions below
// 8 and above: blocks (blocks.glsl), neither.

// Bits of an f16 that is finite. Subnormal ones are 2^-14 (1 + fraction) - 2^-14.
float weft_float_of_f16(uint bits)
{
    uint magnitude = (bits & 0x7fffu) << 13;
    uint small = floatBitsToUint(uintBitsToFloat(magnitude + 0x38800000u) - uintBitsToFloat(0x38800000u));
    uint normal = magnitude + 0x38000000u;
    return uintBitsToFloat((magnitude < 0x00800000u ? small : normal) | (bits & 0x8000u) << 16);
}

// Bits of any f16, also of an infinity and of a NaN that weft_f16_of_float gives. runtime/native/llvm/arithmetic.c knows these operations.
float weft_float_of_any_f16(uint bits)
{
    uint magnitude = (bits & 0x7fffu) << 13;
    uint small = floatBitsToUint(uintBitsToFloat(magnitude + 0x38800000u) - uintBitsToFloat(0x38800000u));
    uint normal = magnitude + (magnitude < 0x0f800000u ? 0x38000000u : 0x70000000u);
    return uintBitsToFloat((magnitude < 0x00800000u ? small : normal) | (bits & 0x8000u) << 16);
}

vec2 weft_floats_of_any_f16(uint word)
{
    return vec2(weft_float_of_any_f16(word), weft_float_of_any_f16(word >> 16));
}

// Bits of the nearest f16, ties to even; from 65520 on infinity. Below 2^-14 they are 2^-24 apart, as f32 from 1/2 to 1 are.
uint weft_f16_of_float(float x)
{
    uint bits = floatBitsToUint(x);
    uint size = bits & 0x7fffffffu;
    uint small = floatBitsToUint(uintBitsToFloat(size) + 0.5) - 0x3f000000u;
    uint normal = min(((size + 0xfffu + (size >> 13 & 1u)) >> 13) - 0x1c000u, 0x7c00u);
    uint magnitude = size < 0x38800000u ? small : normal;
    return size > 0x7f800000u ? 0x7e00u : magnitude | (bits >> 16 & 0x8000u);
}

uint weft_f16_pair_of(float low, float high)
{
    return weft_f16_of_float(low) | weft_f16_of_float(high) << 16;
}

float weft_nearest_f16(float x)
{
    return weft_float_of_any_f16(weft_f16_of_float(x));
}

// The first and the second of a word.
vec2 weft_halves_of(uint form, uint word)
{
#ifdef WEFT_MATH_FAST
    if (form == WEFT_HALF_SCALED) {
        return unpackHalf2x16(word);
    }
#endif
    if (form == WEFT_HALF_BF16) {
        return vec2(uintBitsToFloat(word << 16), uintBitsToFloat(word & 0xffff0000u));
    }
    return vec2(weft_float_of_f16(word), weft_float_of_f16(word >> 16));
}

// Element `index` of those whose word this is.
float weft_half_of(uint form, uint word, uint index)
{
    uint bits = word >> (index % 2u * 16u);
#ifdef WEFT_MATH_FAST
    if (form == WEFT_HALF_SCALED) {
        return unpackHalf2x16(bits).x;
    }
#endif
    return form == WEFT_HALF_BF16 ? uintBitsToFloat(bits << 16) : weft_float_of_f16(bits);
}

#endif
