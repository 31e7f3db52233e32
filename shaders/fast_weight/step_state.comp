#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// At a chunk's start, S ← S + N - Gᵀ S as fast_weight/scan has it, and S = 0 at position 0; between
// these, nothing.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = 128) in;

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

#include "fast_weight_scan.glsl"

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
    Tile tile = own_tile(group);
    if (place == 0) {
        for (uint i = 0; i < tile.rows; i++) {
            store_columns(at.s, tile.row + i, tile.column, vec4(0.0));
        }
        return; // the whole group
    }
    for (uint i = 0; i < tile.rows; i++) {
        current[current_index(tile, i)] = load_columns(at.s, tile.row + i, tile.column);
    }
    barrier();
    if (tile.rows == 0) {
        return;
    }
    vec4 taken[4] = taken_by(at.g, tile);
    for (uint i = 0; i < tile.rows; i++) {
        vec4 n = load_columns(at.n, tile.row + i, tile.column);
        vec4 written = vec4(complete(n.x), complete(n.y), complete(n.z), complete(n.w));
        vec4 own = current[current_index(tile, i)];
        store_columns(at.s, tile.row + i, tile.column, own + (written - taken[i]));
    }
}
