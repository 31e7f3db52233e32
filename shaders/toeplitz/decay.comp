#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Toeplitz coefficients times gamma^|lag|: those of the lags first_lag … of t, one row of d
// channels each.

#include "decay.glsl"
#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer T { float t[]; };
layout(std430, binding = 1) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint channels;
    int first_lag;
    uint lag_zero; // the row of lag 0 in t
    WEFT_INVERSE(channels)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    int lag = push.first_lag + int(WEFT_QUOTIENT(i, channels));
    uint channel = WEFT_REMAINDER(i, channels);
    float coefficient = t[uint(int(push.lag_zero) + lag) * push.channels + channel];
    result[i] = weft_flush(coefficient * weft_decay(gamma[channel], uint(abs(lag))));
}
