#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Matrix product for processors. Columns lie along the lanes: a register has a part of a row, and an element of a is the
// same for all lanes. An invocation makes ROWS rows of two columns, so that 16 registers hold the sums, what is
// multiplied and what is loaded ahead. b comes through shared memory, where it lies in the order that it is read in; that
// it does not in memory (linear layers: one column after the other) then costs only the packing, which all rows of a
// workgroup share.

#include "matmul.glsl"

layout(constant_id = 64) const uint FIXED_COLUMNS = 32; // of a workgroup
layout(constant_id = 65) const uint FIXED_ROWS = 128;

const uint ROWS = 4; // of an invocation: the components of a vector

layout(local_size_x = 16, local_size_y = 32) in;

// Chunks of k that share the work of packing.
const uint DEPTH = 2 * WEFT_CHUNK;

// Four steps of k lie together, so that constants say where each of them is.
shared float tile[DEPTH / 4][4][FIXED_COLUMNS];

// The elements of b from step `begin` of k and column `first` on. Columns past the edge are the last one again; their
// sums are not stored.
void pack(uint base, uint begin, uint depth, uint first)
{
    const uint INVOCATIONS = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
    uint packed = 0;
    if (push.b_row == 1) {
        for (; packed + WEFT_CHUNK <= depth; packed += WEFT_CHUNK) {
            for (uint i = gl_LocalInvocationIndex; i < WEFT_CHUNK * FIXED_COLUMNS; i += INVOCATIONS) {
                uint t = packed + i % WEFT_CHUNK;
                uint column = min(first + i / WEFT_CHUNK, push.n - 1);
                tile[t / 4][t % 4][i / WEFT_CHUNK] = weft_b(base + column * push.b_column + begin + t);
            }
        }
    }
    uint x = gl_LocalInvocationID.x;
    uint low = first + x;
    uint high = low + FIXED_COLUMNS / 2;
    bool whole = push.b_column == 1 && first + FIXED_COLUMNS <= push.n;
    for (uint t = packed + gl_LocalInvocationID.y; t < depth; t += gl_WorkGroupSize.y) {
        uint row = base + (begin + t) * push.b_row;
        if (whole) {
            tile[t / 4][t % 4][x] = weft_b(row + low);
            tile[t / 4][t % 4][x + FIXED_COLUMNS / 2] = weft_b(row + high);
        } else {
            tile[t / 4][t % 4][x] = weft_b(row + min(low, push.n - 1) * push.b_column);
            tile[t / 4][t % 4][x + FIXED_COLUMNS / 2] =
                weft_b(row + min(high, push.n - 1) * push.b_column);
        }
    }
}

// Whether the elements of a's rows can be named by a vector and a constant component.
bool weft_a_in_fours()
{
#ifdef WEFT_MATH_FAST
    return VECTOR_A != 0 && HALF_A == 0;
#else
    return VECTOR_A != 0;
#endif
}

// One step of k: `s` and `component` are its place among four.
#define STEP(s, component)                                                                     \
    {                                                                                          \
        vec4 values = vec4(a4[rows.x / 4 + k].component, a4[rows.y / 4 + k].component,         \
                           a4[rows.z / 4 + k].component, a4[rows.w / 4 + k].component);        \
        low_sum = weft_multiply_add(tile[four][s][x], values, low_sum);                        \
        high_sum = weft_multiply_add(tile[four][s][x + FIXED_COLUMNS / 2], values, high_sum);  \
    }

// The sums of a chunk, whose steps are in the tile from `chunk` up to `end` and in a from `begin + chunk` on.
void add_chunk(inout vec4 low, inout vec4 high, uvec4 rows, uint begin, uint chunk, uint end)
{
    uint x = gl_LocalInvocationID.x;
    vec4 low_sum = vec4(0.0);
    vec4 high_sum = vec4(0.0);
    uint whole = weft_a_in_fours() ? end / 4 : chunk / 4;
    for (uint four = chunk / 4; four < whole; four++) {
        uint k = begin / 4 + four;
        STEP(0, x)
        STEP(1, y)
        STEP(2, z)
        STEP(3, w)
    }
    for (uint t = whole * 4; t < end; t++) {
        uint k = (begin + t) * push.a_column;
        vec4 values =
            vec4(weft_a(rows.x + k), weft_a(rows.y + k), weft_a(rows.z + k), weft_a(rows.w + k));
        low_sum = weft_multiply_add(tile[t / 4][t % 4][x], values, low_sum);
        high_sum = weft_multiply_add(tile[t / 4][t % 4][x + FIXED_COLUMNS / 2], values, high_sum);
    }
    low = low + low_sum;
    high = high + high_sum;
}

void main()
{
    uint row = gl_WorkGroupID.y * FIXED_ROWS + gl_LocalInvocationID.y * ROWS;
    uint first = gl_WorkGroupID.x * FIXED_COLUMNS;
    uint b_base = weft_batch_offset(push.b_outer, push.b_inner);

    // Rows past the edge read the last one again.
    uvec4 rows = weft_batch_offset(push.a_outer, push.a_inner) +
                 min(row + uvec4(0, 1, 2, 3), uvec4(push.m - 1)) * push.a_row;
    vec4 low = vec4(0.0);
    vec4 high = vec4(0.0);
    for (uint begin = 0; begin < push.k; begin += DEPTH) {
        uint depth = min(DEPTH, push.k - begin);
        pack(b_base, begin, depth, first);
        barrier();
        if (row < push.m) {
            for (uint chunk = 0; chunk < depth; chunk += WEFT_CHUNK) {
                add_chunk(low, high, rows, begin, chunk, min(chunk + WEFT_CHUNK, depth));
            }
        }
        barrier();
    }
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    uint column = first + gl_LocalInvocationID.x;
    for (uint i = 0; i < ROWS; i++) {
        weft_store(c_base, row + i, column, low[i]);
        weft_store(c_base, row + i, column + FIXED_COLUMNS / 2, high[i]);
    }
}
