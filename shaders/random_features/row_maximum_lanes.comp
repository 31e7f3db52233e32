#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest exponent of each row, base included, on processors: what row_maximum.comp computes.

#include "random_features_lanes.glsl"

layout(std430, binding = 4) writeonly buffer Result { float result[]; };

void main()
{
    uint at_once = weft_rows_at_once(max(push.columns, push.width));
    uint first = weft_group_index(push.groups_x) * at_once;
    if (first >= push.rows) {
        return;
    }
    uint rows = min(push.rows - first, at_once);
    row_terms terms = read_rows(first, rows);
    float largest = terms.base + largest_exponents(first, rows);
    if (gl_LocalInvocationIndex < rows) {
        result[first + gl_LocalInvocationIndex] = largest;
    }
}
