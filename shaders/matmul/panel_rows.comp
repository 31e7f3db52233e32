#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// As panels.comp, for few rows: a workgroup has TILE_ROWS of them.

#include "matmul_panel_rows.glsl"

void main()
{
    uint row = gl_WorkGroupID.y * TILE_ROWS;
    uint panel = weft_batch_offset(push.b_outer, push.b_inner) + gl_WorkGroupID.x * push.k;
    uint a_base = weft_batch_offset(push.a_outer, push.a_inner);
    uint rows[MOST_ROWS]; // where they begin; those past the edge are the last one again
    vec4 total[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        rows[i] = a_base + min(row + i, push.m - 1) * push.a_row;
    }
    multiply_panel(total, rows, panel);
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    uint column = gl_WorkGroupID.x * COLUMNS + gl_LocalInvocationID.x;
    for (uint i = 0; i < TILE_ROWS; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(c_base, row + i, column + j * (COLUMNS / 4), total[i][j]);
        }
    }
}
