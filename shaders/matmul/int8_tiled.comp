#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Product of int8 by int8 through tiles in shared memory, for GPUs: a workgroup makes 64 × 64 elements, an invocation eight rows of four columns.

#include "matmul_int8.glsl"

layout(constant_id = 64) const uint FIXED_ROWS = 64; // of a workgroup, whose columns are a panel

#define ROWS  64u // FIXED_ROWS, for the sizes of arrays
#define STEPS 16u // words along k that a tile has
#define LANES 128u

layout(local_size_x = 16, local_size_y = 8) in;

shared uint a_tile[STEPS][ROWS + 1u];
shared uint b_tile[STEPS][WEFT_PANEL];

void copy_tiles(uint top, uint first)
{
    for (uint i = gl_LocalInvocationIndex; i < STEPS * ROWS; i += LANES) {
        uint word = first + i % STEPS;
        uint row = min(top + i / STEPS, push.m - 1u);
        a_tile[i % STEPS][i / STEPS] = word < push.words ? a[row * push.words + word] : 0u;
    }
    for (uint i = gl_LocalInvocationIndex; i < STEPS * WEFT_PANEL; i += LANES) {
        uint word = first + i / WEFT_PANEL;
        b_tile[i / WEFT_PANEL][i % WEFT_PANEL] =
            word < push.words ? b[weft_b_step(gl_WorkGroupID.x, word) + i % WEFT_PANEL] : 0u;
    }
}

void main()
{
    uint top = gl_WorkGroupID.y * ROWS;
    uint x = gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    ivec4 sum[8];
    for (uint i = 0; i < 8; i++) {
        sum[i] = ivec4(0);
    }
    for (uint first = 0; first < push.words; first += STEPS) {
        copy_tiles(top, first);
        barrier();
        for (uint t = 0; t < STEPS; t++) {
            uvec4 columns = uvec4(b_tile[t][x], b_tile[t][x + 16u], b_tile[t][x + 32u], b_tile[t][x + 48u]);
            for (uint i = 0; i < 8; i++) {
                uint element = a_tile[t][y + 8u * i];
                for (uint j = 0; j < 4; j++) {
                    sum[i][j] = weft_dot4(element, columns[j], sum[i][j]);
                }
            }
        }
        barrier();
    }
    for (uint i = 0; i < 8; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(top + y + 8u * i, gl_WorkGroupID.x * WEFT_PANEL + x + j * 16u, sum[i][j]);
        }
    }
}
