#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Keys or values [..., kv_heads, width] with each head some times in succession: one for each head of the queries.

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count; // of the result
    uint groups_x;
    uint width;
    WEFT_INVERSE(width)
    WEFT_INVERSE(shared) // what divides by the width of all heads that come of one
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        result[i] = x[WEFT_QUOTIENT(i, shared) * push.width + WEFT_REMAINDER(i, width)];
    }
}
