#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// The reverse of pad.comp: the first n elements of each row, back in [B, n, d]. Zeros become +0:
// VkFFT's inverse real transform, given -0 somewhere, makes zeros of another sign on Mesa 22.3 than
// elsewhere, and without a division no other bit depends on a zero's sign.

#include "divide.glsl"
#include "math.glsl"
#include "positive_zero.glsl"

layout(std430, binding = 0) readonly buffer Rows { float padded[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint rows;
    uint padded_length;
    uint first_row;
    uint sequence_length;
    uint channels;
    WEFT_INVERSE(channels)
} push;

#include "transpose.glsl"

// Here the source is contiguous along positions: the rows of the tile are positions and the other
// way round.
float weft_source(uint position, uint row)
{
    return padded[row * push.padded_length + position];
}

void weft_put(uint position, uint row, float value)
{
    uint sequence = WEFT_QUOTIENT(push.first_row + row, channels);
    uint channel = WEFT_REMAINDER(push.first_row + row, channels);
    y[(sequence * push.sequence_length + position) * push.channels + channel] =
        weft_positive_zero(weft_flush(value));
}

void main()
{
    weft_transpose(weft_group_index(push.groups_x), push.sequence_length, push.rows);
}
