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
