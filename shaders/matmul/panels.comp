#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Matrix product for processors, of a constant b in panels (weft_lower_panel_weight): 64 columns side by side, one step of
// k behind the other. Columns lie along the lanes: a register has a part of a row of b, and an element of a is the same for
// all lanes. An invocation makes TILE_ROWS rows of four columns. All rows of a workgroup take a chunk of k before any takes
// the next: the panel's part stays in the nearest cache. That of 16-bit elements or bytes is widened into shared memory first.

#include "matmul_panels.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 2;      // of an invocation: 1 to MOST_ROWS
layout(constant_id = 64) const uint FIXED_COLUMNS = 64; // of a workgroup: COLUMNS

#define MOST_ROWS 6

layout(local_size_x = COLUMNS / 4, local_size_y = 16) in;

shared float tile[HALF_B != 0 ? WEFT_CHUNK : 1][4][COLUMNS / 4];

// Copies an invocation's columns of one step of b to step t of the tile.
void copy_step(weft_block_run_of run, uint t, uint step)
{
    uint x = gl_LocalInvocationID.x;
    vec4 columns = weft_panel_columns(run, step, x);
    for (uint j = 0; j < 4; j++) {
        tile[t][j][x] = columns[j];
    }
}

// Copies the chunk that begins with step `first` of b: each row of invocations some of its steps, all of one run.
void copy_chunk(uint first, uint depth)
{
    const uint STEPS = WEFT_CHUNK / gl_WorkGroupSize.y;
    uint begin = gl_LocalInvocationID.y * STEPS;
    if (begin >= depth) {
        return;
    }
    weft_block_run_of run = weft_begin_run(first + begin, gl_LocalInvocationID.x);
    for (uint i = 0; i < STEPS; i++) {
        uint t = begin + i;
        if (t < depth) {
            copy_step(run, t, first + t);
        }
    }
}

#define ROW(i, element)                                       \
    if (i < TILE_ROWS) {                                      \
        sum[i] = weft_multiply_add(element, columns, sum[i]); \
    }

// Those of step t of the chunk that begins with step `first` of b.
vec4 columns_of(uint first, uint t)
{
    uint x = gl_LocalInvocationID.x;
    if (HALF_B == 0) {
        return weft_panel_columns(weft_block_run_of(vec4(0.0), vec4(0.0)), first + t, x);
    }
    return vec4(tile[t][0][x], tile[t][1][x], tile[t][2][x], tile[t][3][x]);
}

// Adds the sums of a chunk, whose first step of k is `begin` and of b is `first`, to the totals.
void add_chunk(inout vec4 total[MOST_ROWS], uint rows[MOST_ROWS], uint first, uint begin)
{
    uint depth = min(WEFT_CHUNK, push.k - begin);
    uint k = begin * push.a_column;
    vec4 sum[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        sum[i] = vec4(0.0);
    }
    if (has_plain_rows(rows[TILE_ROWS - 1] + k)) {
        uint at[MOST_ROWS];
        for (uint i = 0; i < MOST_ROWS; i++) {
            at[i] = min(rows[i] + k, LAST_CHUNK);
        }
        for (uint t = 0; t < depth; t++) {
            vec4 columns = columns_of(first, t);
            ROW(0, a[at[0] + t])
            ROW(1, a[at[1] + t])
            ROW(2, a[at[2] + t])
            ROW(3, a[at[3] + t])
            ROW(4, a[at[4] + t])
            ROW(5, a[at[5] + t])
        }
    } else {
        for (uint t = 0; t < depth; t++) {
            vec4 columns = columns_of(first, t);
            ROW(0, weft_a(rows[0] + k))
            ROW(1, weft_a(rows[1] + k))
            ROW(2, weft_a(rows[2] + k))
            ROW(3, weft_a(rows[3] + k))
            ROW(4, weft_a(rows[4] + k))
            ROW(5, weft_a(rows[5] + k))
            k += push.a_column;
        }
    }
    for (uint i = 0; i < TILE_ROWS; i++) {
        total[i] = total[i] + sum[i];
    }
}

void main()
{
    uint row = (gl_WorkGroupID.y * gl_WorkGroupSize.y + gl_LocalInvocationID.y) * TILE_ROWS;
    uint panel = weft_batch_offset(push.b_outer, push.b_inner) + gl_WorkGroupID.x * push.k;
    uint a_base = weft_batch_offset(push.a_outer, push.a_inner);
    uint rows[MOST_ROWS]; // where they begin; those past the edge are the last one again
    vec4 total[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        rows[i] = a_base + min(row + i, push.m - 1) * push.a_row;
        total[i] = vec4(0.0);
    }
    for (uint begin = 0; begin < push.k; begin += WEFT_CHUNK) {
        if (HALF_B != 0) {
            copy_chunk(panel + begin, min(WEFT_CHUNK, push.k - begin));
            barrier();
        }
        if (row < push.m) {
            add_chunk(total, rows, min(panel + begin, LAST_STEP), begin);
        }
        barrier();
    }
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    uint column = gl_WorkGroupID.x * COLUMNS + gl_LocalInvocationID.x;
    for (uint i = 0; i < TILE_ROWS; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(c_base, row + i, column + j * (COLUMNS / 4), total[i][j]);
        }
    }
}
