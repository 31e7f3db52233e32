#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Of each sequence of x [sequences, tokens, columns] the words of the last token before its length.

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) readonly buffer Lengths { int lengths[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint tokens;
    uint columns;
    WEFT_INVERSE(columns)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        uint sequence = WEFT_QUOTIENT(i, columns);
        uint token = uint(clamp(lengths[sequence], 1, int(push.tokens))) - 1;
        result[i] = x[(sequence * push.tokens + token) * push.columns + WEFT_REMAINDER(i, columns)];
    }
}
