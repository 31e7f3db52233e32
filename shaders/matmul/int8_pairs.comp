#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Product of int8 by int8 for processors that have no instruction for sums of products of bytes, but one of pairs of 16 bits (int8_panels.comp is
// for those that have). Columns lie along the lanes, and an invocation makes TILE_ROWS rows of four columns, a quarter of the panel apart. A
// workgroup widens a chunk of both factors to 16 bits in shared memory, once for all of its rows and columns: as unsigned bytes, 128 more than they
// are, which takes fewer operations than signed ones. What is too much is known of each row and of each column.

#define WEFT_A_BIAS 128

#include "matmul_int8.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 2; // of an invocation: 1 to MOST_ROWS

#define MOST_ROWS 2
#define CHUNK     32u // words along k
#define GROUPS    16  // rows of invocations

layout(local_size_x = 16, local_size_y = GROUPS) in;

// Of each word its even bytes, and its odd ones. A step of b has one place more than that, so that its places are constants beside that of the
// first for a compiler, which a power of two would have it work out bit by bit.
shared uint a_tile[GROUPS][MOST_ROWS][2][CHUNK];
shared uint b_tile[CHUNK][2 * 4 + 1][16];

// Columns and halves are named, not counted: their places then differ by constants.
#define COPY(j)                                  \
    {                                            \
        uint word = weft_bias4(b[at + j * 16u]); \
        b_tile[t][j][x] = weft_even4(word);      \
        b_tile[t][4 + j][x] = weft_odd4(word);   \
    }

// Copies the chunk that begins at `first` of b: each row of invocations some of its steps.
void copy_b(uint first, uint depth)
{
    uint x = gl_LocalInvocationID.x;
    for (uint t = gl_LocalInvocationID.y; t < depth; t += gl_WorkGroupSize.y) {
        uint at = first + t * WEFT_PANEL + x;
        COPY(0)
        COPY(1)
        COPY(2)
        COPY(3)
    }
}

// The same of a, of the rows of the invocations that copy them, which begin at `rows`.
void copy_a(uint rows[MOST_ROWS], uint begin, uint depth)
{
    for (uint i = 0; i < TILE_ROWS; i++) {
        for (uint part = 0; part < CHUNK; part += gl_WorkGroupSize.x) {
            uint t = part + gl_LocalInvocationID.x;
            if (t < depth) {
                uint word = weft_bias4(a[rows[i] + begin + t]);
                a_tile[gl_LocalInvocationID.y][i][0][t] = weft_even4(word);
                a_tile[gl_LocalInvocationID.y][i][1][t] = weft_odd4(word);
            }
        }
    }
}

#define ROW(i, odd)                                             \
    if (i < TILE_ROWS) {                                        \
        uint pair = a_tile[y][i][odd][t];                       \
        for (uint j = 0; j < 4; j++) {                          \
            sum[i][j] = weft_dot2(pair, columns[j], sum[i][j]); \
        }                                                       \
    }

// The even bytes of a step, or the odd ones.
#define HALF(odd)                                                                                          \
    {                                                                                                      \
        uvec4 columns = uvec4(b_tile[t][4 * odd][x], b_tile[t][4 * odd + 1][x], b_tile[t][4 * odd + 2][x], \
                              b_tile[t][4 * odd + 3][x]);                                                  \
        ROW(0, odd)                                                                                        \
        ROW(1, odd)                                                                                        \
    }

void add_chunk(inout ivec4 sum[MOST_ROWS], uint depth)
{
    uint x = gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    for (uint t = 0; t < depth; t++) {
        HALF(0)
        HALF(1)
    }
}

void main()
{
    uint row = (gl_WorkGroupID.x * gl_WorkGroupSize.y + gl_LocalInvocationID.y) * TILE_ROWS;
    uint rows[MOST_ROWS]; // where they begin; those past the edge are the last one again
    ivec4 sum[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        uint clamped = min(row + i, push.m - 1u);
        rows[i] = clamped * push.words;
        // Less 128 for each byte of b, times a's, which are 128 more than a_sum says.
        sum[i] = ivec4(-128 * (weft_a_sum(clamped) + 128 * int(4u * push.words)));
    }
    for (uint begin = 0; begin < push.words; begin += CHUNK) {
        uint depth = min(CHUNK, push.words - begin);
        copy_a(rows, begin, depth);
        copy_b(weft_b_step(gl_WorkGroupID.y, begin), depth);
        barrier();
        add_chunk(sum, depth);
        barrier();
    }
    for (uint i = 0; i < TILE_ROWS; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(row + i, gl_WorkGroupID.y * WEFT_PANEL + gl_LocalInvocationID.x + j * 16u, sum[i][j]);
        }
    }
}
