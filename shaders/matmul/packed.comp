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

const uint ROWS = 4;

layout(local_size_x = 16, local_size_y = 32) in;

// Four steps of k lie together, so that constants say where each of them is.
shared float tile[WEFT_CHUNK / 4][4][FIXED_COLUMNS];

// Columns past the edge are the last one again; their sums are not stored.
void pack(uint base, uint chunk, uint depth, uint first)
{
    const uint INVOCATIONS = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
    uint lane = gl_LocalInvocationIndex;
    if (push.b_row == 1 && depth == WEFT_CHUNK) {
        for (uint i = lane; i < WEFT_CHUNK * FIXED_COLUMNS; i += INVOCATIONS) {
            uint column = min(first + i / WEFT_CHUNK, push.n - 1);
            tile[i % WEFT_CHUNK / 4][i % 4][i / WEFT_CHUNK] =
                weft_b(base + column * push.b_column + chunk + i % WEFT_CHUNK);
        }
    } else if (push.b_column == 1 && first + FIXED_COLUMNS <= push.n) {
        for (uint i = lane; i < depth * FIXED_COLUMNS; i += INVOCATIONS) {
            tile[i / FIXED_COLUMNS / 4][i / FIXED_COLUMNS % 4][i % FIXED_COLUMNS] =
                weft_b(base + (chunk + i / FIXED_COLUMNS) * push.b_row + first + i % FIXED_COLUMNS);
        }
    } else {
        for (uint i = lane; i < depth * FIXED_COLUMNS; i += INVOCATIONS) {
            uint column = min(first + i % FIXED_COLUMNS, push.n - 1);
            tile[i / FIXED_COLUMNS / 4][i / FIXED_COLUMNS % 4][i % FIXED_COLUMNS] =
                weft_b(base + (chunk + i / FIXED_COLUMNS) * push.b_row + column * push.b_column);
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
#define STEP(s, component)                                               \
    {                                                                    \
        float low_b = tile[four][s][x];                                  \
        float high_b = tile[four][s][x + FIXED_COLUMNS / 2];             \
        for (uint i = 0; i < ROWS; i++) {                                \
            float value = a4[rows[i] / 4 + k].component;                 \
            low_sum[i] = weft_multiply_add(value, low_b, low_sum[i]);    \
            high_sum[i] = weft_multiply_add(value, high_b, high_sum[i]); \
        }                                                                \
    }

void main()
{
    uint row = gl_WorkGroupID.y * FIXED_ROWS + gl_LocalInvocationID.y * ROWS;
    uint first = gl_WorkGroupID.x * FIXED_COLUMNS;
    uint x = gl_LocalInvocationID.x;
    uint a_base = weft_batch_offset(push.a_outer, push.a_inner);
    uint b_base = weft_batch_offset(push.b_outer, push.b_inner);
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);

    // Rows past the edge read the last one again.
    uint rows[ROWS];
    for (uint i = 0; i < ROWS; i++) {
        rows[i] = a_base + min(row + i, push.m - 1) * push.a_row;
    }
    float low[ROWS], high[ROWS];
    for (uint i = 0; i < ROWS; i++) {
        low[i] = 0.0;
        high[i] = 0.0;
    }
    for (uint chunk = 0; chunk < push.k; chunk += WEFT_CHUNK) {
        uint depth = min(WEFT_CHUNK, push.k - chunk);
        pack(b_base, chunk, depth, first);
        barrier();
        if (row < push.m) {
            float low_sum[ROWS], high_sum[ROWS];
            for (uint i = 0; i < ROWS; i++) {
                low_sum[i] = 0.0;
                high_sum[i] = 0.0;
            }
            uint whole = weft_a_in_fours() ? depth / 4 : 0;
            for (uint four = 0; four < whole; four++) {
                uint k = chunk / 4 + four;
                STEP(0, x)
                STEP(1, y)
                STEP(2, z)
                STEP(3, w)
            }
            for (uint t = whole * 4; t < depth; t++) {
                float low_b = tile[t / 4][t % 4][x];
                float high_b = tile[t / 4][t % 4][x + FIXED_COLUMNS / 2];
                uint k = (chunk + t) * push.a_column;
                for (uint i = 0; i < ROWS; i++) {
                    float value = weft_a(rows[i] + k);
                    low_sum[i] = weft_multiply_add(value, low_b, low_sum[i]);
                    high_sum[i] = weft_multiply_add(value, high_b, high_sum[i]);
                }
            }
            for (uint i = 0; i < ROWS; i++) {
                low[i] = low[i] + low_sum[i];
                high[i] = high[i] + high_sum[i];
            }
        }
        barrier();
    }
    for (uint i = 0; i < ROWS; i++) {
        weft_store(c_base, row + i, first + x, low[i]);
        weft_store(c_base, row + i, first + x + FIXED_COLUMNS / 2, high[i]);
    }
}
