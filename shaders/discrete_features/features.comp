#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The features of a row, times 2^-e of the stabilizer's e: a workgroup per row. STABILIZER: a weft_stabilizer.

#include "discrete_features.glsl"
#include "numbers.glsl"

layout(constant_id = 0) const uint STABILIZER = 0;

layout(std430, binding = 3) readonly buffer Largest { float largest[]; }; // WEFT_STABILIZER_KEY: of each sequence
layout(std430, binding = 4) writeonly buffer Result { float result[]; };

// Infinite or zero where the exponent is not that of a normal number.
float to_float(scaled value, int down)
{
    int exponent = value.exponent - down;
    uint u = floatBitsToUint(value.significand);
    uint sign = u & WEFT_BITS_SIGN;
    uint bits = u + (uint(clamp(exponent, -126, 127)) << 23);
    bits = exponent > 127 ? sign | WEFT_BITS_INF : bits;
    bits = exponent < -126 || value.zero ? sign : bits;
    return uintBitsToFloat(value.nan ? WEFT_BITS_NAN : bits);
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    float down = 0.0f;
    if (STABILIZER == WEFT_STABILIZER_QUERY) {
        down = largest_exponent(row);
    } else if (STABILIZER == WEFT_STABILIZER_KEY) {
        down = largest[row / (push.tokens * push.heads) * push.heads + row % push.heads];
    }
    for (uint f = gl_LocalInvocationID.x; f < push.columns; f += WEFT_GROUP_SIZE) {
        result[row * push.columns + f] = weft_flush(to_float(feature(row, f), int(down)));
    }
}
