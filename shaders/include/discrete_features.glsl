// SPDX-License-Identifier: MIT
//
// What the shaders of discrete random features share: a row is one head of one token, and its feature
// f is c_f times the product of its elements to the powers w_f. Products are kept as a significand
// and a binary exponent of their own, so that none overflows or vanishes on the way.

#ifndef WEFT_INCLUDE_DISCRETE_FEATURES_GLSL
#define WEFT_INCLUDE_DISCRETE_FEATURES_GLSL

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

#define LARGEST_POWER_BITS 0x447fc000u // 1023.0
#define LARGEST_EXPONENT 0x7fffff // a float32 as it is

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Powers { float w[]; }; // [features, width]
layout(std430, binding = 2) readonly buffer Coefficients { float coefficients[]; };

layout(push_constant) uniform Push
{
    uint rows;    // batch * tokens * heads
    uint columns; // features
    uint groups_x;
    uint width; // of a head
    uint heads;
    uint tokens;
    float scale;
} push;

// Significand, with sign and of a magnitude in [1, 2), times 2^exponent; or 0 or NaN.
struct scaled {
    float significand;
    int exponent;
    bool zero;
    bool nan;
};

scaled of_float(float value)
{
    uint u = floatBitsToUint(value);
    uint a = u & WEFT_BITS_ABS;
    scaled result;
    result.significand = uintBitsToFloat((u & (WEFT_BITS_SIGN | WEFT_BITS_FRACTION)) | WEFT_BITS_ONE);
    result.exponent = int(a >> 23) - 127;
    result.zero = a < WEFT_BITS_MIN_NORMAL;
    result.nan = a >= WEFT_BITS_INF; // an infinite element as well
    return result;
}

// Significands in [1, 2) have their product in [1, 4).
scaled times(scaled a, scaled b)
{
    uint u = floatBitsToUint(a.significand * b.significand);
    uint up = ((u & WEFT_BITS_ABS) >> 23) - 127u;
    scaled result;
    result.significand = uintBitsToFloat(u - (up << 23));
    result.exponent = a.exponent + b.exponent + int(up);
    result.zero = a.zero || b.zero;
    result.nan = a.nan || b.nan;
    return result;
}

// A power; whether it is a whole number in 0 ... 1023 is decided on its bits.
uint power_of(float given, out bool usable)
{
    uint u = floatBitsToUint(given);
    uint a = u & WEFT_BITS_ABS;
    uint power = a <= LARGEST_POWER_BITS ? uint(uintBitsToFloat(a)) : 0u;
    usable = floatBitsToUint(float(power)) == a && (u == a || a == 0u);
    return power;
}

// Feature f of a row, by repeated squaring; x^0 is 1 whatever x is. NaN for a power that is not a
// whole number in 0 ... 1023.
scaled feature(uint row, uint f)
{
    scaled product = of_float(coefficients[f]);
    for (uint c = 0; c < push.width; c++) {
        bool usable;
        uint left = power_of(w[f * push.width + c], usable);
        product.nan = product.nan || !usable;
        scaled base = of_float(weft_flush(push.scale * x[row * push.width + c]));
        while (left != 0u) {
            if ((left & 1u) != 0u) {
                product = times(product, base);
            }
            base = times(base, base);
            left = left >> 1;
        }
    }
    product.exponent = clamp(product.exponent, -LARGEST_EXPONENT, LARGEST_EXPONENT);
    return product;
}

// The largest binary exponent of a row's features, as a float; -2^23 when all are 0 or NaN. Contains
// barriers.
float largest_exponent(uint row)
{
    int own = -LARGEST_EXPONENT - 1;
    for (uint f = gl_LocalInvocationID.x; f < push.columns; f += WEFT_GROUP_SIZE) {
        scaled product = feature(row, f);
        int exponent = product.zero || product.nan ? own : product.exponent;
        own = max(own, exponent);
    }
    return weft_group_max(float(own));
}

#endif
