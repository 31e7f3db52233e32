#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The last of three kernels: a workgroup transforms what spectra.comp left of a row of the inverse transform, and stores those
// of its elements that are among the first n. Zeros become +0, as in crop.comp.

#include "math.glsl"
#include "positive_zero.glsl"

layout(std430, binding = 0) readonly buffer Points { float points[]; };
layout(std430, binding = 1) readonly buffer Twiddles { vec2 twiddles[]; };
layout(std430, binding = 2) writeonly buffer Y { float result[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint batch;
    uint sequence_length;
    uint channels;
} push;

#define POINTS 64
#include "radix8.glsl"

void load(uint sequence, uint row, uint y, uint channel)
{
    vec2 t[8];
    for (uint j = 0; j < 8; j++) {
        uint at = place(sequence, (y + 8 * j) * SIDE + row, channel);
        t[j] = vec2(points[at], points[at + push.channels]);
    }
    first_stage(t, true);
    put_first(0, y, t);
}

void put(uint start, uint position, float value)
{
    if (position < push.sequence_length) {
        result[start + position * push.channels] = weft_positive_zero(weft_flush(value));
    }
}

void store(uint start, uint row, uint y)
{
    vec2 t[8];
    get_second(t, 0, y);
    second_stage(t, y, true);
    reorder(t);
    for (uint j = 0; j < 8; j++) {
        uint point = row + SIDE * (y + 8 * j);
        put(start, 2 * point, t[j].x);
        put(start, 2 * point + 1, t[j].y);
    }
}

void main()
{
    uint across = (push.channels - 1) / CHANNELS + 1;
    uint group = weft_group_index(push.groups_x);
    uint first_channel = group % across * CHANNELS;
    uint row = group / across % SIDE;
    uint sequence = group / across / SIDE;
    uint channel = first_channel + gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    if (sequence >= push.batch) {
        return; // of a whole workgroup
    }
    bool whole = first_channel + CHANNELS <= push.channels; // then nothing is masked
    if (whole) {
        load(sequence, row, y, channel);
    } else if (channel < push.channels) {
        load(sequence, row, y, channel);
    }
    barrier();
    uint start = sequence * push.sequence_length * push.channels + channel;
    if (whole) {
        store(start, row, y);
    } else if (channel < push.channels) {
        store(start, row, y);
    }
}
