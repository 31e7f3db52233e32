#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Adds up the segments of each inducing point's stretch: [B r, segments, d] to [B r, d].

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Parts { float parts[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint d;
    uint segments;
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint index = item / push.d * push.segments * push.d + item % push.d;
    weft_partial sum = weft_partial_zero();
    for (uint i = 0; i < push.segments; i++) {
        sum = weft_partial_add(sum, parts[index + i * push.d]);
    }
    result[item] = weft_flush(weft_partial_sum(sum));
}
