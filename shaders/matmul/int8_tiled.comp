#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Product of int8 by int8 through tiles in shared memory, for GPUs: a workgroup makes 64 × 64 elements, an invocation eight consecutive rows of four
// consecutive columns, whose words it reads four at a time.

#include "matmul_int8.glsl"

layout(constant_id = 64) const uint FIXED_ROWS = 64; // of a workgroup, whose columns are a panel

#define ROWS  64u // FIXED_ROWS, for the sizes of arrays
#define STEPS 16u // words along k that a tile has
#define LANES 128u
#define EACH  2u // fours of a tile that an invocation loads, of a along k, of b along the columns

layout(local_size_x = 16, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer AFours { uvec4 a4[]; };
layout(std430, binding = 1) readonly buffer BFours { uvec4 b4[]; };

// The padding spreads the transposed stores of a over the banks.
shared uvec4 a_tile[STEPS][ROWS / 4u + 1u];
shared uvec4 b_tile[STEPS][WEFT_PANEL / 4u];

// Four words of a row of a, which may go beyond its end: what b has there are zeros.
uvec4 load_a(uint row, uint word)
{
    uint base = min(row, push.m - 1u) * push.words;
    if (push.words % 4u == 0u) {
        return a4[(base + min(word, push.words - 4u)) / 4u];
    }
    uvec4 found;
    for (uint j = 0; j < 4; j++) {
        found[j] = a[base + min(word + j, push.words - 1u)];
    }
    return found;
}

void copy_tiles(uint top, uint first)
{
    uint lane = gl_LocalInvocationIndex;
    uvec4 x[EACH];
    uvec4 y[EACH];
    [[unroll]] for (uint i = 0; i < EACH; i++) {
        uint at = lane + i * LANES;
        uint word = first + at / (WEFT_PANEL / 4u);
        x[i] = load_a(top + at / (STEPS / 4u), first + at % (STEPS / 4u) * 4u);
        y[i] = b4[(weft_b_step(gl_WorkGroupID.x, min(word, push.words - 1u))) / 4u + at % (WEFT_PANEL / 4u)];
        y[i] = word < push.words ? y[i] : uvec4(0u);
    }
    [[unroll]] for (uint i = 0; i < EACH; i++) {
        uint at = lane + i * LANES;
        uint row = at / (STEPS / 4u);
        [[unroll]] for (uint j = 0; j < 4; j++) {
            a_tile[at % (STEPS / 4u) * 4u + j][row / 4u][row % 4u] = x[i][j];
        }
        b_tile[at / (WEFT_PANEL / 4u)][at % (WEFT_PANEL / 4u)] = y[i];
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
        [[unroll]] for (uint t = 0; t < STEPS; t++) {
            uvec4 rows[2] = uvec4[2](a_tile[t][2u * y], a_tile[t][2u * y + 1u]);
            uvec4 columns = b_tile[t][x];
            [[unroll]] for (uint i = 0; i < 8; i++) {
                [[unroll]] for (uint j = 0; j < 4; j++) {
                    sum[i][j] = weft_dot4(rows[i / 4u][i % 4u], columns[j], sum[i][j]);
                }
            }
        }
        barrier();
    }
    for (uint i = 0; i < 8; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(top + 8u * y + i, gl_WorkGroupID.x * WEFT_PANEL + 4u * x + j, sum[i][j]);
        }
    }
}
