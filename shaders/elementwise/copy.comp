#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Copies runs of `inner` words that lie `stride` words apart, the first at `offset`. Words, not
// floats: copying must not change a bit.

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint inner;
    uint stride;
    uint offset;
    WEFT_INVERSE(inner)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        result[i] = x[WEFT_QUOTIENT(i, inner) * push.stride + WEFT_REMAINDER(i, inner) + push.offset];
    }
}
