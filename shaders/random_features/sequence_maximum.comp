#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest of the rows' maxima [batch, tokens, heads] of each sequence and head: a workgroup each.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows; // batch * heads
    uint tokens;
    uint groups_x;
    uint heads;
} push;

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    uint base = row / push.heads * push.tokens * push.heads + row % push.heads;
    float own = uintBitsToFloat(0xff800000u); // -inf
    for (uint i = gl_LocalInvocationID.x; i < push.tokens; i += WEFT_GROUP_SIZE) {
        own = weft_larger(own, x[base + i * push.heads]);
    }
    float largest = weft_group_max(own);
    if (gl_LocalInvocationID.x == 0) {
        result[row] = largest;
    }
}
