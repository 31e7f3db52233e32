#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What update.comp computes, for processors: lanes along the columns of U. A workgroup is one subgroup, which makes a chunk.

#include "index.glsl"
#include "lanes_tile.glsl"
#include "linear_attention.glsl"

#define WEFT_LANES
#include "update.glsl"

float weft_query(uint index)
{
    return w[index];
}

#include "lanes_state.glsl"

void store(uint at, float taken)
{
    u[at] = weft_flush(u[at] - taken);
}

// Takes four tokens' numbers from the column, where it is `own`, and, if there are two, from the one TILE_LANES further.
void store_tile(weft_lanes_tile taken, uvec4 rows, uint token, uint column, bool two, bool own)
{
    for (uint i = 0; i < WEFT_LANES_ROWS && token + i < push.n; i++) {
        uint at = rows[i] * push.values + column;
        if (own) {
            store(at, taken.low[i]);
        }
        if (two) {
            store(at + TILE_LANES, taken.high[i]);
        }
    }
}

void make_tile(uint state_base, uint first_row, uint token, uint column, bool two, bool own)
{
    uvec4 rows = weft_token_rows(first_row, token);
    store_tile(weft_read_state(state_base, rows * push.features, column, two), rows, token, column, two, own);
}

// The same of four columns.
void make_tiles(uint state_base, uint first_row, uint token, uint column)
{
    uvec4 rows = weft_token_rows(first_row, token);
    weft_lanes_pair taken = weft_read_states(state_base, rows * push.features, column);
    store_tile(taken.left, rows, token, column, true, true);
    store_tile(taken.right, rows, token, column + 2 * TILE_LANES, true, true);
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    uint group = weft_group_index(push.groups_x);
    uint tiles = (push.values + 3) / 4 * ((push.n + WEFT_TILE_ROWS - 1) / WEFT_TILE_ROWS);
    uint head = group / push.chunks; // of all batches
    uint chunk = group % push.chunks;
    if (head >= push.count / tiles || chunk == 0) {
        return; // before the first chunk S is 0
    }
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    uint base = (head * push.chunks + chunk) * (push.features * push.values);
    uint end = min((chunk + 1) * WEFT_CHUNK, push.n);
    for (uint token = chunk * WEFT_CHUNK; token < end; token += WEFT_LANES_ROWS) {
        uint column = 0;
        for (; WEFT_LANES_WIDE && column + 4 * TILE_LANES <= push.values; column += 4 * TILE_LANES) {
            make_tiles(base, first_row, token, column + lane);
        }
        for (; column + 2 * TILE_LANES <= push.values; column += 2 * TILE_LANES) {
            make_tile(base, first_row, token, column + lane, true, true);
        }
        for (; column < push.values; column += TILE_LANES) {
            if (push.values >= TILE_LANES) { // all lanes run, some for columns that have been made
                uint last = min(column, push.values - TILE_LANES);
                make_tile(base, first_row, token, last + lane, false, last + lane >= column);
            } else if (lane < push.values) {
                make_tile(base, first_row, token, lane, false, true);
            }
        }
    }
}
