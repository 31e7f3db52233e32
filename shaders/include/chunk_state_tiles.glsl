// SPDX-License-Identifier: MIT
//
// Products of a chunk's rows (chunk_row_tiles.glsl) with a state. The including file also has a push constant `uint values`,
// VECTOR_VALUES, buffers `state` and `state4`, and may define WEFT_EACH_TILE(f), called when the tiles from feature f on are
// there.

#ifndef WEFT_INCLUDE_CHUNK_STATE_TILES_GLSL
#define WEFT_INCLUDE_CHUNK_STATE_TILES_GLSL

#include "chunk_row_tiles.glsl"

#ifndef WEFT_EACH_TILE
#define WEFT_EACH_TILE(f)
#endif

// Four columns of a feature's row of the state, or others past the last one; zeros behind the last feature.
vec4 weft_state_columns(uint base, uint f, uint column)
{
    if (f >= push.features) {
        return vec4(0.0);
    }
    uint row = base + f * push.values;
    if (VECTOR_VALUES != 0 && VECTOR_FEATURES != 0) {
        return state4[(row + min(column, push.values - 4)) / 4];
    }
    uvec4 index = row + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(state[index.x], state[index.y], state[index.z], state[index.w]);
}

// Rows `first` … first + 63 times the columns from first_column on.
void weft_add_state(inout vec4 total[WEFT_TILE_ROWS], uint first_row, uint first, uint state_base, uint first_column)
{
    uint query[WEFT_TILE_LOADS];
    [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
        query[i] = weft_token_row(first_row, first + weft_across_row(i)) * push.features;
    }
    vec4 sum[WEFT_TILE_ROWS];
    weft_begin_tile(sum);
    for (uint f = 0; f < push.features; f += WEFT_DEPTH) {
        vec4 x[WEFT_TILE_LOADS];
        vec4 y[WEFT_TILE_LOADS];
        [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
            x[i] = weft_query_features(query[i], f + weft_across_term());
            y[i] = weft_state_columns(state_base, f + weft_along_term(i), first_column + weft_own_column());
        }
        weft_put_rows_across(x);
        weft_put_columns_along(y);
        barrier();
        weft_add_tiles(sum, weft_own_row(), weft_own_column());
        WEFT_EACH_TILE(f);
        weft_end_tile(total, sum, f + WEFT_DEPTH, push.features);
        barrier();
    }
}

#endif
