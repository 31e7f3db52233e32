#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Circular convolution of sequences [B, n, d] with a kernel per channel, whole in one workgroup:
// zeros behind the n elements, transform, product, inverse. A channel's even elements are the real
// parts and its odd ones the imaginary parts of one complex sequence of half the length, so that
// channels have nothing of each other. With the transforms E and O of even and odd elements, e and
// o those of the kernel, and w the delay by one step,
//     E' = e E + w o O,   O' = o E + e O.

#include "math.glsl"
#include "positive_zero.glsl"
#include "shared_fft.glsl"

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Kernel { vec4 kernel[]; }; // [d, WEFT_FFT_LENGTH/2]: e, o
layout(std430, binding = 2) readonly buffer Twiddles { vec2 twiddles[]; };
layout(std430, binding = 3) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint batch;
    uint sequence_length;
    uint channels;
} push;

vec2 weft_twiddle(uint k)
{
    return twiddles[k];
}

// Element of a channel of the group's sequence, which starts at base; 0 behind its end.
float element(uint base, uint channel, uint position)
{
    return position < push.sequence_length && channel < push.channels
               ? x[base + position * push.channels + channel]
               : 0.0;
}

vec2 point(uint base, uint channel, uint index)
{
    return vec2(element(base, channel, 2 * index), element(base, channel, 2 * index + 1));
}

void put(uint base, uint channel, uint index, vec2 point)
{
    uint at = base + 2 * index * push.channels + channel;
    if (2 * index < push.sequence_length && channel < push.channels) {
        y[at] = weft_positive_zero(weft_flush(point.x));
    }
    if (2 * index + 1 < push.sequence_length && channel < push.channels) {
        y[at + push.channels] = weft_positive_zero(weft_flush(point.y));
    }
}

// Of pair m of frequencies, row `row`: times the channel's kernel, which holds what the length and
// the sums of conjugates without their halves ask for.
void multiply(uint channel, uint row, uint m)
{
    vec4 k = kernel[min(channel, push.channels - 1) * (WEFT_FFT_LENGTH / 2) + m];
    uvec2 at = (weft_fft_pair(m) << WEFT_FFT_LOG_ROWS) + row;
    vec2 a = weft_points[at.x];
    vec2 b = weft_points[at.y];
    if (m == 0) { // frequencies 0 and length/2: all is real, w is 1 and -1
        weft_points[at.x] = vec2(k.x * a.x + k.y * a.y, k.y * a.x + k.x * a.y);
        weft_points[at.y] = vec2(k.z * b.x - k.w * b.y, k.w * b.x + k.z * b.y);
        return;
    }
    vec2 even = vec2(a.x + b.x, a.y - b.y);
    vec2 odd = vec2(a.y + b.y, b.x - a.x);
    vec2 delayed = weft_complex_multiply(odd, twiddles[weft_fft_frequency(m)]);
    vec2 e = weft_complex_multiply(k.xy, even) + weft_complex_multiply(k.zw, delayed);
    vec2 o = weft_complex_multiply(k.zw, even) + weft_complex_multiply(k.xy, odd);
    weft_points[at.x] = vec2(e.x - o.y, e.y + o.x);
    weft_points[at.y] = vec2(e.x + o.y, o.x - e.y);
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint across = (push.channels + WEFT_FFT_ROWS - 1) >> WEFT_FFT_LOG_ROWS;
    if (group >= push.batch * across) {
        return; // of a whole workgroup
    }
    uint base = group / across * push.sequence_length * push.channels;
    uint first_channel = group % across << WEFT_FFT_LOG_ROWS;
    uint quarter = WEFT_FFT_LENGTH / 4;

    // The sequence takes half of the length at most.
    for (uint i = gl_LocalInvocationID.x; i < WEFT_FFT_FOURS; i += WEFT_ITEMS_PER_GROUP) {
        weft_fft_item item = weft_fft_place(i, WEFT_FFT_FIRST_QUARTER);
        uint channel = first_channel + (i & (WEFT_FFT_ROWS - 1));
        weft_fft_butterfly(item, point(base, channel, item.exponent),
                           point(base, channel, item.exponent + quarter), vec2(0.0), vec2(0.0));
    }
    weft_fft_forward();
    for (uint i = gl_LocalInvocationID.x; i < WEFT_FFT_PAIRS; i += WEFT_ITEMS_PER_GROUP) {
        uint row = i & (WEFT_FFT_ROWS - 1);
        multiply(first_channel + row, row, i >> WEFT_FFT_LOG_ROWS);
    }
    weft_fft_inverse();
    for (uint i = gl_LocalInvocationID.x; i < WEFT_FFT_FOURS; i += WEFT_ITEMS_PER_GROUP) {
        weft_fft_item item = weft_fft_place(i, WEFT_FFT_FIRST_QUARTER);
        uint channel = first_channel + (i & (WEFT_FFT_ROWS - 1));
        weft_fft_four four = weft_fft_inverse_butterfly(item);
        put(base, channel, item.exponent, four.a);
        put(base, channel, item.exponent + quarter, four.b);
    }
}
