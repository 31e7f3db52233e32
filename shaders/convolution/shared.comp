#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Circular convolution of sequences [B, n, d] with a kernel per channel, whole in one workgroup:
// zeros behind the n elements, transform, product, inverse. A channel's even elements are the real
// parts and its odd ones the imaginary parts of one complex sequence of half the length, so that
// channels have nothing of each other. With the transforms E and O of even and odd elements, e and
// o those of the kernel, and w the delay by one step,
//     E' = e E + w o O,   O' = o E + e O.
//
// Forms: a workgroup that every device has; and so many invocations that each has one work item of a stage at most. Stages
// then are no loops, what they differ in is known when this is compiled, and in the same shared memory more subgroups hide each
// other's waits.
// form shared
// form shared_wide WEFT_FFT_INVOCATIONS=512

#include "shared.glsl"

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

void load_item(uint i, uint base, uint first_channel)
{
    uint quarter = WEFT_FFT_LENGTH / 4;
    weft_fft_item item = weft_fft_place(i, WEFT_FFT_FIRST_QUARTER);
    uint channel = first_channel + (i & (WEFT_FFT_ROWS - 1));
    weft_fft_butterfly(item, point(base, channel, item.exponent),
                       point(base, channel, item.exponent + quarter), vec2(0.0), vec2(0.0));
}

void multiply_item(uint i, uint first_channel)
{
    uint row = i & (WEFT_FFT_ROWS - 1);
    multiply(first_channel + row, row, i >> WEFT_FFT_LOG_ROWS);
}

void store_item(uint i, uint base, uint first_channel)
{
    weft_fft_item item = weft_fft_place(i, WEFT_FFT_FIRST_QUARTER);
    uint channel = first_channel + (i & (WEFT_FFT_ROWS - 1));
    weft_fft_four four = weft_fft_inverse_butterfly(item);
    put(base, channel, item.exponent, four.a);
    put(base, channel, item.exponent + WEFT_FFT_LENGTH / 4, four.b);
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

    // The sequence takes half of the length at most.
    WEFT_FFT_EACH(WEFT_FFT_FOURS, load_item(i, base, first_channel))
    weft_fft_forward();
    WEFT_FFT_EACH(WEFT_FFT_PAIRS, multiply_item(i, first_channel))
    weft_fft_inverse();
    WEFT_FFT_EACH(WEFT_FFT_FOURS, store_item(i, base, first_channel))
}
