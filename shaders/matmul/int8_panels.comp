#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Product of int8 by int8 straight from memory, for processors: columns lie along the lanes, and a word of a is the same for all of them. An
// invocation makes TILE_ROWS rows of four columns, a quarter of the panel apart.

#include "matmul_int8.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 2; // of an invocation: 1 to MOST_ROWS

#define MOST_ROWS 6

layout(local_size_x = 16, local_size_y = 8) in;

#define ROW(i)                                              \
    if (i < TILE_ROWS) {                                    \
        uint element = a[rows[i] + word];                   \
        for (uint j = 0; j < 4; j++) {                      \
            sum[i][j] = weft_dot4(element, columns[j], sum[i][j]); \
        }                                                   \
    }

void main()
{
    uint row = (gl_WorkGroupID.y * gl_WorkGroupSize.y + gl_LocalInvocationID.y) * TILE_ROWS;
    uint x = gl_LocalInvocationID.x;
    if (row >= push.m) {
        return;
    }
    uint rows[MOST_ROWS]; // where they begin; those past the edge are the last one again
    ivec4 sum[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        rows[i] = min(row + i, push.m - 1u) * push.words;
        sum[i] = ivec4(0);
    }
    uint step = weft_b_step(gl_WorkGroupID.x, 0u) + x;
    for (uint word = 0; word < push.words; word++) {
        uvec4 columns = uvec4(b[step], b[step + 16u], b[step + 32u], b[step + 48u]);
        ROW(0)
        ROW(1)
        ROW(2)
        ROW(3)
        ROW(4)
        ROW(5)
        step += WEFT_PANEL;
    }
    for (uint i = 0; i < TILE_ROWS; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(row + i, gl_WorkGroupID.x * WEFT_PANEL + x + j * 16u, sum[i][j]);
        }
    }
}
