#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest exponent of each row, base included: a workgroup per row.

#include "random_features_group.glsl"

layout(std430, binding = 4) writeonly buffer Result { float result[]; };

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    row_terms terms = read_row(row);
    float largest = terms.base + largest_exponent(terms, row);
    if (gl_LocalInvocationID.x == 0) {
        result[row] = largest;
    }
}
