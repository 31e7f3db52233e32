// SPDX-License-Identifier: MIT
//
// The scores q_i · k_j, j ≤ i, of a chunk of 64 tokens in shared memory, made by a workgroup of one subgroup: what
// chunk_scores.glsl makes, for processors. Keys lie along the lanes, so they are packed in shared memory first. The including
// file has what lanes_queries.glsl asks for, and says where the keys are:
//
//   float weft_key(uint index);

#ifndef WEFT_INCLUDE_LANES_SCORES_GLSL
#define WEFT_INCLUDE_LANES_SCORES_GLSL

#include "lanes_queries.glsl"
#include "lanes_tile.glsl"
#include "linear_attention.glsl"

shared float weft_scores[WEFT_CHUNK][WEFT_CHUNK]; // those above the diagonal are nothing
shared float weft_packed_keys[WEFT_TERMS][2 * TILE_LANES];

// Those of four rows.
vec4 weft_score_rows(uint row, uint column)
{
    return vec4(weft_scores[row][column], weft_scores[row + 1][column],
                weft_scores[row + 2][column], weft_scores[row + 3][column]);
}

// Some features of the tokens from `first` on. Tokens lie along the lanes: reading far apart takes half the time of writing so.
void weft_pack_keys(uint first_row, uint first, uint block, uint depth)
{
    uint end = gl_LocalInvocationIndex + 2 * TILE_LANES;
    for (uint token = gl_LocalInvocationIndex; token < end; token += TILE_LANES) {
        uint key = weft_token_row(first_row, first + token) * push.features + block;
        for (uint f = 0; f < depth; f++) {
            weft_packed_keys[f][token] = weft_key(key + f);
        }
    }
}

// Adds the products of some features to the scores of the rows from `row` on and the packed keys, which are those from
// `column` on. The first features make the scores.
void weft_add_scores(uvec4 query, uint row, uint column, uint block, uint depth)
{
    uint lane = gl_LocalInvocationIndex;
    uint first = column + lane;
    weft_lanes_tile sum = weft_lanes_zero();
    for (uint f = 0; f < depth; f++) {
        weft_lanes_step(sum, weft_queries(query, block + f), weft_packed_keys[f][lane],
                        weft_packed_keys[f][lane + TILE_LANES], true);
    }
    for (uint i = 0; i < WEFT_LANES_ROWS; i++) {
        float low = 0.0, high = 0.0;
        if (block > 0) {
            low = weft_scores[row + i][first];
            high = weft_scores[row + i][first + TILE_LANES];
        }
        weft_scores[row + i][first] = low + sum.low[i];
        weft_scores[row + i][first + TILE_LANES] = high + sum.high[i];
    }
}

// The rows of `count` tokens from `first` on.
void weft_make_scores(uint first_row, uint first, uint count)
{
    for (uint column = 0; column < count; column += 2 * TILE_LANES) {
        for (uint block = 0; block < push.features; block += WEFT_TERMS) {
            uint depth = min(WEFT_TERMS, push.features - block);
            weft_pack_keys(first_row, first + column, block, depth);
            barrier();
            for (uint row = column; row < count; row += WEFT_LANES_ROWS) {
                weft_add_scores(weft_token_rows(first_row, first + row) * push.features, row,
                                column, block, depth);
            }
            barrier();
        }
    }
}

#endif
