#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows of `width` elements as rows of `padded_length`, times scale. The rest is zeros, or, where rows
// are first columns of circulant matrices, lags -1 … -(width-1) from the end on, which continue them.

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Source { float source[]; };
layout(std430, binding = 1) writeonly buffer Rows { float padded[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint width;
    uint padded_length;
    uint first_row;
    uint row_step; // elements from row to row of the source
    uint continued;
    float scale;
    WEFT_INVERSE(padded_length)
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint at = WEFT_REMAINDER(item, padded_length);
    uint base = (push.first_row + WEFT_QUOTIENT(item, padded_length)) * push.row_step;
    float value = 0.0;
    if (at < push.width) {
        value = source[base + at];
    } else if (push.continued != 0 && at > push.padded_length - push.width) {
        value = source[base + at + push.width - push.padded_length];
    }
    padded[item] = value * push.scale;
}
