#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows divided by their length, a workgroup per row.

#include "index.glsl"
#include "reduce.glsl"
#include "rms_norm.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return; // the whole group: no barrier is missed
    }
    uint base = row * push.columns;
    weft_partial own_squares = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        own_squares = weft_partial_add(own_squares, x[base + c] * x[base + c]);
    }
    float scale = scale_of(weft_group_sum(weft_partial_sum(own_squares)));
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        store(base + c, c, scale);
    }
}
