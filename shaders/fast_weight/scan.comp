#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// From chunk to chunk: S ← S + N - Gᵀ S, where N [features, values] is what a chunk writes onto S = 0 and
// G [features, features], G[f', f] = Σ_i W[i, f'] K[i, f], what it takes from what was there. Every N is
// replaced by the S at its chunk's start. The columns of S do not mix: a workgroup has 4 COLUMN_TILES of
// them, an invocation 4 × 4 elements.

#include "index.glsl"
#include "linear_attention.glsl"

layout(local_size_x = 128) in;
layout(constant_id = 0) const uint COLUMN_TILES = 1; // features · COLUMN_TILES ≤ 512
layout(constant_id = 1) const uint VECTOR_FEATURES = 0;

layout(std430, binding = 0) readonly buffer G { float g[]; };
layout(std430, binding = 0) readonly buffer GVector { vec4 g4[]; };
layout(std430, binding = 1) buffer N { float state[]; };

layout(push_constant) uniform Push
{
    uint groups; // heads of all batches, times column blocks
    uint features;
    uint groups_x;
    uint values;
    uint chunks;
    uint column_blocks;
} push;

shared vec4 current[512]; // S: that of row f from f · COLUMN_TILES on

vec4 load_state(uint base, uint row, uint column)
{
    uvec4 index =
        base + row * push.values + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(state[index.x], state[index.y], state[index.z], state[index.w]);
}

void store_state(uint base, uint row, uint column, vec4 x)
{
    uint end = min(column + 4, push.values);
    for (uint t = column; t < end; t++) {
        state[base + row * push.values + t] = weft_flush(x[t - column]);
    }
}

vec4 load_g(uint base, uint from, uint row)
{
    uint first = base + from * push.features;
    if (VECTOR_FEATURES != 0) {
        return g4[(first + row) / 4];
    }
    uvec4 index = first + min(row + uvec4(0, 1, 2, 3), uvec4(push.features - 1));
    return vec4(g[index.x], g[index.y], g[index.z], g[index.w]);
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint head = group / push.column_blocks;
    uint column_tile = gl_LocalInvocationID.x % COLUMN_TILES;
    uint row = gl_LocalInvocationID.x / COLUMN_TILES * 4;
    uint column = (group % push.column_blocks * COLUMN_TILES + column_tile) * 4;
    uint rows = row < push.features && column < push.values ? min(push.features - row, 4u) : 0;

    vec4 own[4];
    for (uint i = 0; i < 4; i++) {
        own[i] = vec4(0.0);
    }
    for (uint i = 0; i < rows; i++) {
        current[(row + i) * COLUMN_TILES + column_tile] = vec4(0.0);
    }
    barrier();
    for (uint chunk = 0; chunk < push.chunks; chunk++) {
        uint part = head * push.chunks + chunk;
        uint state_base = part * (push.features * push.values);
        uint g_base = part * (push.features * push.features);
        if (rows > 0) {
            vec4 taken[4];
            for (uint i = 0; i < 4; i++) {
                taken[i] = vec4(0.0);
            }
            for (uint block = 0; block < push.features; block += WEFT_TERMS) {
                uint end = min(block + WEFT_TERMS, push.features);
                vec4 sum[4];
                for (uint i = 0; i < 4; i++) {
                    sum[i] = vec4(0.0);
                }
                for (uint f = block; f < end; f++) {
                    vec4 x = current[f * COLUMN_TILES + column_tile];
                    vec4 factor = load_g(g_base, f, row);
                    for (uint i = 0; i < 4; i++) {
                        sum[i] = weft_multiply_add(factor[i], x, sum[i]);
                    }
                }
                for (uint i = 0; i < 4; i++) {
                    taken[i] = taken[i] + sum[i];
                }
            }
            for (uint i = 0; i < rows; i++) {
                vec4 written = load_state(state_base, row + i, column);
                store_state(state_base, row + i, column, own[i]);
                own[i] = own[i] + (written - taken[i]);
            }
        }
        barrier();
        for (uint i = 0; i < rows; i++) {
            current[(row + i) * COLUMN_TILES + column_tile] = own[i];
        }
        barrier();
    }
}
