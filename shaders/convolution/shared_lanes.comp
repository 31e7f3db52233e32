#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// What shared.comp computes, in the same order, on processors: channels lie along the lanes, so that twiddle factors and
// places are the same for all of them.

#define WEFT_FFT_LANES

#include "shared.glsl"

// Work item i of the first stage, of channels that all exist; the sequence takes half of the length at most.
vec2 point(uint base, uint index)
{
    vec2 point = vec2(0.0);
    if (2 * index < push.sequence_length) {
        point.x = x[base + 2 * index * push.channels];
    }
    if (2 * index + 1 < push.sequence_length) {
        point.y = x[base + (2 * index + 1) * push.channels];
    }
    return point;
}

void put(uint base, uint index, vec2 point)
{
    if (2 * index < push.sequence_length) {
        y[base + 2 * index * push.channels] = weft_positive_zero(weft_flush(point.x));
    }
    if (2 * index + 1 < push.sequence_length) {
        y[base + (2 * index + 1) * push.channels] = weft_positive_zero(weft_flush(point.y));
    }
}

void load(uint base, uint i)
{
    weft_fft_item item = weft_fft_place(i, WEFT_FFT_FIRST_QUARTER);
    weft_fft_butterfly(item, point(base, item.exponent),
                       point(base, item.exponent + WEFT_FFT_LENGTH / 4), vec2(0.0), vec2(0.0));
}

void store(uint base, uint i)
{
    weft_fft_item item = weft_fft_place(i, WEFT_FFT_FIRST_QUARTER);
    weft_fft_four four = weft_fft_inverse_butterfly(item);
    put(base, item.exponent, four.a);
    put(base, item.exponent + WEFT_FFT_LENGTH / 4, four.b);
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint across = (push.channels + WEFT_FFT_ROWS - 1) >> WEFT_FFT_LOG_ROWS;
    if (group >= push.batch * across) {
        return; // of a whole workgroup
    }
    uint row = gl_LocalInvocationID.x & (WEFT_FFT_ROWS - 1);
    uint first_channel = group % across << WEFT_FFT_LOG_ROWS;
    uint channel = first_channel + row;
    uint base = group / across * push.sequence_length * push.channels + channel;
    bool whole = first_channel + WEFT_FFT_ROWS <= push.channels; // then nothing is masked

    [[dont_unroll]] for (uint i = gl_LocalInvocationID.x; WEFT_FFT_BELOW(i, WEFT_FFT_FOURS); i += WEFT_ITEMS_PER_GROUP) {
        if (whole) {
            load(base, i);
        } else {
            load(min(channel, push.channels - 1) - channel + base, i);
        }
    }
    weft_fft_forward();
    [[dont_unroll]] for (uint i = gl_LocalInvocationID.x; WEFT_FFT_BELOW(i, WEFT_FFT_PAIRS); i += WEFT_ITEMS_PER_GROUP) {
        multiply(channel, row, i >> WEFT_FFT_LOG_ROWS);
    }
    weft_fft_inverse();
    [[dont_unroll]] for (uint i = gl_LocalInvocationID.x; WEFT_FFT_BELOW(i, WEFT_FFT_FOURS); i += WEFT_ITEMS_PER_GROUP) {
        if (whole) {
            store(base, i);
        } else if (channel < push.channels) {
            store(base, i);
        }
    }
}
