#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The words of x [sequences, …, period, step] before its sequence's length along the axis `period`, and `fill` from there on.
// `x` and `result` may be the same buffer.

#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) readonly buffer Lengths { int lengths[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint sequence; // words of each
    uint period;
    uint step;
    uint fill;
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        int position = int(i / push.step % push.period);
        result[i] = position < lengths[i / push.sequence] ? x[i] : push.fill;
    }
}
