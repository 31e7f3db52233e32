#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// scale · Σ_c x[c] code[c, r] over the channels of a head. An invocation makes one element.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; }; // [batch, n, heads, width]
layout(std430, binding = 1) readonly buffer Codes { float codes[]; }; // [n, heads, width, realizations]
layout(std430, binding = 2) writeonly buffer Result { float result[]; }; // [batch, n, heads, realizations]

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint code_rows; // n · heads
    uint width;
    uint realizations;
    float scale;
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint row = index / push.realizations;
    uint at = row * push.width;
    uint code = row % push.code_rows * push.width * push.realizations + index % push.realizations;
    weft_partial sum = weft_partial_zero();
    for (uint c = 0; c < push.width; c++) {
        sum = weft_partial_add_product(sum, x[at + c], codes[code + c * push.realizations]);
    }
    result[index] = weft_flush(push.scale * weft_partial_sum(sum));
}
