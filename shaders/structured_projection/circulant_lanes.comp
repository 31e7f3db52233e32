#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What circulant.comp computes, on processors: elements of a block lie along the lanes, and those of x are the same for all
// of them. The coefficients of a chunk of terms lie in shared memory in the order of their lags, without end around the
// block, so that the next term's are one further; all rows of a workgroup share them.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"

#define CHUNK 64 // terms of a partial sum, as in toeplitz_rows.glsl

layout(constant_id = 16) const uint TILE_ROWS = 8; // by which circulant.comp counts its items
layout(constant_id = 64) const uint FIXED_COLUMNS = 32; // of a workgroup
layout(constant_id = 65) const uint FIXED_ROWS = 48;

const uint ROWS = 6; // of an invocation
const uint LAGS = CHUNK + FIXED_COLUMNS - 1;

layout(local_size_x = 16, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };                 // [rows, d]
layout(std430, binding = 1) readonly buffer Diagonals { float diagonals[]; }; // [blocks, 2, d]
layout(std430, binding = 2) writeonly buffer Result { float result[]; };      // [rows, features]

layout(push_constant) uniform Push
{
    uint count; // rows * blocks * tiles of a block
    uint groups_x;
    uint size; // d
    uint blocks;
    uint features;
    float scale;
    WEFT_INVERSE(size)
} push;

shared float coefficients[LAGS]; // the last is that of the first column's lag … + FIXED_COLUMNS - 1

// Those of the lags first - chunk - (CHUNK - 1) … modulo d.
void pack(uint block, uint first, uint chunk)
{
    uint d = push.size;
    uint base = (first + (CHUNK + 1) * d - chunk - (CHUNK - 1)) % d;
    for (uint i = gl_LocalInvocationIndex; i < LAGS; i += gl_WorkGroupSize.x * gl_WorkGroupSize.y) {
        uint at = base + i;
        if (2 * d > LAGS) {
            at = at < d ? at : at - d;
            at = at < d ? at : at - d;
        } else {
            at = at % d;
        }
        coefficients[i] = diagonals[block * 2 * d + at];
    }
}

void store(uint row, uint block, uint column, float sum)
{
    uint feature = block * push.size + column;
    if (column < push.size && feature < push.features) {
        float value = diagonals[(block * 2 + 1) * push.size + column] * sum;
        result[row * push.features + feature] = weft_flush(push.scale * value);
    }
}

void main()
{
    uint d = push.size;
    uint group = weft_group_index(push.groups_x);
    uint rows = push.count / push.blocks / ((d - 1) / TILE_ROWS + 1);
    uint tiles = (d - 1) / FIXED_COLUMNS + 1;
    uint row = group / tiles / push.blocks * FIXED_ROWS;
    if (row >= rows) {
        return; // the whole group: no barrier is missed
    }
    row += gl_LocalInvocationID.y * ROWS;
    uint block = group / tiles % push.blocks;
    uint first = group % tiles * FIXED_COLUMNS;
    uint lane = gl_LocalInvocationID.x;

    // Rows past the edge read the last one again.
    uint own[ROWS];
    float low[ROWS], high[ROWS];
    for (uint i = 0; i < ROWS; i++) {
        own[i] = min(row + i, rows - 1) * d;
        low[i] = 0.0;
        high[i] = 0.0;
    }
    for (uint chunk = 0; chunk < d; chunk += CHUNK) {
        uint depth = min(CHUNK, d - chunk);
        pack(block, first, chunk);
        barrier();
        float low_sum[ROWS], high_sum[ROWS];
        for (uint i = 0; i < ROWS; i++) {
            low_sum[i] = 0.0;
            high_sum[i] = 0.0;
        }
        for (uint t = 0; t < depth; t++) {
            float low_c = coefficients[CHUNK - 1 - t + lane];
            float high_c = coefficients[CHUNK - 1 - t + lane + FIXED_COLUMNS / 2];
            for (uint i = 0; i < ROWS; i++) {
                float element = x[own[i] + chunk + t];
                low_sum[i] = weft_multiply_add(low_c, element, low_sum[i]);
                high_sum[i] = weft_multiply_add(high_c, element, high_sum[i]);
            }
        }
        for (uint i = 0; i < ROWS; i++) {
            low[i] = low[i] + low_sum[i];
            high[i] = high[i] + high_sum[i];
        }
        barrier();
    }
    for (uint i = 0; i < ROWS && row + i < rows; i++) {
        store(row + i, block, first + lane, low[i]);
        store(row + i, block, first + lane + FIXED_COLUMNS / 2, high[i]);
    }
}
