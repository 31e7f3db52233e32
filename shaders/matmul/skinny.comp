#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// Matrix product of few rows, as in decoding, where reading b is what takes time: for GPUs. A workgroup makes TILE_ROWS
// rows of FIXED_COLUMNS columns. Its slices share k among them by chunks, whose sums depend on nobody, so that as many
// loads of b are under way as there are invocations; the sums of chunks then go through shared memory and are added to
// the total in order, as every kernel does.

#include "matmul.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 8;      // at most SLICES; 8 take 16 KiB of shared memory
layout(constant_id = 64) const uint FIXED_COLUMNS = 32; // of a workgroup

layout(local_size_x = 8, local_size_y = 16) in;

const uint SLICES = 16;
const uint STEPS = TILE_ROWS > 4 ? 4 : 8; // of k that are loaded at once

// By slice, row and four columns.
shared vec4 sums[SLICES][TILE_ROWS][FIXED_COLUMNS / 4];

// The sums of the chunk from step `begin` of k on, to this slice's place.
void add_chunk(uint a_base, uint b_base, uint row, uvec4 columns, uint begin)
{
    uint end = min(begin + WEFT_CHUNK, push.k);
    uint rows[TILE_ROWS];
    vec4 sum[TILE_ROWS];
    for (uint i = 0; i < TILE_ROWS; i++) {
        rows[i] = a_base + min(row + i, push.m - 1) * push.a_row; // those past the edge are not stored
        sum[i] = vec4(0.0);
    }
    uint k = begin;
    uint row_of_b = b_base + begin * push.b_row;
    for (; k + STEPS <= end; k += STEPS) {
        vec4 y[STEPS];
        [[unroll]] for (uint t = 0; t < STEPS; t++) {
            y[t] = weft_b_columns(row_of_b + t * push.b_row, columns);
        }
        [[unroll]] for (uint i = 0; i < TILE_ROWS; i++) {
            [[unroll]] for (uint t = 0; t < STEPS; t += 4) {
                vec4 x = weft_a_steps(rows[i], k + t);
                sum[i] = weft_multiply_add(x.x, y[t], sum[i]);
                sum[i] = weft_multiply_add(x.y, y[t + 1], sum[i]);
                sum[i] = weft_multiply_add(x.z, y[t + 2], sum[i]);
                sum[i] = weft_multiply_add(x.w, y[t + 3], sum[i]);
            }
        }
        row_of_b += STEPS * push.b_row;
    }
    for (; k < end; k++) {
        vec4 y = weft_b_columns(row_of_b, columns);
        for (uint i = 0; i < TILE_ROWS; i++) {
            sum[i] = weft_multiply_add(weft_a(rows[i] + k * push.a_column), y, sum[i]);
        }
        row_of_b += push.b_row;
    }
    for (uint i = 0; i < TILE_ROWS; i++) {
        sums[gl_LocalInvocationID.y][i][gl_LocalInvocationID.x] = sum[i];
    }
}

void main()
{
    uint slice = gl_LocalInvocationID.y; // and the row that this invocation adds up and stores, where there is one
    uint row = gl_WorkGroupID.y * TILE_ROWS;
    uint column = gl_WorkGroupID.x * FIXED_COLUMNS + gl_LocalInvocationID.x * 4;
    uint a_base = weft_batch_offset(push.a_outer, push.a_inner);
    uint b_base = weft_batch_offset(push.b_outer, push.b_inner);
    uvec4 columns = min(column + uvec4(0, 1, 2, 3), uvec4(push.n - (VECTOR_B != 0 ? 4 : 1)));
    vec4 total = vec4(0.0);
    for (uint k = 0; k < push.k; k += SLICES * WEFT_CHUNK) {
        uint begin = k + slice * WEFT_CHUNK;
        if (begin < push.k) {
            add_chunk(a_base, b_base, row, columns, begin);
        }
        barrier();
        if (slice < TILE_ROWS) {
            uint chunks = min((push.k - k + WEFT_CHUNK - 1) / WEFT_CHUNK, SLICES);
            for (uint i = 0; i < chunks; i++) {
                total = total + sums[i][slice][gl_LocalInvocationID.x];
            }
        }
        barrier();
    }
    if (slice < TILE_ROWS) {
        weft_store_four(weft_batch_offset(push.c_outer, push.c_inner), row + slice, column, total);
    }
}
