#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// At a chunk's start, S ← S + N - Gᵀ S as fast_weight/scan has it, and S = 0 at position 0; between
// these, nothing. The columns of S do not mix: a workgroup has 4 COLUMN_TILES of them, an invocation 4 × 4
// elements.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = 128) in;
layout(constant_id = 0) const uint COLUMN_TILES = 1; // features · COLUMN_TILES ≤ 512

layout(std430, binding = 0) readonly buffer Position { int position[]; };
layout(std430, binding = 1) buffer State { float state[]; };

layout(push_constant) uniform Push
{
    uint groups; // heads of all batches, times column blocks
    uint features;
    uint groups_x;
    uint heads;
    uint values;
    uint stride;
    uint column_blocks;
} push;

#include "fast_weight_state.glsl"

shared vec4 current[512]; // S: that of row f from f · COLUMN_TILES on

// Columns past the last one are that one again.
vec4 load_columns(uint first, uint row, uint column)
{
    uvec4 index =
        first + row * push.values + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(state[index.x], state[index.y], state[index.z], state[index.w]);
}

void store_columns(uint first, uint row, uint column, vec4 x)
{
    uint end = min(column + 4, push.values);
    for (uint t = column; t < end; t++) {
        state[first + row * push.values + t] = weft_flush(x[t - column]);
    }
}

// A sum over the chunk, as it is stored for the chunk's end.
float complete(float sum)
{
    return weft_flush(0.0 + sum);
}

vec4 load_g(uint first, uint from, uint row)
{
    uvec4 index = first + from * push.features +
                  min(row + uvec4(0, 1, 2, 3), uvec4(push.features - 1));
    return vec4(complete(state[index.x]), complete(state[index.y]), complete(state[index.z]),
                complete(state[index.w]));
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint head = group / push.column_blocks;
    uint place = uint(position[head / push.heads]);
    if (place % WEFT_CHUNK != 0) {
        return; // the whole group
    }
    weft_rule_state at = weft_state_of(head);
    uint column_tile = gl_LocalInvocationID.x % COLUMN_TILES;
    uint row = gl_LocalInvocationID.x / COLUMN_TILES * 4;
    uint column = (group % push.column_blocks * COLUMN_TILES + column_tile) * 4;
    uint rows = row < push.features && column < push.values ? min(push.features - row, 4u) : 0;
    if (place == 0) {
        for (uint i = 0; i < rows; i++) {
            store_columns(at.s, row + i, column, vec4(0.0));
        }
        return; // the whole group
    }
    for (uint i = 0; i < rows; i++) {
        current[(row + i) * COLUMN_TILES + column_tile] = load_columns(at.s, row + i, column);
    }
    barrier();
    if (rows == 0) {
        return;
    }
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
            vec4 factor = load_g(at.g, f, row);
            for (uint i = 0; i < 4; i++) {
                sum[i] = weft_multiply_add(factor[i], x, sum[i]);
            }
        }
        for (uint i = 0; i < 4; i++) {
            taken[i] = taken[i] + sum[i];
        }
    }
    for (uint i = 0; i < rows; i++) {
        vec4 n = load_columns(at.n, row + i, column);
        vec4 written = vec4(complete(n.x), complete(n.y), complete(n.z), complete(n.w));
        vec4 own = current[(row + i) * COLUMN_TILES + column_tile];
        store_columns(at.s, row + i, column, own + (written - taken[i]));
    }
}
