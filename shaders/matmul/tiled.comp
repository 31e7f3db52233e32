#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Matrix product through tiles in shared memory: for GPUs. A workgroup of 128 makes 64×64 elements
// from tiles of 16 along k (8.5 KiB of shared memory); an invocation makes 8 rows of 4 columns.

#include "matmul.glsl"

#define TILE 64
#define TILE_K 16 // divides WEFT_CHUNK

layout(local_size_x = 16, local_size_y = 8) in;

shared float tile_a[TILE_K][TILE + 4]; // the padding spreads the transposed stores over the banks
shared vec4 tile_b[TILE_K][TILE / 4];

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
    for (uint i = lane; i < TILE * TILE_K / 4; i += 128) {
        uint row = gl_WorkGroupID.y * TILE + i / (TILE_K / 4);
        uint part = i % (TILE_K / 4) * 4;
        vec4 x;
        if (VECTOR_A != 0 && row < push.m && k + part < push.k) {
            x = weft_a_four(a_base + row * push.a_row + k + part);
        } else {
            for (uint j = 0; j < 4; j++) {
                x[j] = load_a(a_base, row, k + part + j);
            }
        }
        for (uint j = 0; j < 4; j++) {
            tile_a[part + j][i / (TILE_K / 4)] = x[j];
        }
    }
    for (uint i = lane; i < TILE_K * TILE / 4; i += 128) {
        uint part = i % (TILE / 4);
        tile_b[i / (TILE / 4)][part] = load_b(b_base, k + i / (TILE / 4), gl_WorkGroupID.x * TILE + part * 4);
    }
}

void main()
{
    uint a_base = weft_batch_offset(push.a_outer, push.a_inner);
    uint b_base = weft_batch_offset(push.b_outer, push.b_inner);
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    uint tile_row = gl_LocalInvocationID.y * 8;

    vec4 total[8];
    vec4 sum[8];
    for (uint i = 0; i < 8; i++) {
        total[i] = vec4(0.0);
        sum[i] = vec4(0.0);
    }
    for (uint k = 0; k < push.k; k += TILE_K) {
        load_tiles(a_base, b_base, k);
        barrier();
        uint depth = min(uint(TILE_K), push.k - k);
        for (uint t = 0; t < depth; t++) {
            vec4 y = tile_b[t][gl_LocalInvocationID.x];
            for (uint i = 0; i < 8; i++) {
                float x = tile_a[t][tile_row + i];
                sum[i] = weft_multiply_add(x, y, sum[i]);
            }
        }
        if ((k + TILE_K) % WEFT_CHUNK == 0 || k + TILE_K >= push.k) {
            for (uint i = 0; i < 8; i++) {
                total[i] = total[i] + sum[i];
                sum[i] = vec4(0.0);
            }
        }
        barrier();
    }
    for (uint i = 0; i < 8; i++) {
        for (uint j = 0; j < 4; j++) {
            weft_store(c_base, gl_WorkGroupID.y * TILE + tile_row + i,
                       gl_WorkGroupID.x * TILE + gl_LocalInvocationID.x * 4 + j, total[i][j]);
        }
    }
}
