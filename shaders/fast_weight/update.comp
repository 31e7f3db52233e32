#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// U ← U - W S: what the tokens of a chunk write, given the state S at its start. An invocation has 8
// tokens of a head and 4 columns.

#include "index.glsl"
#include "linear_attention.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

#include "update.glsl"

vec4 load_w(uint index)
{
    if (VECTOR_FEATURES != 0) {
        return w4[index / 4];
    }
    return vec4(w[index], w[index + 1], w[index + 2], w[index + 3]);
}

vec4 load_state(uint base, uint feature, uint column)
{
    uint row = base + feature * push.values;
    if (VECTOR_VALUES != 0 && VECTOR_FEATURES != 0) {
        return state4[(row + column) / 4];
    }
    uvec4 index = row + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(state[index.x], state[index.y], state[index.z], state[index.w]);
}

void store(uint row, uint column, vec4 taken)
{
    uint base = row * push.values;
    uint end = min(column + 4, push.values);
    for (uint t = column; t < end; t++) {
        u[base + t] = weft_flush(u[base + t] - taken[t - column]);
    }
}

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint column_tiles = (push.values + 3) / 4;
    uint row_tiles = (push.n + WEFT_TILE_ROWS - 1) / WEFT_TILE_ROWS;
    uint column = item % column_tiles * 4;
    uint token = item / column_tiles % row_tiles * WEFT_TILE_ROWS;
    uint head = item / (column_tiles * row_tiles); // of all batches
    uint chunk = token / WEFT_CHUNK;
    if (chunk == 0) {
        return; // S is 0
    }
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    uint state_base = (head * push.chunks + chunk) * (push.features * push.values);

    uint row[WEFT_TILE_ROWS];
    vec4 total[WEFT_TILE_ROWS];
    for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        row[i] = first_row + min(token + i, push.n - 1) * push.heads;
        total[i] = vec4(0.0);
    }
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        uint whole = block + (end - block) / 4 * 4;
        vec4 sum[WEFT_TILE_ROWS];
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            sum[i] = vec4(0.0);
        }
        for (uint f = block; f < whole; f += 4) {
            vec4 s0 = load_state(state_base, f, column);
            vec4 s1 = load_state(state_base, f + 1, column);
            vec4 s2 = load_state(state_base, f + 2, column);
            vec4 s3 = load_state(state_base, f + 3, column);
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                vec4 x = load_w(row[i] * push.features + f);
                sum[i] = weft_multiply_add(x.x, s0, sum[i]);
                sum[i] = weft_multiply_add(x.y, s1, sum[i]);
                sum[i] = weft_multiply_add(x.z, s2, sum[i]);
                sum[i] = weft_multiply_add(x.w, s3, sum[i]);
            }
        }
        for (uint f = whole; f < end; f++) {
            vec4 s = load_state(state_base, f, column);
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                sum[i] = weft_multiply_add(w[row[i] * push.features + f], s, sum[i]);
            }
        }
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            total[i] = total[i] + sum[i];
        }
    }
    for (uint i = 0; i < WEFT_TILE_ROWS && token + i < push.n; i++) {
        store(row[i], column, total[i]);
    }
}
