#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// code[i, c, r] = Σ_u filters[u, c] noise[i + u, c, r]. An invocation makes one element.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Filters { float filters[]; }; // [taps, d]
layout(std430, binding = 1) readonly buffer Noise { float noise[]; }; // [positions, d, realizations]
layout(std430, binding = 2) writeonly buffer Result { float result[]; }; // [n, d, realizations]

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint taps;
    uint channels;
    uint realizations;
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint channel = index / push.realizations % push.channels;
    uint step = push.channels * push.realizations;
    weft_partial sum = weft_partial_zero();
    for (uint u = 0; u < push.taps; u++) {
        sum = weft_partial_add_product(sum, filters[u * push.channels + channel], noise[index + u * step]);
    }
    result[index] = weft_flush(weft_partial_sum(sum));
}
