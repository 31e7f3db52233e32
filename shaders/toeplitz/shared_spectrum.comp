#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// What convolution/shared.comp wants of Toeplitz coefficients: the transforms of the even and of
// the odd elements of the circulant matrices' first columns (circulant.comp), at the first of each
// pair of frequencies, times 4 scale.
//
// Forms: those of convolution/shared.comp.
// form shared_spectrum
// form shared_spectrum_wide WEFT_FFT_INVOCATIONS=512

#include "decay.glsl"
#include "math.glsl"
#include "shared_fft.glsl"

layout(constant_id = 2) const uint CAUSAL = 0;
layout(constant_id = 3) const uint HAS_DECAY = 0;

layout(std430, binding = 0) readonly buffer T { float t[]; };
layout(std430, binding = 1) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 2) readonly buffer Twiddles { vec2 twiddles[]; };
layout(std430, binding = 3) writeonly buffer Kernel { vec4 kernel[]; }; // [d, WEFT_FFT_LENGTH/2]

layout(push_constant) uniform Push
{
    uint groups_x;
    uint sequence_length;
    uint channels;
    uint lag_zero; // the row of lag 0 in t
    float scale;
} push;

vec2 weft_twiddle(uint k)
{
    return twiddles[k];
}

// Of the lag that is so far from 0, or 0.0 if the sequence has none so far. No branch is around the load.
float element(uint channel, uint distance, bool is_below)
{
    uint inside = min(distance, push.sequence_length - 1);
    uint zero = push.lag_zero * push.channels + channel;
    uint away = inside * push.channels;
    float coefficient = t[is_below ? zero - away : zero + away];
    if (HAS_DECAY != 0 && inside == distance) {
        coefficient = coefficient * weft_decay(gamma[channel], distance);
    }
    return inside == distance ? coefficient : 0.0;
}

// In the first half of a first column are the lags from 0 on, and zeros.
vec2 point(uint channel, uint index)
{
    return vec2(element(channel, 2 * index, false), element(channel, 2 * index + 1, false));
}

// In the second half zeros, and the lags below 0, up to the end.
vec2 point_below(uint channel, uint index)
{
    if (CAUSAL != 0) {
        return vec2(0.0);
    }
    uint distance = 2 * (WEFT_FFT_LENGTH - index);
    return vec2(element(channel, distance, true), element(channel, distance - 1, true));
}

void put(uint channel, uint m, vec4 value)
{
    if (channel < push.channels) {
        kernel[channel * (WEFT_FFT_LENGTH / 2) + m] =
            vec4(weft_flush(value.x), weft_flush(value.y), weft_flush(value.z),
                 weft_flush(value.w));
    }
}

void load_item(uint i, uint first_channel)
{
    uint quarter = WEFT_FFT_LENGTH / 4;
    weft_fft_item item = weft_fft_place(i, WEFT_FFT_FIRST_QUARTER);
    uint channel = min(first_channel + (i & (WEFT_FFT_ROWS - 1)), push.channels - 1);
    uint at = item.exponent;
    weft_fft_butterfly(item, point(channel, at), point(channel, at + quarter), point_below(channel, at + 2 * quarter),
                       point_below(channel, at + 3 * quarter));
}

void put_item(uint i, uint first_channel)
{
    uint row = i & (WEFT_FFT_ROWS - 1);
    uint m = i >> WEFT_FFT_LOG_ROWS;
    uvec2 at = (weft_fft_pair(m) << WEFT_FFT_LOG_ROWS) + row;
    vec2 a = weft_points[at.x];
    vec2 b = weft_points[at.y];
    if (m == 0) {
        put(first_channel + row, m, vec4(a, b) * (4.0 * push.scale));
    } else {
        put(first_channel + row, m, vec4(a.x + b.x, a.y - b.y, a.y + b.y, b.x - a.x) * push.scale);
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint across = (push.channels + WEFT_FFT_ROWS - 1) >> WEFT_FFT_LOG_ROWS;
    if (group >= across) {
        return; // of a whole workgroup
    }
    uint first_channel = group << WEFT_FFT_LOG_ROWS;
    WEFT_FFT_EACH(WEFT_FFT_FOURS, load_item(i, first_channel))
    weft_fft_forward();
    WEFT_FFT_EACH(WEFT_FFT_PAIRS, put_item(i, first_channel))
}
