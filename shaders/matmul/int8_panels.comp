#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Product of int8 by int8 for processors: columns lie along the lanes, and a word of a is the same for all of them. An invocation makes
// TILE_ROWS rows of four columns, a quarter of the panel apart. All rows of a workgroup take a chunk of b before any takes the next, from a copy
// in shared memory, which stays in the nearest cache. The copy's bytes are unsigned, 128 more than b's, for VNNI: what is too much, 128 times the
// sum of a row's bytes, is known of each row.

#include "matmul_int8.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 2; // of an invocation: 1 to MOST_ROWS

#define MOST_ROWS 6
#define CHUNK     64u // words along k

layout(local_size_x = 16, local_size_y = 16) in;

shared uint tile[CHUNK][4][16];

// Copies the chunk that begins at `first` of b: each row of invocations some of its steps.
void copy_chunk(uint first, uint depth)
{
    uint x = gl_LocalInvocationID.x;
    for (uint t = gl_LocalInvocationID.y; t < depth; t += gl_WorkGroupSize.y) {
        for (uint j = 0; j < 4; j++) {
            tile[t][j][x] = weft_bias4(b[first + t * WEFT_PANEL + j * 16u + x]);
        }
    }
}

// Buffers have less than 2^32 bytes, so that a whole chunk of a that begins at this word or before does not wrap around: see panels.comp.
const uint LAST_CHUNK = 0x40000000u - CHUNK;

#define ROW(i)                                                       \
    if (i < TILE_ROWS) {                                             \
        uint word = a[at[i] + t];                                    \
        for (uint j = 0; j < 4; j++) {                               \
            sum[i][j] = weft_dot4_mixed(word, columns[j], sum[i][j]); \
        }                                                            \
    }

// Adds the products of a chunk, whose first word in a row is `begin`.
void add_chunk(inout ivec4 sum[MOST_ROWS], uint rows[MOST_ROWS], uint begin, uint depth)
{
    uint x = gl_LocalInvocationID.x;
    uint at[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        at[i] = min(rows[i] + begin, LAST_CHUNK);
    }
    for (uint t = 0; t < depth; t++) {
        uvec4 columns = uvec4(tile[t][0][x], tile[t][1][x], tile[t][2][x], tile[t][3][x]);
        ROW(0)
        ROW(1)
        ROW(2)
        ROW(3)
        ROW(4)
        ROW(5)
    }
}

void main()
{
    uint row = (gl_WorkGroupID.y * gl_WorkGroupSize.y + gl_LocalInvocationID.y) * TILE_ROWS;
    uint x = gl_LocalInvocationID.x;
    uint rows[MOST_ROWS]; // where they begin; those past the edge are the last one again
    ivec4 sum[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        uint clamped = min(row + i, push.m - 1u);
        rows[i] = clamped * push.words;
        sum[i] = ivec4(-128 * weft_a_sum(clamped));
    }
    for (uint begin = 0; begin < push.words; begin += CHUNK) {
        uint depth = min(CHUNK, push.words - begin);
        copy_chunk(weft_b_step(gl_WorkGroupID.x, begin), depth);
        barrier();
        if (row < push.m) {
            add_chunk(sum, rows, begin, depth);
        }
        barrier();
    }
    for (uint i = 0; i < TILE_ROWS; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(row + i, gl_WorkGroupID.x * WEFT_PANEL + x + j * 16u, sum[i][j]);
        }
    }
}
