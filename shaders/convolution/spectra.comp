#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The second of three kernels. Rows r and 64 - r of the points hold, once transformed, the frequencies r + 64 i and their
// opposites: a workgroup transforms both, makes the real sequence's half spectrum of them, multiplies it by the kernel's, and
// goes back as far: rows become the inverse transform's columns, with their twiddle factors, in the same places.

layout(std430, binding = 0) readonly buffer Kernel { float kernel[]; }; // [4097, 2, d]
layout(std430, binding = 1) readonly buffer Twiddles { vec2 twiddles[]; };
layout(std430, binding = 2) buffer Points { float points[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint batch;
    uint channels;
} push;

#define POINTS 192 // two rows, and one on its way back
#include "radix8.glsl"

#define BACK 128

void load(uint sequence, uint row, uint base, uint y, uint channel)
{
    vec2 t[8];
    for (uint j = 0; j < 8; j++) {
        uint at = place(sequence, row * SIDE + y + 8 * j, channel);
        t[j] = vec2(points[at], points[at + push.channels]);
    }
    first_stage(t, false);
    put_first(base, y, t);
}

void transform(uint base, uint y)
{
    vec2 t[8];
    get_second(t, base, y);
    second_stage(t, y, false);
    reorder(t);
    for (uint j = 0; j < 8; j++) {
        set(base + y + 8 * j, t[j]);
    }
}

vec2 times_kernel(vec2 value, uint bin, uint channel)
{
    uint at = 2 * bin * push.channels + channel;
    return weft_complex_multiply(value, vec2(kernel[at], kernel[at + push.channels]));
}

// Frequency k below 2048, at `first`, and 4096 - k.
void multiply(uint k, uint first, uint second, uint channel)
{
    vec2 a = get(first);
    vec2 b = get(second);
    vec2 w = twiddles[k];
    vec2 sum = (a + b) * 0.5;
    vec2 rest = (a - b) * 0.5;
    vec2 turned = weft_complex_multiply(vec2(rest.x, sum.y), w);
    vec2 odd = vec2(turned.y, -turned.x);
    a = times_kernel(vec2(sum.x + odd.x, odd.y + rest.y), k, channel);
    b = times_kernel(vec2(sum.x - odd.x, odd.y - rest.y), SIDE * SIDE - k, channel);

    sum = a + b;
    rest = a - b;
    turned = weft_complex_multiply(vec2(rest.x, sum.y), vec2(w.x, -w.y));
    set(first, vec2(sum.x - turned.y, turned.x + rest.y));
    set(second, vec2(sum.x + turned.y, turned.x - rest.y));
}

// Those that are their own opposites: 0 with 4096, and 2048, which is at 32.
void multiply_single(uint channel)
{
    vec2 a = get(0);
    float first = times_kernel(vec2(a.y + a.x, 0.0), 0, channel).x;
    float last = times_kernel(vec2(-a.y + a.x, 0.0), SIDE * SIDE, channel).x;
    set(0, vec2(first + last, first - last));
    vec2 middle = get(32);
    middle = times_kernel(vec2(middle.x, -middle.y), SIDE * SIDE / 2, channel);
    set(32, vec2(middle.x * 2.0, -middle.y * 2.0));
}

void multiply_rows(uint row, uint y, uint channel)
{
    for (uint i = y; i < 32; i += 8) {
        if (row == 0 && i == 0) {
            multiply_single(channel);
        } else if (row == 0) {
            multiply(SIDE * i, i, SIDE - i, channel);
        } else if (row == 32) {
            multiply(row + SIDE * i, i, SIDE - 1 - i, channel);
        } else {
            multiply(row + SIDE * i, i, SIDE + SIDE - 1 - i, channel);
            multiply(SIDE - row + SIDE * i, SIDE + i, SIDE - 1 - i, channel);
        }
    }
}

void back_first(uint base, uint y)
{
    vec2 t[8];
    get_second(t, base, y);
    first_stage(t, true);
    put_first(BACK, y, t);
}

void back_second(uint sequence, uint column, uint y, uint channel)
{
    vec2 t[8];
    get_second(t, BACK, y);
    second_stage(t, y, true);
    reorder(t);
    for (uint j = 0; j < 8; j++) {
        uint row = y + 8 * j;
        vec2 turned = weft_complex_multiply(t[j], root(2 * row * column, true));
        uint at = place(sequence, column * SIDE + row, channel);
        points[at] = turned.x;
        points[at + push.channels] = turned.y;
    }
}

void main()
{
    const uint pairs = SIDE / 2 + 1;
    uint across = (push.channels - 1) / CHANNELS + 1;
    uint group = weft_group_index(push.groups_x);
    uint first_channel = group % across * CHANNELS;
    uint row = group / across % pairs;
    uint sequence = group / across / pairs;
    uint channel = first_channel + gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    if (sequence >= push.batch) {
        return; // of a whole workgroup
    }
    bool whole = first_channel + CHANNELS <= push.channels; // then nothing is masked
    uint rows = row == 0 || row == 32 ? 1 : 2;
    for (uint i = 0; i < rows; i++) {
        uint own = i == 0 ? row : SIDE - row;
        if (whole) {
            load(sequence, own, i * SIDE, y, channel);
        } else if (channel < push.channels) {
            load(sequence, own, i * SIDE, y, channel);
        }
    }
    barrier();
    for (uint i = 0; i < rows; i++) {
        transform(i * SIDE, y);
    }
    barrier();
    if (whole) {
        multiply_rows(row, y, channel);
    } else if (channel < push.channels) {
        multiply_rows(row, y, channel);
    }
    barrier();
    for (uint i = 0; i < rows; i++) {
        back_first(i * SIDE, y);
        barrier();
        uint own = i == 0 ? row : SIDE - row;
        if (whole) {
            back_second(sequence, own, y, channel);
        } else if (channel < push.channels) {
            back_second(sequence, own, y, channel);
        }
        barrier();
    }
}
