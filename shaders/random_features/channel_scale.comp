#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// x [batch, tokens, heads, width] with each channel of a sequence times its factor.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Factors { float factors[]; }; // [batch, channels]
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // elements of x
    uint groups_x;
    uint channels; // of a token
    WEFT_INVERSE(channels)
    WEFT_INVERSE(sequence) // what divides by the elements of one
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    result[i] = weft_flush(x[i] * factors[WEFT_QUOTIENT(i, sequence) * push.channels + WEFT_REMAINDER(i, channels)]);
}
