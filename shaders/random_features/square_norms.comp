#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// The squared length of each row of w: a workgroup per row.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(std430, binding = 0) readonly buffer W { float w[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

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
    weft_partial own = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        float value = w[row * push.columns + c];
        own = weft_partial_add_product(own, value, value);
    }
    float sum = weft_group_sum(weft_partial_sum(own));
    if (gl_LocalInvocationID.x == 0) {
        result[row] = sum;
    }
}
