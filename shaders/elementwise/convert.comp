#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// f16 or u8 elements, two or four in a word, or i32 to f32, and f32 to them, or to the nearest f16. By integers: what drivers' own conversions round and
// flush is theirs to choose. An invocation does a word of them; behind the last element it holds zeros.

#include "index.glsl"
#include "numbers.glsl"

layout(constant_id = 0) const uint KIND = WEFT_CONVERSION_F16_TO_F32;

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count; // elements
    uint groups_x;
} push;

const uint SIGN = 0x80000000u;
const uint INFINITE = 0x7f800000u;

// m / 2^shift, to the nearest, ties to even; 0 < shift < 32.
uint rounded_shift(uint m, uint shift)
{
    uint quotient = m >> shift;
    uint rest = m & ((1u << shift) - 1u);
    uint tie = 1u << (shift - 1u);
    return quotient + uint(rest > tie || (rest == tie && (quotient & 1u) != 0u));
}

// Bits of the f32 with the value of an f16; all of them are normal or zero.
uint of_half(uint half_bits)
{
    uint sign = (half_bits & 0x8000u) << 16;
    uint exponent = half_bits >> 10 & 31u;
    uint fraction = half_bits & 0x3ffu;
    if (exponent == 31u) {
        return fraction != 0u ? 0x7fc00000u : sign | INFINITE;
    }
    if (exponent != 0u) {
        return sign | (exponent + 112u) << 23 | fraction << 13;
    }
    if (fraction == 0u) {
        return sign;
    }
    uint top = uint(findMSB(fraction)); // the value is fraction · 2^-24
    return sign | (top + 103u) << 23 | (fraction << (23u - top) & 0x7fffffu);
}

uint to_half(uint bits)
{
    uint sign = bits >> 16 & 0x8000u;
    uint size = bits & ~SIGN;
    if (size > INFINITE) {
        return 0x7e00u;
    }
    if (size >= 0x477ff000u) { // 65520, from where on the nearest is infinity
        return sign | 0x7c00u;
    }
    if (size >= 0x38800000u) { // 2^-14, the least normal number
        return sign | (rounded_shift(size, 13u) - (112u << 10));
    }
    if (size < 0x33000000u) { // 2^-25
        return sign;
    }
    return sign | rounded_shift((size & 0x7fffffu) | 0x800000u, 126u - (size >> 23));
}

uint to_byte(uint bits)
{
    uint size = bits & ~SIGN;
    if ((bits & SIGN) != 0u || size > INFINITE || size < 0x3f000000u) { // 1/2
        return 0u;
    }
    if (size >= 0x437f0000u) { // 255
        return 255u;
    }
    return rounded_shift((size & 0x7fffffu) | 0x800000u, 150u - (size >> 23));
}

// The nearest f32 of an i32, ties to even.
uint of_integer(uint word)
{
    uint sign = word & SIGN;
    uint size = sign != 0u ? 0u - word : word;
    if (size == 0u) {
        return 0u;
    }
    uint top = uint(findMSB(size));
    uint significand = top <= 23u ? size << (23u - top) : rounded_shift(size, top - 23u);
    return sign | (significand + ((top + 126u) << 23));
}

// Without the fraction, within the range of i32.
uint to_integer(uint bits)
{
    uint size = bits & ~SIGN;
    bool negative = (bits & SIGN) != 0u;
    if (size > INFINITE || size < 0x3f800000u) {
        return 0u;
    }
    if (size >= 0x4f000000u) { // 2^31
        return negative ? SIGN : ~SIGN;
    }
    uint significand = (size & 0x7fffffu) | 0x800000u;
    uint exponent = size >> 23;
    uint whole = exponent >= 150u ? significand << (exponent - 150u) : significand >> (150u - exponent);
    return negative ? 0u - whole : whole;
}

void unpack(uint word, uint per_word)
{
    uint bits = 32u / per_word;
    for (uint j = 0u; j < per_word && word * per_word + j < push.count; j++) {
        uint element = x[word] >> (bits * j) & ((1u << bits) - 1u);
        result[word * per_word + j] = KIND == WEFT_CONVERSION_F16_TO_F32 ? of_half(element) : floatBitsToUint(float(element));
    }
}

void pack(uint word, uint per_word)
{
    uint bits = 32u / per_word;
    uint packed = 0u;
    for (uint j = 0u; j < per_word && word * per_word + j < push.count; j++) {
        uint element = x[word * per_word + j];
        packed |= (KIND == WEFT_CONVERSION_F32_TO_F16 ? to_half(element) : to_byte(element)) << (bits * j);
    }
    result[word] = packed;
}

uint elements_per_word()
{
    switch (KIND) {
    case WEFT_CONVERSION_F16_TO_F32:
    case WEFT_CONVERSION_F32_TO_F16:
        return 2u;
    case WEFT_CONVERSION_U8_TO_F32:
    case WEFT_CONVERSION_F32_TO_U8:
        return 4u;
    default:
        return 1u;
    }
}

uint of_word(uint word)
{
    return KIND == WEFT_CONVERSION_I32_TO_F32   ? of_integer(word)
           : KIND == WEFT_CONVERSION_F32_TO_I32 ? to_integer(word)
                                                : of_half(to_half(word));
}

void main()
{
    uint per_word = elements_per_word();
    uint i = weft_item_index(push.groups_x);
    if (i < (push.count + per_word - 1u) / per_word) {
        if (KIND == WEFT_CONVERSION_F16_TO_F32 || KIND == WEFT_CONVERSION_U8_TO_F32) {
            unpack(i, per_word);
        } else if (per_word == 1u) {
            result[i] = of_word(x[i]);
        } else {
            pack(i, per_word);
        }
    }
}
