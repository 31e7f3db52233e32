#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest exponent of each row: a workgroup per row.

#include "hybrid_features.glsl"

layout(std430, binding = 2) writeonly buffer Result { float result[]; };

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    float largest = largest_exponent(row, half_square(row));
    if (gl_LocalInvocationID.x == 0) {
        result[row] = largest;
    }
}
