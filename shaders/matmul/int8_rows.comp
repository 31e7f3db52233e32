#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// As int8_panels.comp, for few rows, of which a workgroup makes TILE_ROWS: b is read from memory once, and not copied. Here a's bytes are the
// unsigned ones, 128 more than they are: what is too much is known of each column.

#define WEFT_A_BIAS 128

#include "matmul_int8.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 1; // 1 to MOST_ROWS

#define MOST_ROWS 4

layout(local_size_x = 16) in;

#define ROW(i)                                                        \
    if (i < TILE_ROWS) {                                              \
        uint word = weft_bias4(a[rows[i] + t]);                       \
        for (uint j = 0; j < 4; j++) {                                \
            sum[i][j] = weft_dot4_mixed(columns[j], word, sum[i][j]); \
        }                                                             \
    }

void main()
{
    uint row = gl_WorkGroupID.y * TILE_ROWS;
    uint x = gl_LocalInvocationID.x;
    uint rows[MOST_ROWS]; // where they begin; those past the edge are the last one again
    ivec4 sum[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        rows[i] = min(row + i, push.m - 1u) * push.words;
        sum[i] = ivec4(0);
    }
    uint step_of_b = weft_b_step(gl_WorkGroupID.x, 0u) + x;
    for (uint t = 0; t < push.words; t++) {
        uint at = step_of_b + t * WEFT_PANEL;
        uvec4 columns = uvec4(b[at], b[at + 16u], b[at + 32u], b[at + 48u]);
        ROW(0)
        ROW(1)
        ROW(2)
        ROW(3)
    }
    for (uint i = 0; i < TILE_ROWS; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(row + i, gl_WorkGroupID.x * WEFT_PANEL + x + j * 16u, sum[i][j]);
        }
    }
}
