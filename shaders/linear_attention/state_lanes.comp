#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What state.comp computes, for processors: lanes along the columns of the values, which are contiguous, and an element of
// the features is one scalar for all of them. A workgroup is one subgroup; it makes ROWS rows of a chunk's state, two
// registers of each at a time, or the sums of all features, which lie along the lanes then.

#include "index.glsl"
#include "lanes_tile.glsl"
#include "linear_attention.glsl"

#define WEFT_LANES
#include "state.glsl"

// Where there are 32 registers two tiles fill them, one below the other: tokens are read half as often.
#define ROWS (WEFT_LANES_WIDE ? 2u * WEFT_LANES_ROWS : uint(WEFT_LANES_ROWS))

// Rows of features and values: the first one of a chunk, the end, and from token to token.
struct Tokens
{
    uint first, end, step;
};

vec4 load_features(uint token, uint row)
{
    // Past the last ones, those again.
    if (VECTOR_FEATURES != 0) {
        return features4[token * (push.features / 4) + min(row, push.features - 4) / 4];
    }
    uvec4 index = token * push.features + min(row + uvec4(0, 1, 2, 3), uvec4(push.features - 1));
    return vec4(features[index.x], features[index.y], features[index.z], features[index.w]);
}

void store_tile(weft_lanes_tile tile, uint base, uint row, uint column, bool two, bool own)
{
    for (uint i = 0; i < WEFT_LANES_ROWS && row + i < push.features; i++) {
        uint at = base + (row + i) * push.values + column;
        if (own) {
            state[at] = weft_flush(tile.low[i]);
        }
        if (two) {
            state[at + TILE_LANES] = weft_flush(tile.high[i]);
        }
    }
}

// Of ROWS rows the column and, if there are two, the one TILE_LANES further; where `own`, they are stored.
void make_tile(Tokens tokens, uint base, uint row, uint column, bool two, bool own)
{
    weft_lanes_tile total = weft_lanes_zero();
    weft_lanes_tile lower_total = weft_lanes_zero();
    for (uint block = tokens.first; block < tokens.end; block += WEFT_TERMS * tokens.step) {
        uint end = min(block + WEFT_TERMS * tokens.step, tokens.end);
        weft_lanes_tile sum = weft_lanes_zero();
        weft_lanes_tile lower_sum = weft_lanes_zero();
        for (uint token = block; token < end; token += tokens.step) {
            uint at = token * push.values + column;
            float low = values[at];
            float high = two ? values[at + TILE_LANES] : 0.0;
            weft_lanes_step(sum, load_features(token, row), low, high, two);
            if (WEFT_LANES_WIDE) {
                weft_lanes_step(lower_sum, load_features(token, row + WEFT_LANES_ROWS), low, high,
                                two);
            }
        }
        total = weft_lanes_add(total, sum);
        lower_total = weft_lanes_add(lower_total, lower_sum);
    }
    store_tile(total, base, row, column, two, own);
    if (WEFT_LANES_WIDE) {
        store_tile(lower_total, base, row + WEFT_LANES_ROWS, column, two, own);
    }
}

void make_ones(Tokens tokens, uint base, uint feature)
{
    float total = 0.0;
    for (uint block = tokens.first; block < tokens.end; block += WEFT_TERMS * tokens.step) {
        uint end = min(block + WEFT_TERMS * tokens.step, tokens.end);
        float sum = 0.0;
        for (uint token = block; token < end; token += tokens.step) {
            sum = weft_multiply_add(features[token * push.features + feature], 1.0, sum);
        }
        total = total + sum;
    }
    state[base + push.features * push.values + feature] = weft_flush(total);
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    uint row_tiles = (push.features + ROWS - 1) / ROWS;
    uint group = weft_group_index(push.groups_x);
    uint part = group / (row_tiles + ONES); // chunks of all heads
    uint tiles = ((push.values + 3) / 4 + ONES) * ((push.features + WEFT_TILE_ROWS - 1) / WEFT_TILE_ROWS);
    if (part >= push.count / tiles) {
        return;
    }
    uint head = part / push.chunks;
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    uint chunk = part % push.chunks;
    Tokens tokens;
    tokens.step = push.heads;
    tokens.first = first_row + chunk * push.chunk * push.heads;
    tokens.end = first_row + min((chunk + 1) * push.chunk, push.n) * push.heads;
    uint base = part * (push.features * (push.values + ONES));
    uint tile = group % (row_tiles + ONES);
    if (tile == row_tiles) {
        for (uint first = 0; first < push.features; first += TILE_LANES) {
            if (first + lane < push.features) {
                make_ones(tokens, base, first + lane);
            }
        }
        return;
    }
    uint row = tile * ROWS;
    uint column = 0;
    for (; column + 2 * TILE_LANES <= push.values; column += 2 * TILE_LANES) {
        make_tile(tokens, base, row, column + lane, true, true);
    }
    if (push.values < TILE_LANES) {
        if (lane < push.values) {
            make_tile(tokens, base, row, lane, false, true);
        }
        return;
    }
    // All lanes run also where the columns end: some make columns again that have been made.
    for (; column < push.values; column += TILE_LANES) {
        uint last = min(column, push.values - TILE_LANES);
        make_tile(tokens, base, row, last + lane, false, last + lane >= column);
    }
}
