// SPDX-License-Identifier: MIT
//
// The scores q_i · k_j, j ≤ i, of a chunk of 64 tokens in shared memory, as chunk_scores.glsl has them but through the tiles of
// chunk_tiles.glsl, and laid out for loads of fours: for each eight rows those of the keys up to theirs. The including file
// has what chunk_row_tiles.glsl asks for, and of the keys
//
//   float weft_key(uint index);    vec4 weft_key_four(uint index);   the latter where VECTOR_FEATURES

#ifndef WEFT_INCLUDE_CHUNK_SCORE_TILES_GLSL
#define WEFT_INCLUDE_CHUNK_SCORE_TILES_GLSL

#include "chunk_row_tiles.glsl"

#define WEFT_ROW_TILES (WEFT_CHUNK / WEFT_TILE_ROWS)

// Two for each key of each eight rows. Those above the diagonal are not to be used.
shared vec4 weft_score_fours[WEFT_TILE_ROWS * WEFT_ROW_TILES * (WEFT_ROW_TILES + 1)];

// Where those of eight rows and a key are.
uint weft_score_place(uint tile_row, uint key)
{
    return WEFT_TILE_ROWS * tile_row * (tile_row + 1) + 2 * key;
}

vec4 weft_key_features(uint base, uint f)
{
    vec4 x = vec4(0.0);
    if (VECTOR_FEATURES != 0) {
        if (f < push.features) {
            x = weft_key_four(base + f);
        }
        return x;
    }
    [[unroll]] for (uint j = 0; j < 4; j++) {
        if (f + j < push.features) {
            x[j] = weft_key(base + f + j);
        }
    }
    return x;
}

// Where an invocation's scores are: 8 rows and 4 columns, or the last 4 rows of them.
struct weft_score_tile
{
    uint tile_row, column;
    bool whole, rest;
};

// Tile row r has 2 r + 1 tiles that reach below the diagonal in more than their last four rows: 64 for the first invocations, all
// with work; the next eight have the rest of the blocks on the diagonal.
weft_score_tile weft_own_score_tile()
{
    uint lane = gl_LocalInvocationID.x;
    uint tile_row = 0;
    while ((tile_row + 1) * (tile_row + 1) <= lane && tile_row + 1 < WEFT_ROW_TILES) {
        tile_row++;
    }
    weft_score_tile own = weft_score_tile(tile_row, (lane - tile_row * tile_row) * 4, lane < 64, false);
    if (lane >= 64) {
        tile_row = (lane - 64) % WEFT_ROW_TILES;
        own = weft_score_tile(tile_row, tile_row * WEFT_TILE_ROWS + 4, false, lane < 64 + WEFT_ROW_TILES);
    }
    return own;
}

// weft_add_tiles for the last four of eight rows.
void weft_add_half_tiles(inout vec4 sum[WEFT_TILE_ROWS], uint row, uint column)
{
    [[unroll]] for (uint t = 0; t < WEFT_DEPTH; t++) {
        vec4 high = weft_tile_rows[t * WEFT_TILE_PITCH + row / 4 + 1];
        vec4 y = weft_tile_columns[t * WEFT_TILE_PITCH + column / 4];
        [[unroll]] for (uint i = 0; i < 4; i++) {
            sum[i + 4] = weft_multiply_add(high[i], y, sum[i + 4]);
        }
    }
}

void weft_sum_scores(out vec4 total[WEFT_TILE_ROWS], uint first_row, uint first, weft_score_tile own)
{
    uint at[WEFT_TILE_LOADS];
    [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
        at[i] = weft_token_row(first_row, first + weft_across_row(i)) * push.features;
    }
    vec4 sum[WEFT_TILE_ROWS];
    weft_begin_tile(total);
    weft_begin_tile(sum);
    for (uint f = 0; f < push.features; f += WEFT_DEPTH) {
        vec4 x[WEFT_TILE_LOADS];
        vec4 y[WEFT_TILE_LOADS];
        [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
            x[i] = weft_query_features(at[i], f + weft_across_term());
            y[i] = weft_key_features(at[i], f + weft_across_term());
        }
        weft_put_rows_across(x);
        weft_put_columns_across(y);
        barrier();
        if (own.whole) {
            weft_add_tiles(sum, own.tile_row * WEFT_TILE_ROWS, own.column);
        } else if (own.rest) {
            weft_add_half_tiles(sum, own.tile_row * WEFT_TILE_ROWS, own.column);
        }
        weft_end_tile(total, sum, f + WEFT_DEPTH, push.features);
        barrier();
    }
}

// Of the tokens from `first` on. A barrier comes after it.
void weft_make_scores(uint first_row, uint first)
{
    weft_score_tile own = weft_own_score_tile();
    vec4 total[WEFT_TILE_ROWS];
    weft_sum_scores(total, first_row, first, own);
    if (own.whole || own.rest) {
        [[unroll]] for (uint j = 0; j < 4; j++) {
            uint at = weft_score_place(own.tile_row, own.column + j);
            weft_score_fours[at] = vec4(total[0][j], total[1][j], total[2][j], total[3][j]);
            weft_score_fours[at + 1] = vec4(total[4][j], total[5][j], total[6][j], total[7][j]);
        }
    }
}

#endif
