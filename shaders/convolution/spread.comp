#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Spectra [d, bins, 2] of kernels with the channels innermost, as spectra.comp reads them: [bins, 2, d].

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Rows { float rows[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint channels;
    uint row; // its elements
    WEFT_INVERSE(channels)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        result[i] = rows[WEFT_REMAINDER(i, channels) * push.row + WEFT_QUOTIENT(i, channels)];
    }
}
