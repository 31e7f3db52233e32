// SPDX-License-Identifier: MIT
//
// The scores q_i · k_j, j ≤ i, of a chunk of 64 tokens in shared memory, made by a workgroup of 128, or of 256 where
// WEFT_TILE_ROWS is 4. The including file has push constants `uint n, heads, features` (instance name `push`) and says where the
// features are, [batch, n, heads, features]:
//
//   float weft_query(uint index);    vec4 weft_query_four(uint index);
//   float weft_key(uint index);      vec4 weft_key_four(uint index);

#ifndef WEFT_INCLUDE_CHUNK_SCORES_GLSL
#define WEFT_INCLUDE_CHUNK_SCORES_GLSL

#include "linear_attention.glsl"

#define WEFT_ROW_TILES (WEFT_CHUNK / WEFT_TILE_ROWS)

// Those of row i from i (i + 1) / 2 on.
shared float weft_scores[WEFT_CHUNK * (WEFT_CHUNK + 1) / 2];

uint weft_score_row(uint row)
{
    return row * (row + 1) / 2;
}

// A token's row among [batch, n, heads]; tokens past the end are the last one again.
uint weft_token_row(uint first_row, uint token)
{
    return first_row + min(token, push.n - 1) * push.heads;
}

// The rows of `count` tokens from `first` on, in tiles of 8 rows and 4 columns: tile row r has the
// 2 r + 2 tiles that reach below the diagonal; of 4 rows, half as many. A barrier comes after it.
void weft_make_scores(uint first_row, uint first, uint count)
{
    uint lane = gl_LocalInvocationID.x;
    uint tile_row = 0;
    while ((tile_row + 1) * (tile_row + 2) / (8 / WEFT_TILE_ROWS) <= lane) {
        tile_row++;
    }
    uint row = tile_row * WEFT_TILE_ROWS;
    uint column = (lane - tile_row * (tile_row + 1) / (8 / WEFT_TILE_ROWS)) * 4;
    if (tile_row >= WEFT_ROW_TILES || row >= count) {
        return;
    }
    uint query[WEFT_TILE_ROWS];
    uint key[4];
    vec4 total[WEFT_TILE_ROWS];
    for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        query[i] = weft_token_row(first_row, first + row + i) * push.features;
        total[i] = vec4(0.0);
    }
    for (uint j = 0; j < 4; j++) {
        key[j] = weft_token_row(first_row, first + column + j) * push.features;
    }
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        uint whole = block + (end - block) / 4 * 4;
        vec4 sum[WEFT_TILE_ROWS];
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            sum[i] = vec4(0.0);
        }
        for (uint f = block; f < whole; f += 4) {
            vec4 k0 = weft_key_four(key[0] + f);
            vec4 k1 = weft_key_four(key[1] + f);
            vec4 k2 = weft_key_four(key[2] + f);
            vec4 k3 = weft_key_four(key[3] + f);
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                vec4 q = weft_query_four(query[i] + f);
                sum[i] = weft_multiply_add(q.x, vec4(k0.x, k1.x, k2.x, k3.x), sum[i]);
                sum[i] = weft_multiply_add(q.y, vec4(k0.y, k1.y, k2.y, k3.y), sum[i]);
                sum[i] = weft_multiply_add(q.z, vec4(k0.z, k1.z, k2.z, k3.z), sum[i]);
                sum[i] = weft_multiply_add(q.w, vec4(k0.w, k1.w, k2.w, k3.w), sum[i]);
            }
        }
        for (uint f = whole; f < end; f++) {
            vec4 k = vec4(weft_key(key[0] + f), weft_key(key[1] + f), weft_key(key[2] + f),
                          weft_key(key[3] + f));
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                sum[i] = weft_multiply_add(weft_query(query[i] + f), k, sum[i]);
            }
        }
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            total[i] = total[i] + sum[i];
        }
    }
    for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        for (uint j = 0; j < 4; j++) {
            if (column + j <= row + i) {
                weft_scores[weft_score_row(row + i) + column + j] = total[i][j];
            }
        }
    }
}

#endif
