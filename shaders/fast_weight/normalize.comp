#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows of features elu(x) + 1 that add up to 1; one that underflows as a whole stays 0. An invocation
// makes a row, which has only a head's channels.

#include "activation.glsl"
#include "index.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint groups_x;
    uint columns;
} push;

void main()
{
    uint row = weft_item_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    uint base = row * push.columns;
    weft_partial partial = weft_partial_zero();
    for (uint c = 0; c < push.columns; c++) {
        float feature = weft_elu1(x[base + c]);
        result[base + c] = feature;
        partial = weft_partial_add(partial, feature);
    }
    float sum = weft_partial_sum(partial);
    // No feature is negative, so bits below the least normal number are a sum of 0.
    bool is_zero = floatBitsToUint(sum) < 0x00800000u;
    for (uint c = 0; c < push.columns; c++) {
        result[base + c] = is_zero ? 0.0f : weft_flush(weft_div(result[base + c], sum));
    }
}
