#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The state of every chunk of keys: state[f, t] = Σ_i features[i, f] values[i, t] over its tokens, and with
// ONES, behind it, Σ_i features[i, f]. Laid out [batch, heads, chunks, features (values + ONES)].

#include "index.glsl"
#include "linear_attention.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

#include "state.glsl"

// Features first … first + 3 of a token; past the last one, others.
vec4 load_features(uint base, uint first)
{
    if (VECTOR_FEATURES != 0) {
        return features4[(base + min(first, push.features - 4)) / 4];
    }
    uvec4 index = base + min(first + uvec4(0, 1, 2, 3), uvec4(push.features - 1));
    return vec4(features[index.x], features[index.y], features[index.z], features[index.w]);
}

vec4 load_values(uint base, uint first)
{
    if (ONES != 0 && first >= push.values) {
        return vec4(1.0);
    }
    if (VECTOR_VALUES != 0) {
        return values4[(base + first) / 4];
    }
    uvec4 index = base + min(first + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(values[index.x], values[index.y], values[index.z], values[index.w]);
}

void store(uint base, uint row, uint column, vec4 sum)
{
    if (row >= push.features) {
        return;
    }
    if (column >= push.values) {
        state[base + push.features * push.values + row] = weft_flush(sum.x);
        return;
    }
    uint end = min(column + 4, push.values);
    for (uint t = column; t < end; t++) {
        state[base + row * push.values + t] = weft_flush(sum[t - column]);
    }
}

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint column_tiles = (push.values + 3) / 4 + ONES;
    uint row_tiles = (push.features + WEFT_TILE_ROWS - 1) / WEFT_TILE_ROWS;
    // The sums of the features come behind the last tile of values, also where that is not full.
    uint column_tile = item % column_tiles;
    uint column = ONES != 0 && column_tile == column_tiles - 1 ? push.values : column_tile * 4;
    uint row = item / column_tiles % row_tiles * WEFT_TILE_ROWS;
    uint part = item / (column_tiles * row_tiles); // chunks of all heads
    uint chunk = part % push.chunks;
    uint head = part / push.chunks % push.heads;
    uint first_token = part / (push.chunks * push.heads) * push.n;
    uint end = min((chunk + 1) * push.chunk, push.n);

    vec4 total[WEFT_TILE_ROWS];
    for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        total[i] = vec4(0.0);
    }
    for (uint block = chunk * push.chunk; block < end; block += WEFT_TERMS) {
        vec4 sum[WEFT_TILE_ROWS];
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            sum[i] = vec4(0.0);
        }
        uint block_end = min(block + WEFT_TERMS, end);
        for (uint token = block; token < block_end; token++) {
            uint index = (first_token + token) * push.heads + head;
            vec4 low = load_features(index * push.features, row);
            vec4 high = load_features(index * push.features, row + 4);
            vec4 y = load_values(index * push.values, column);
            for (uint i = 0; i < 4; i++) {
                sum[i] = weft_multiply_add(low[i], y, sum[i]);
                sum[i + 4] = weft_multiply_add(high[i], y, sum[i + 4]);
            }
        }
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            total[i] = total[i] + sum[i];
        }
    }
    uint base = part * (push.features * (push.values + ONES));
    for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        store(base, row + i, column, total[i]);
    }
}
