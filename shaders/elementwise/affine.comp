#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// scale · x + offset on every element.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    float scale;
    float offset;
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        result[i] = weft_flush(push.scale * x[i] + push.offset);
    }
}
