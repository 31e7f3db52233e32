#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Sequences [B, n, d] as rows for a transform along n: row b d + c is channel c of sequence b, with
// zeros behind its n elements. Makes `rows` rows from first_row on.

#include "divide.glsl"

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Rows { float padded[]; };

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

float weft_source(uint row, uint position)
{
    uint sequence = WEFT_QUOTIENT(push.first_row + row, channels);
    uint channel = WEFT_REMAINDER(push.first_row + row, channels);
    return position < push.sequence_length
               ? x[(sequence * push.sequence_length + position) * push.channels + channel]
               : 0.0;
}

void weft_put(uint row, uint position, float value)
{
    padded[row * push.padded_length + position] = value;
}

void main()
{
    weft_transpose(weft_group_index(push.groups_x), push.rows, push.padded_length);
}
