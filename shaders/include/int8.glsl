// SPDX-License-Identifier: MIT
//
// Signed bytes, four in a word, and the numbers that they stand for: a byte times the scale of its row or column (docs/reproducibility.md,
// int8). All conversions are exact, but for weft_float_of_sum, which rounds once.

#ifndef WEFT_INCLUDE_INT8_GLSL
#define WEFT_INCLUDE_INT8_GLSL

#include "math.glsl"

// Byte 0 … 3 of a word, with its sign.
int weft_int8_of(uint word, uint index)
{
    return int(word << (24u - 8u * index)) >> 24;
}

// All four, as numbers.
vec4 weft_int8s_of(uint word)
{
    return vec4(float(weft_int8_of(word, 0u)), float(weft_int8_of(word, 1u)), float(weft_int8_of(word, 2u)),
                float(weft_int8_of(word, 3u)));
}

// A sum of products rounded to nearest even: its upper 20 bits and its lower 12 are exact, and are added once.
float weft_float_of_sum(int sum)
{
    return float(sum & ~0xfff) + float(sum & 0xfff);
}

// Rows whose range has less than this for its half, 2^-119, count as zeros, so that no scale is subnormal.
#define WEFT_INT8_LEAST 0x04000000u

// Of a row whose bytes are between -128 and 127: what a step of one is, and the byte that stands for 0.
struct weft_int8_row
{
    float scale;   // NaN for a row with an element that is not finite
    float inverse; // steps for a magnitude of 1
    int zero;
    bool is_zero; // all elements count as zeros
};

// A number to nearest even, as a whole one between -2^22 and 2^22: 1.5 2^23 leaves it in the low bits.
int weft_int8_round(float x)
{
    return int(floatBitsToUint(x + 12582912.0) - 0x4b400000u);
}

// By the largest of the bits of what is not below zero, and of the magnitudes of what is: whole numbers, of which NaN is above infinity.
weft_int8_row weft_int8_row_of(uint above, uint below)
{
    bool finite = max(above, below) < WEFT_BITS_INF;
    float low = uintBitsToFloat(finite ? below : 0u); // without its sign
    float half_range = uintBitsToFloat(finite ? above : 0u) * 0.5 + low * 0.5;
    bool zero = floatBitsToUint(half_range) < WEFT_INT8_LEAST;
    float range = zero ? 1.0 : half_range;
    float inverse = weft_div(127.5, range);
    float scale = zero ? 0.0 : weft_div(range, 127.5);
    float steps = low * inverse;
    return weft_int8_row(finite ? scale : uintBitsToFloat(WEFT_BITS_NAN), inverse,
                         zero ? 0 : weft_int8_round(steps) - 128, zero);
}

// The byte of an element.
uint weft_int8_byte(weft_int8_row row, float x)
{
    float steps = x * row.inverse;
    int byte_value = clamp(weft_int8_round(steps) + row.zero, -128, 127);
    return row.is_zero ? 0u : uint(byte_value) & 0xffu;
}

#endif
