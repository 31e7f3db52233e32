#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The columns 0 … d/2 of two rows' spectra from z, the one of the pair (pair.comp): (z[k] + conj z[d - k]) / 2 and
// (z[k] - conj z[d - k]) / 2i, by the operations of VkFFT's kernels. Behind them come zeros.

#include "index.glsl"

#define LANES 16
#define CHUNK 64 // columns of a workgroup

layout(local_size_x = LANES) in;

layout(constant_id = 0) const uint WIDTH = 16; // pairs side by side
layout(constant_id = 1) const uint ALONE = 0; // not 0: rows instead, whose spectra are z

layout(std430, binding = 0) readonly buffer Points { vec2 points[]; };      // [blocks, d, WIDTH]
layout(std430, binding = 1) writeonly buffer Spectrum { vec2 spectrum[]; }; // [B, n, padded_columns]

layout(push_constant) uniform Push
{
    uint groups_x;
    uint pairs; // of all sequences
    uint sequence_length;
    uint columns;
    uint padded_columns;
} push;

vec2 first_of(vec2 z, vec2 mirrored)
{
    if (ALONE != 0) {
        return z;
    }
    return vec2(z.x + mirrored.x, z.y - mirrored.y) * 0.5;
}

vec2 second_of(vec2 z, vec2 mirrored)
{
    return vec2(z.y + mirrored.y, mirrored.x - z.x) * 0.5;
}

void put(uint at, bool has_second, vec2 z, vec2 mirrored)
{
    spectrum[at] = first_of(z, mirrored);
    if (has_second) {
        spectrum[at + push.padded_columns] = second_of(z, mirrored);
    }
}

void put_zeros(uint at, bool has_second)
{
    spectrum[at] = vec2(0.0);
    if (has_second) {
        spectrum[at + push.padded_columns] = vec2(0.0);
    }
}

void main()
{
    uint chunks = push.padded_columns / CHUNK + 1; // of columns from 1 on: column 0 is alone
    uint group = weft_group_index(push.groups_x);
    uint block = group / chunks;
    uint begin = 1 + group % chunks * CHUNK;
    uint half_columns = push.columns / 2 + 1;
    uint end = min(begin + CHUNK, half_columns);
    uint whole = begin < end ? begin + (end - begin) / LANES * LANES : begin;
    uint rows = ALONE != 0 ? 1 : 2;
    uint each = (push.sequence_length + rows - 1) / rows;
    for (uint p = 0; p < WIDTH; p++) {
        uint pair = block * WIDTH + p;
        if (pair >= push.pairs) {
            return;
        }
        uint row = rows * (pair % each);
        bool has_second = ALONE == 0 && row + 1 < push.sequence_length;
        uint to = (pair / each * push.sequence_length + row) * push.padded_columns;
        uint from = block * push.columns * WIDTH + p;
        if (begin == 1 && gl_LocalInvocationIndex == 0) {
            put(to, has_second, points[from], points[from]);
        }
        for (uint k = begin; k < whole; k += LANES) {
            uint column = k + gl_LocalInvocationIndex;
            put(to + column, has_second, points[from + column * WIDTH],
                points[from + (push.columns - column) * WIDTH]);
        }
        for (uint k = whole; k < min(begin + CHUNK, push.padded_columns); k += LANES) {
            uint column = k + gl_LocalInvocationIndex;
            if (column < half_columns) {
                put(to + column, has_second, points[from + column * WIDTH],
                    points[from + (push.columns - column) * WIDTH]);
            } else if (column < push.padded_columns) {
                put_zeros(to + column, has_second);
            }
        }
    }
}
