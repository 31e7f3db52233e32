#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Pairs of real rows as complex ones with the pairs innermost: the real parts are one row, the imaginary parts the next of the
// sequence; the last row of an odd number goes with itself, as in VkFFT's kernels. Or each row alone, with imaginary parts of 0.

#include "index.glsl"

#define LANES 16
#define CHUNK 64 // columns of a workgroup

layout(local_size_x = LANES) in;

layout(constant_id = 0) const uint WIDTH = 16; // pairs side by side
layout(constant_id = 1) const uint ALONE = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };             // [B, n, d]
layout(std430, binding = 1) writeonly buffer Points { vec2 points[]; }; // [blocks, d, WIDTH]

layout(push_constant) uniform Push
{
    uint groups_x;
    uint blocks;
    uint pairs; // of all sequences: what is behind them in the last block repeats the last one
    uint sequence_length;
    uint columns;
} push;

// Rows of a pair begin at element `first` and at `second`.
void place(out uint first, out uint second, uint pair)
{
    if (ALONE != 0) {
        first = pair * push.columns;
        second = first;
        return;
    }
    uint each = (push.sequence_length + 1) / 2;
    uint row = 2 * (pair % each);
    first = (pair / each * push.sequence_length + row) * push.columns;
    second = row + 1 < push.sequence_length ? first + push.columns : first;
}

vec2 both(uint first, uint second, uint column)
{
    return vec2(x[first + column], ALONE != 0 ? 0.0 : x[second + column]);
}

void main()
{
    uint chunks = (push.columns - 1) / CHUNK + 1;
    uint group = weft_group_index(push.groups_x);
    uint block = group / chunks;
    uint begin = group % chunks * CHUNK;
    if (block >= push.blocks) {
        return; // of a whole workgroup
    }
    uint end = min(begin + CHUNK, push.columns);
    uint whole = begin + (end - begin) / LANES * LANES;
    for (uint p = 0; p < WIDTH; p++) {
        uint first;
        uint second;
        place(first, second, min(block * WIDTH + p, push.pairs - 1));
        for (uint c = begin; c < whole; c += LANES) {
            uint column = c + gl_LocalInvocationIndex;
            points[(block * push.columns + column) * WIDTH + p] = both(first, second, column);
        }
        if (gl_LocalInvocationIndex < end - whole) {
            uint column = whole + gl_LocalInvocationIndex;
            points[(block * push.columns + column) * WIDTH + p] = both(first, second, column);
        }
    }
}
