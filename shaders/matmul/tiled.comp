#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// Matrix product through tiles in shared memory: for GPUs. A workgroup of 128 makes TILE_ROWS×TILE_COLUMNS elements from
// tiles of TILE_DEPTH along k (8.5 KiB of shared memory as they are); an invocation makes ROWS consecutive rows of FOURS
// times 4 columns, 64 apart.
//
// What an invocation loads of a tile it loads at once and without a question, so that one wait is for all of it. Rows and
// columns outside the matrices are the last ones again, and what they give is not stored. Only the last tile asks where
// k ends, and has zeros behind: their product is a zero, which changes no sum, as a sum that began as +0 is never -0.

#include "matmul.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 64;    // a multiple of 32
layout(constant_id = 17) const uint TILE_COLUMNS = 64; // a multiple of 64
layout(constant_id = 18) const uint TILE_DEPTH = 16;   // a multiple of 4 that divides WEFT_CHUNK; with each of the others it
                                                       // makes a multiple of 512, four for each invocation

const uint ROWS = TILE_ROWS / 8;
const uint FOURS = TILE_COLUMNS / 64;
const uint INVOCATIONS = 128;

// What an invocation loads of a tile, in fours: of a along k, of b along the columns.
const uint FOURS_OF_A = TILE_ROWS * TILE_DEPTH / 4 / INVOCATIONS;
const uint FOURS_OF_B = TILE_DEPTH * TILE_COLUMNS / 4 / INVOCATIONS;

// From one of them to the next: rows of a, steps of k in b.
const uint STEP_OF_A = INVOCATIONS * 4 / TILE_DEPTH;
const uint STEP_OF_B = INVOCATIONS * 4 / TILE_COLUMNS;

layout(local_size_x = 16, local_size_y = 8) in;

shared vec4 tile_a[TILE_DEPTH][TILE_ROWS / 4 + 1]; // the padding spreads the transposed stores over the banks
shared vec4 tile_b[TILE_DEPTH][TILE_COLUMNS / 4];

// The first of what an invocation loads: where it lies in a tile, and in memory for k = 0.
uint row_of_a, part_of_a, row_of_b, part_of_b;
uint at_a[FOURS_OF_A];
uvec4 at_b;

void find_places()
{
    uint lane = gl_LocalInvocationIndex;
    row_of_a = lane / (TILE_DEPTH / 4);
    part_of_a = lane % (TILE_DEPTH / 4);
    row_of_b = lane / (TILE_COLUMNS / 4);
    part_of_b = lane % (TILE_COLUMNS / 4);
    uint base = weft_batch_offset(push.a_outer, push.a_inner) + 4 * part_of_a * push.a_column;
    for (uint i = 0; i < FOURS_OF_A; i++) {
        uint row = gl_WorkGroupID.y * TILE_ROWS + row_of_a + i * STEP_OF_A;
        at_a[i] = base + min(row, push.m - 1) * push.a_row;
    }
    uint column = gl_WorkGroupID.x * TILE_COLUMNS + 4 * part_of_b;
    uvec4 columns = min(uvec4(column, column + 1, column + 2, column + 3), uvec4(push.n - 1));
    if (VECTOR_B != 0) {
        columns.x = min(column, push.n - 4);
    }
    at_b = weft_batch_offset(push.b_outer, push.b_inner) + row_of_b * push.b_row + columns * push.b_column;
}

vec4 load_a(uint at)
{
    if (VECTOR_A != 0) {
        return weft_a_four(at);
    }
    return vec4(weft_a(at), weft_a(at + push.a_column), weft_a(at + 2 * push.a_column),
                weft_a(at + 3 * push.a_column));
}

vec4 load_b(uvec4 at)
{
    if (VECTOR_B != 0) {
        return weft_b_four(at.x);
    }
    return vec4(weft_b(at.x), weft_b(at.y), weft_b(at.z), weft_b(at.w));
}

// Of the last tile: zeros from push.k on.
vec4 load_end_of_a(uint at, uint k)
{
    vec4 x = vec4(0.0);
    if (VECTOR_A != 0) {
        if (k < push.k) {
            x = weft_a_four(at);
        }
        return x;
    }
    for (uint j = 0; j < 4; j++) {
        if (k + j < push.k) {
            x[j] = weft_a(at + j * push.a_column);
        }
    }
    return x;
}

void load_tiles(uint k)
{
    vec4 a_fours[FOURS_OF_A];
    vec4 b_fours[FOURS_OF_B];
    uint a_step = k * push.a_column;
    uint b_step = k * push.b_row;
    if (k + TILE_DEPTH <= push.k) {
        [[unroll]] for (uint i = 0; i < FOURS_OF_A; i++) {
            a_fours[i] = load_a(at_a[i] + a_step);
        }
        [[unroll]] for (uint i = 0; i < FOURS_OF_B; i++) {
            b_fours[i] = load_b(at_b + (b_step + i * STEP_OF_B * push.b_row));
        }
    } else {
        for (uint i = 0; i < FOURS_OF_A; i++) {
            a_fours[i] = load_end_of_a(at_a[i] + a_step, k + 4 * part_of_a);
        }
        for (uint i = 0; i < FOURS_OF_B; i++) {
            b_fours[i] = vec4(0.0);
            if (k + row_of_b + i * STEP_OF_B < push.k) {
                b_fours[i] = load_b(at_b + (b_step + i * STEP_OF_B * push.b_row));
            }
        }
    }
    [[unroll]] for (uint i = 0; i < FOURS_OF_A; i++) {
        uint row = row_of_a + i * STEP_OF_A;
        [[unroll]] for (uint j = 0; j < 4; j++) {
            tile_a[4 * part_of_a + j][row / 4][row % 4] = a_fours[i][j];
        }
    }
    [[unroll]] for (uint i = 0; i < FOURS_OF_B; i++) {
        tile_b[row_of_b + i * STEP_OF_B][part_of_b] = b_fours[i];
    }
}

void main()
{
    vec4 total[ROWS * FOURS];
    vec4 sum[ROWS * FOURS];
    for (uint i = 0; i < ROWS * FOURS; i++) {
        total[i] = vec4(0.0);
        sum[i] = vec4(0.0);
    }
    find_places();
    for (uint k = 0; k < push.k; k += TILE_DEPTH) {
        load_tiles(k);
        barrier();
        [[unroll]] for (uint t = 0; t < TILE_DEPTH; t++) {
            vec4 x[ROWS / 4];
            [[unroll]] for (uint i = 0; i < ROWS / 4; i++) {
                x[i] = tile_a[t][gl_LocalInvocationID.y * (ROWS / 4) + i];
            }
            [[unroll]] for (uint f = 0; f < FOURS; f++) {
                vec4 y = tile_b[t][gl_LocalInvocationID.x + 16 * f];
                [[unroll]] for (uint i = 0; i < ROWS; i++) {
                    sum[ROWS * f + i] = weft_multiply_add(x[i / 4][i % 4], y, sum[ROWS * f + i]);
                }
            }
        }
        if ((k + TILE_DEPTH) % WEFT_CHUNK == 0 || k + TILE_DEPTH >= push.k) {
            for (uint i = 0; i < ROWS * FOURS; i++) {
                total[i] = total[i] + sum[i];
                sum[i] = vec4(0.0);
            }
        }
        barrier();
    }
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    for (uint i = 0; i < ROWS; i++) {
        for (uint f = 0; f < FOURS; f++) {
            weft_store_four(c_base, gl_WorkGroupID.y * TILE_ROWS + gl_LocalInvocationID.y * ROWS + i,
                            gl_WorkGroupID.x * TILE_COLUMNS + (gl_LocalInvocationID.x + 16 * f) * 4,
                            total[ROWS * f + i]);
        }
    }
}
