#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// A plane as the network reads it: 28 by 28 means of squares in the plane's middle, patches of 4 by 4 of them one behind the
// other. Sums are of whole numbers below 2^24, and exact.

#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Plane { float plane[]; }; // 0 … 255
layout(std430, binding = 1) writeonly buffer Result { float result[]; }; // [7, 7, 4, 4]

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint width; // of the plane
    uint left;
    uint top;
    uint square; // pixels of its side
    float black; // of a whole square
    float scale; // 1 / (white - black)
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint x = push.left + (index / 16 % 7 * 4 + index % 4) * push.square;
    uint y = push.top + (index / 112 * 4 + index / 4 % 4) * push.square;
    float sum = 0.0;
    for (uint i = 0; i < push.square; i++) {
        for (uint j = 0; j < push.square; j++) {
            sum += plane[(y + i) * push.width + x + j];
        }
    }
    result[index] = (sum - push.black) * push.scale;
}
