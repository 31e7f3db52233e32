#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// cosFormer's features of queries or keys: of each head relu(x) cos(a) and then relu(x) sin(a), with
// the angle a of the token's position.

#include "activation.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Positions { float positions[]; }; // cos, sin of each token
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // elements of x
    uint groups_x;
    uint tokens;
    uint channels; // of a token
    uint width; // of a head
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint position = 2 * (i / push.channels % push.tokens);
    uint at = i / push.width * (2 * push.width) + i % push.width;
    float value = weft_relu(x[i]);
    result[at] = weft_flush(value * positions[position]);
    result[at + push.width] = weft_flush(value * positions[position + 1]);
}
