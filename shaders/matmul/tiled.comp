#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Matrix product through tiles in shared memory: for GPUs. A workgroup of 128 makes
// TILE_ROWS×TILE_COLUMNS elements from tiles of TILE_DEPTH along k (8.5 KiB of shared memory as they are); an
// invocation makes ROWS rows of FOURS times 4 columns, 64 apart.

#include "matmul.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 64;    // a multiple of 8
layout(constant_id = 17) const uint TILE_COLUMNS = 64; // a multiple of 64
layout(constant_id = 18) const uint TILE_DEPTH = 16;   // a multiple of 4 that divides WEFT_CHUNK

const uint ROWS = TILE_ROWS / 8;
const uint FOURS = TILE_COLUMNS / 64;

layout(local_size_x = 16, local_size_y = 8) in;

shared float tile_a[TILE_DEPTH][TILE_ROWS + 4]; // the padding spreads the transposed stores over the banks
shared vec4 tile_b[TILE_DEPTH][TILE_COLUMNS / 4];

// Outside the matrices: zeros, whose products are never added (the loop over k stops at push.k).
float load_a(uint base, uint row, uint k)
{
    return row < push.m && k < push.k ? weft_a(base + row * push.a_row + k * push.a_column) : 0.0;
}

vec4 load_b(uint base, uint k, uint column)
{
    if (k >= push.k || column >= push.n) {
        return vec4(0.0);
    }
    uint row = base + k * push.b_row;
    if (VECTOR_B != 0) {
        return weft_b_four(row + column);
    }
    uvec4 index = row + min(uvec4(column, column + 1, column + 2, column + 3), uvec4(push.n - 1)) * push.b_column;
    return vec4(weft_b(index.x), weft_b(index.y), weft_b(index.z), weft_b(index.w));
}

void load_tiles(uint a_base, uint b_base, uint k)
{
    uint lane = gl_LocalInvocationIndex;
    for (uint i = lane; i < TILE_ROWS * TILE_DEPTH / 4; i += 128) {
        uint row = gl_WorkGroupID.y * TILE_ROWS + i / (TILE_DEPTH / 4);
        uint part = i % (TILE_DEPTH / 4) * 4;
        vec4 x;
        if (VECTOR_A != 0 && row < push.m && k + part < push.k) {
            x = weft_a_four(a_base + row * push.a_row + k + part);
        } else {
            for (uint j = 0; j < 4; j++) {
                x[j] = load_a(a_base, row, k + part + j);
            }
        }
        for (uint j = 0; j < 4; j++) {
            tile_a[part + j][i / (TILE_DEPTH / 4)] = x[j];
        }
    }
    for (uint i = lane; i < TILE_DEPTH * TILE_COLUMNS / 4; i += 128) {
        uint part = i % (TILE_COLUMNS / 4);
        tile_b[i / (TILE_COLUMNS / 4)][part] =
            load_b(b_base, k + i / (TILE_COLUMNS / 4), gl_WorkGroupID.x * TILE_COLUMNS + part * 4);
    }
}

void main()
{
    uint a_base = weft_batch_offset(push.a_outer, push.a_inner);
    uint b_base = weft_batch_offset(push.b_outer, push.b_inner);
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    uint tile_row = gl_LocalInvocationID.y * ROWS;

    vec4 total[ROWS * FOURS];
    vec4 sum[ROWS * FOURS];
    for (uint i = 0; i < ROWS * FOURS; i++) {
        total[i] = vec4(0.0);
        sum[i] = vec4(0.0);
    }
    for (uint k = 0; k < push.k; k += TILE_DEPTH) {
        load_tiles(a_base, b_base, k);
        barrier();
        uint depth = min(TILE_DEPTH, push.k - k);
        for (uint t = 0; t < depth; t++) {
            for (uint f = 0; f < FOURS; f++) {
                vec4 y = tile_b[t][gl_LocalInvocationID.x + 16 * f];
                for (uint i = 0; i < ROWS; i++) {
                    float x = tile_a[t][tile_row + i];
                    sum[ROWS * f + i] = weft_multiply_add(x, y, sum[ROWS * f + i]);
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
    for (uint i = 0; i < ROWS; i++) {
        for (uint f = 0; f < FOURS; f++) {
            for (uint j = 0; j < 4; j++) {
                weft_store(c_base, gl_WorkGroupID.y * TILE_ROWS + tile_row + i,
                           gl_WorkGroupID.x * TILE_COLUMNS + (gl_LocalInvocationID.x + 16 * f) * 4 + j,
                           total[ROWS * f + i][j]);
            }
        }
    }
}
