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

// A sum of products rounded to nearest even: 4096 times a whole number below 2^20, which is exact, and one sum.
float weft_float_of_sum(int sum)
{
    return float(sum >> 12) * 4096.0 + float(sum & 0xfff);
}

// Rows whose largest magnitude is below 2^-119 count as zeros, so that no scale is subnormal.
#define WEFT_INT8_LEAST 0x04000000u

// Of a row, by the bits of its largest magnitude, which are the largest of the magnitudes' bits: NaN is above infinity.
struct weft_int8_row
{
    float scale;   // of a byte: the 127th part of the largest magnitude; NaN for a row with an element that is not finite
    float inverse; // bytes for a magnitude of 1
    bool is_zero;  // all bytes are
};

weft_int8_row weft_int8_row_of(uint largest)
{
    bool finite = largest < WEFT_BITS_INF;
    bool zero = largest < WEFT_INT8_LEAST || !finite;
    float magnitude = uintBitsToFloat(zero ? WEFT_BITS_ONE : largest);
    float scale = zero ? 0.0 : weft_div(magnitude, 127.0);
    return weft_int8_row(finite ? scale : uintBitsToFloat(WEFT_BITS_NAN), weft_div(127.0, magnitude), zero);
}

// The byte of an element, to nearest even: 1.5 2^23 leaves a whole number in the low bits. A product is at most 127 (1 + 2^-23), which is
// 127 by then.
uint weft_int8_byte(weft_int8_row row, float x)
{
    float scaled = x * row.inverse;
    uint whole = floatBitsToUint(scaled + 12582912.0);
    return row.is_zero ? 0u : whole & 0xffu;
}

#endif
