// SPDX-License-Identifier: MIT
//
// S ← S + N - Gᵀ S on a workgroup's columns of S, [features, values]. The columns do not mix: a workgroup of 128
// has 4 COLUMN_TILES of them, an invocation 4 × 4 elements. The including file has push constants `uint features,
// values, column_blocks`, a buffer `float state[]`, and says where G is:
//
//   vec4 load_g(uint base, uint from, uint row);   G[from, row … row + 3]

#ifndef WEFT_INCLUDE_FAST_WEIGHT_SCAN_GLSL
#define WEFT_INCLUDE_FAST_WEIGHT_SCAN_GLSL

#include "fast_weight.glsl"
#include "linear_attention.glsl"

layout(constant_id = 0) const uint COLUMN_TILES = 1; // features · COLUMN_TILES ≤ WEFT_MAX_FEATURES

shared vec4 current[WEFT_MAX_FEATURES]; // S: that of row f from f · COLUMN_TILES on

// The 4 × 4 elements of an invocation, or as many rows of them as there are.
struct Tile
{
    uint column_tile, row, column, rows;
};

Tile own_tile(uint group)
{
    Tile tile;
    tile.column_tile = gl_LocalInvocationID.x % COLUMN_TILES;
    tile.row = gl_LocalInvocationID.x / COLUMN_TILES * 4;
    tile.column = (group % push.column_blocks * COLUMN_TILES + tile.column_tile) * 4;
    bool any = tile.row < push.features && tile.column < push.values;
    tile.rows = any ? min(push.features - tile.row, 4u) : 0;
    return tile;
}

uint current_index(Tile tile, uint i)
{
    return (tile.row + i) * COLUMN_TILES + tile.column_tile;
}

// Columns past the last one are that one again.
vec4 load_columns(uint base, uint row, uint column)
{
    uvec4 index =
        base + row * push.values + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(state[index.x], state[index.y], state[index.z], state[index.w]);
}

void store_columns(uint base, uint row, uint column, vec4 x)
{
    uint end = min(column + 4, push.values);
    for (uint t = column; t < end; t++) {
        state[base + row * push.values + t] = weft_flush(x[t - column]);
    }
}

// Gᵀ S.
vec4[4] taken_by(uint g_base, Tile tile)
{
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
            vec4 x = current[f * COLUMN_TILES + tile.column_tile];
            vec4 factor = load_g(g_base, f, tile.row);
            for (uint i = 0; i < 4; i++) {
                sum[i] = weft_multiply_add(factor[i], x, sum[i]);
            }
        }
        for (uint i = 0; i < 4; i++) {
            taken[i] = taken[i] + sum[i];
        }
    }
    return taken;
}

#endif
