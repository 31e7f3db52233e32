#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// What state.comp computes, in the same order, through tiles in shared memory: for GPUs. A workgroup makes 64 features times
// 64 values of a chunk's state; that of the first values also has the features' sums.

#include "index.glsl"
#include "chunk_tiles.glsl"

layout(local_size_x = 128) in;

#define WEFT_TILED
#include "state.glsl"

// Four of a token, from `first` on; past the last one, others.
vec4 load_features(uint token, uint first)
{
    uint base = token * push.features;
    if (VECTOR_FEATURES != 0) {
        return features4[(base + min(first, push.features - 4)) / 4];
    }
    uvec4 index = base + min(first + uvec4(0, 1, 2, 3), uvec4(push.features - 1));
    return vec4(features[index.x], features[index.y], features[index.z], features[index.w]);
}

vec4 load_values(uint token, uint first)
{
    uint base = token * push.values;
    if (VECTOR_VALUES != 0) {
        return values4[(base + min(first, push.values - 4)) / 4];
    }
    uvec4 index = base + min(first + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(values[index.x], values[index.y], values[index.z], values[index.w]);
}

void store(uint base, uint row, uint column, vec4 sum)
{
    vec4 x = vec4(weft_flush(sum.x), weft_flush(sum.y), weft_flush(sum.z), weft_flush(sum.w));
    if (row >= push.features || column >= push.values) {
        return;
    }
    // With the features' sums behind a state, the next one is aligned where those are whole fours.
    if (VECTOR_VALUES != 0 && (ONES == 0 || VECTOR_FEATURES != 0)) {
        state4[(base + row * push.values + column) / 4] = x;
        return;
    }
    [[unroll]] for (uint t = 0; t < 4; t++) {
        if (column + t < push.values) {
            state[base + row * push.values + column + t] = x[t];
        }
    }
}

// Of the features first … first + 63 the one of this invocation.
float add_features(float sum)
{
    uint lane = gl_LocalInvocationID.x;
    [[unroll]] for (uint t = 0; t < WEFT_DEPTH; t++) {
        sum = weft_multiply_add(weft_tile_rows[t * WEFT_TILE_PITCH + lane / 4][lane % 4], 1.0, sum);
    }
    return sum;
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint column_blocks = (push.values + WEFT_CHUNK - 1) / WEFT_CHUNK;
    uint row_blocks = (push.features + WEFT_CHUNK - 1) / WEFT_CHUNK;
    uint tiles = ((push.values + 3) / 4 + ONES) * ((push.features + WEFT_TILE_ROWS - 1) / WEFT_TILE_ROWS);
    uint part = group / (column_blocks * row_blocks); // chunks of all heads
    if (part >= push.count / tiles) {
        return; // the whole group: no barrier is missed
    }
    uint first_row = group / column_blocks % row_blocks * WEFT_CHUNK;
    uint first_column = group % column_blocks * WEFT_CHUNK;
    uint chunk = part % push.chunks;
    uint head = part / push.chunks % push.heads;
    uint first_token = part / (push.chunks * push.heads) * push.n + chunk * push.chunk;
    uint tokens = min(push.chunk, push.n - chunk * push.chunk);
    bool has_ones = ONES != 0 && first_column == 0 && gl_LocalInvocationID.x < WEFT_CHUNK;

    vec4 total[WEFT_TILE_ROWS];
    vec4 sum[WEFT_TILE_ROWS];
    weft_begin_tile(total);
    weft_begin_tile(sum);
    float ones = 0.0;
    float ones_sum = 0.0;
    for (uint first = 0; first < tokens; first += WEFT_DEPTH) {
        vec4 x[WEFT_TILE_LOADS];
        vec4 y[WEFT_TILE_LOADS];
        [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
            uint token = first + weft_along_term(i);
            uint row = (first_token + min(token, tokens - 1)) * push.heads + head;
            x[i] = load_features(row, first_row + weft_own_column());
            y[i] = load_values(row, first_column + weft_own_column());
            x[i] = token < tokens ? x[i] : vec4(-0.0); // chunk_tiles.glsl
            y[i] = token < tokens ? y[i] : vec4(0.0);
        }
        weft_put_rows_along(x);
        weft_put_columns_along(y);
        barrier();
        weft_add_tiles(sum, weft_own_row(), weft_own_column());
        if (has_ones) {
            ones_sum = add_features(ones_sum);
        }
        if ((first + WEFT_DEPTH) % WEFT_TERMS == 0 || first + WEFT_DEPTH >= tokens) {
            ones = ones + ones_sum;
            ones_sum = 0.0;
        }
        weft_end_tile(total, sum, first + WEFT_DEPTH, tokens);
        barrier();
    }
    uint base = part * (push.features * (push.values + ONES));
    [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        store(base, first_row + weft_own_row() + i, first_column + weft_own_column(), total[i]);
    }
    uint feature = first_row + gl_LocalInvocationID.x;
    if (has_ones && feature < push.features) {
        state[base + push.features * push.values + feature] = weft_flush(ones);
    }
}
