#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// From chunk to chunk: S ← S + N - Gᵀ S, where N [features, values] is what a chunk writes onto S = 0 and
// G [features, features], G[f', f] = Σ_i W[i, f'] K[i, f], what it takes from what was there. Every N is
// replaced by the S at its chunk's start.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = 128) in;
layout(constant_id = 1) const uint VECTOR_FEATURES = 0;

#include "scan.glsl"

#include "fast_weight_scan.glsl"

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint head = group / push.column_blocks;
    Tile tile = own_tile(group);
    vec4 own[4];
    for (uint i = 0; i < 4; i++) {
        own[i] = vec4(0.0);
    }
    for (uint i = 0; i < tile.rows; i++) {
        current[current_index(tile, i)] = vec4(0.0);
    }
    barrier();
    for (uint chunk = 0; chunk < push.chunks; chunk++) {
        uint part = head * push.chunks + chunk;
        uint state_base = part * (push.features * push.values);
        if (tile.rows > 0) {
            vec4 taken[4] = taken_by(part * (push.features * push.features), tile);
            for (uint i = 0; i < tile.rows; i++) {
                vec4 written = load_columns(state_base, tile.row + i, tile.column);
                store_columns(state_base, tile.row + i, tile.column, own[i]);
                own[i] = own[i] + (written - taken[i]);
            }
        }
        barrier();
        for (uint i = 0; i < tile.rows; i++) {
            current[current_index(tile, i)] = own[i];
        }
        barrier();
    }
}
