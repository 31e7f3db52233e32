#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax over the last axis: a workgroup per row. An invocation reads back only elements of
// `result` that it wrote itself.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
} push;

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    uint base = row * push.columns;
    float own_max = uintBitsToFloat(0xff800000u); // -inf
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        own_max = weft_larger(own_max, x[base + c]);
    }
    float largest = weft_group_max(own_max);
    weft_partial own_sum = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        float value = weft_exp(x[base + c] - largest);
        result[base + c] = value;
        own_sum = weft_partial_add(own_sum, value);
    }
    float scale = weft_rcp(weft_group_sum(weft_partial_sum(own_sum)));
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        result[base + c] = weft_flush(result[base + c] * scale);
    }
}
