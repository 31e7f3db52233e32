#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// A frequency response as half spectra, one row of (re, im) pairs per channel, times scale. The
// response has d real parts in a row, and d imaginary parts behind them unless it is real; those of
// the frequencies 0 and π count as 0.

layout(constant_id = 0) const uint IS_REAL = 0;

layout(std430, binding = 0) readonly buffer Response { float response[]; };
layout(std430, binding = 1) writeonly buffer Spectrum { float spectrum[]; }; // [d, bins, 2]

layout(push_constant) uniform Push
{
    uint groups_x;
    uint channels;
    uint bins;
    float scale;
} push;

#include "transpose.glsl"

float weft_source(uint channel, uint position)
{
    uint bin = position / 2;
    if (position % 2 == 0) {
        return response[bin * push.channels * (IS_REAL != 0 ? 1 : 2) + channel] * push.scale;
    }
    if (IS_REAL != 0 || bin == 0 || bin == push.bins - 1) {
        return 0.0;
    }
    return response[(bin * 2 + 1) * push.channels + channel] * push.scale;
}

void weft_put(uint channel, uint position, float value)
{
    spectrum[channel * push.bins * 2 + position] = value;
}

void main()
{
    weft_transpose(weft_group_index(push.groups_x), push.channels, 2 * push.bins);
}
