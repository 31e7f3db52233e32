#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Adds a number for each channel to result [batch, channels, size], in its place, and applies an activation: behind products,
// whose bias is one for each column.

#include "divide.glsl"
#include "finish.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Bias { float bias[]; };
layout(std430, binding = 1) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint channels;
    WEFT_INVERSE(channels)
    WEFT_INVERSE(size)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        float bias_value = HAS_BIAS != 0 ? bias[WEFT_REMAINDER(WEFT_QUOTIENT(i, size), channels)] : 0.0;
        result[i] = weft_conv_finish(result[i], bias_value);
    }
}
