#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The first columns of the circulant matrices that a Toeplitz matrix per channel is embedded in:
// lags 0 … n-1, zeros, and, when there are negative ones, lags -(n-1) … -1 at the end. Times scale.

#include "decay.glsl"

layout(constant_id = 0) const uint CAUSAL = 0;
layout(constant_id = 1) const uint HAS_DECAY = 0;

layout(std430, binding = 0) readonly buffer T { float t[]; };
layout(std430, binding = 1) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 2) writeonly buffer Rows { float circulant[]; }; // [d, length]

layout(push_constant) uniform Push
{
    uint groups_x;
    uint channels;
    uint circulant_length;
    uint sequence_length;
    uint lag_zero; // the row of lag 0 in t
    float scale;
} push;

#include "transpose.glsl"

float weft_source(uint channel, uint position)
{
    uint row = push.lag_zero + position;
    uint distance = position;
    if (position >= push.sequence_length) {
        distance = push.circulant_length - position;
        if (CAUSAL != 0 || distance >= push.sequence_length) {
            return 0.0;
        }
        row = push.lag_zero - distance;
    }
    float coefficient = t[row * push.channels + channel];
    if (HAS_DECAY != 0) {
        coefficient = coefficient * weft_decay(gamma[channel], distance);
    }
    return coefficient * push.scale;
}

void weft_put(uint channel, uint position, float value)
{
    circulant[channel * push.circulant_length + position] = value;
}

void main()
{
    weft_transpose(weft_group_index(push.groups_x), push.channels, push.circulant_length);
}
