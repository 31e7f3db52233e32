#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// The coefficients of causal kernels, channels innermost, from the even kernels: lag 0, and the positive lags doubled.

#include "math.glsl"

layout(std430, binding = 0) readonly buffer Kernel { float kernel[]; }; // [d, 2 lags]
layout(std430, binding = 1) writeonly buffer Coefficients { float coefficients[]; }; // [lags, d]

layout(push_constant) uniform Push
{
    uint groups_x;
    uint channels;
    uint lags;
} push;

#include "transpose.glsl"

float weft_source(uint lag, uint channel)
{
    return kernel[channel * 2 * push.lags + lag];
}

void weft_put(uint lag, uint channel, float value)
{
    coefficients[lag * push.channels + channel] = weft_flush(lag == 0 ? value : value + value);
}

void main()
{
    weft_transpose(weft_group_index(push.groups_x), push.lags, push.channels);
}
