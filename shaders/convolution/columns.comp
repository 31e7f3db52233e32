#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The first of three kernels: sequences [B, n, d], n up to 8192 and zeros behind it, as 64 x 64 complex points, of which a
// workgroup transforms a column and multiplies it by its twiddle factors.

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Twiddles { vec2 twiddles[]; };
layout(std430, binding = 2) writeonly buffer Points { float points[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint batch;
    uint sequence_length;
    uint channels;
} push;

#define POINTS 64
#include "radix8.glsl"

float element(uint start, uint position)
{
    float value = 0.0;
    if (position < push.sequence_length) {
        value = x[start + position * push.channels];
    }
    return value;
}

void load(uint start, uint column, uint y)
{
    vec2 t[8];
    for (uint j = 0; j < 8; j++) {
        uint point = column + SIDE * (y + 8 * j);
        t[j] = vec2(element(start, 2 * point), element(start, 2 * point + 1));
    }
    first_stage(t, false);
    put_first(0, y, t);
}

void store(uint sequence, uint column, uint y, uint channel)
{
    vec2 t[8];
    get_second(t, 0, y);
    second_stage(t, y, false);
    reorder(t);
    for (uint j = 0; j < 8; j++) {
        uint row = y + 8 * j;
        vec2 turned = weft_complex_multiply(t[j], root(2 * row * column, false));
        uint at = place(sequence, row * SIDE + column, channel);
        points[at] = turned.x;
        points[at + push.channels] = turned.y;
    }
}

void main()
{
    uint across = (push.channels - 1) / CHANNELS + 1;
    uint group = weft_group_index(push.groups_x);
    uint first_channel = group % across * CHANNELS;
    uint column = group / across % SIDE;
    uint sequence = group / across / SIDE;
    uint channel = first_channel + gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    if (sequence >= push.batch) {
        return; // of a whole workgroup
    }
    bool whole = first_channel + CHANNELS <= push.channels; // then nothing is masked
    uint start = sequence * push.sequence_length * push.channels + channel;
    if (whole) {
        load(start, column, y);
    } else if (channel < push.channels) {
        load(start, column, y);
    }
    barrier();
    if (whole) {
        store(sequence, column, y, channel);
    } else if (channel < push.channels) {
        store(sequence, column, y, channel);
    }
}
