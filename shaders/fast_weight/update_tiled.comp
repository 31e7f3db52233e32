#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// What update.comp computes, in the same order, through tiles in shared memory: for GPUs. A workgroup makes 64 columns of a
// chunk's rows.

#include "index.glsl"
#include "chunk_tiles.glsl"

layout(local_size_x = 128) in;

#define WEFT_TILED
#include "update.glsl"

float weft_query(uint index)
{
    return w[index];
}

vec4 weft_query_four(uint index)
{
    return w4[index / 4];
}

#include "chunk_state_tiles.glsl"

void store(uint base, uint column, vec4 taken)
{
    if (column >= push.values) {
        return;
    }
    if (VECTOR_VALUES != 0) {
        vec4 x = u4[(base + column) / 4] - taken;
        u4[(base + column) / 4] = vec4(weft_flush(x.x), weft_flush(x.y), weft_flush(x.z), weft_flush(x.w));
        return;
    }
    [[unroll]] for (uint t = 0; t < 4; t++) {
        if (column + t < push.values) {
            u[base + column + t] = weft_flush(u[base + column + t] - taken[t]);
        }
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint column_blocks = (push.values + WEFT_CHUNK - 1) / WEFT_CHUNK;
    uint tiles = (push.values + 3) / 4 * ((push.n + WEFT_TILE_ROWS - 1) / WEFT_TILE_ROWS);
    uint chunk = group / column_blocks % push.chunks;
    uint head = group / (column_blocks * push.chunks); // of all batches
    if (head >= push.count / tiles || chunk == 0) {
        return; // the whole group: no barrier is missed. At first S is 0
    }
    uint first_column = group % column_blocks * WEFT_CHUNK;
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    uint first = chunk * WEFT_CHUNK;
    uint state_base = (head * push.chunks + chunk) * (push.features * push.values);
    vec4 total[WEFT_TILE_ROWS];
    weft_begin_tile(total);
    weft_add_state(total, first_row, first, state_base, first_column);
    [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        uint token = first + weft_own_row() + i;
        if (token < push.n) {
            store(weft_token_row(first_row, token) * push.values, first_column + weft_own_column(), total[i]);
        }
    }
}
