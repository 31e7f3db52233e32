#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// cosformer/features for one token of each sequence, at a position that is given.

#include "activation.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Angles { float angles[]; }; // cos, sin of each position
layout(std430, binding = 2) readonly buffer Position { int position[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // elements of x
    uint groups_x;
    uint positions;
    uint channels; // of a token
    uint width; // of a head
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint angle = 2 * min(uint(position[i / push.channels]), push.positions - 1);
    uint at = i / push.width * (2 * push.width) + i % push.width;
    float value = weft_relu(x[i]);
    result[at] = weft_flush(value * angles[angle]);
    result[at + push.width] = weft_flush(value * angles[angle + 1]);
}
