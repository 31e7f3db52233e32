#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Products with stacked signed circulant blocks by their definition, for short ones:
// y_i = scale sigma_i sum_j c[(i - j) mod d] x_j. An invocation makes TILE_ROWS elements of a block.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"
#include "toeplitz_rows.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };                 // [rows, d]
layout(std430, binding = 1) readonly buffer Diagonals { float diagonals[]; }; // [blocks, 2, d]
layout(std430, binding = 2) writeonly buffer Result { float result[]; };      // [rows, features]

layout(push_constant) uniform Push
{
    uint count; // rows * blocks * tiles of a block
    uint groups_x;
    uint size; // d
    uint blocks;
    uint features;
    float scale;
    WEFT_INVERSE(size)
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint d = push.size;
    uint tiles = (d - 1) / TILE_ROWS + 1;
    uint first = item % tiles * TILE_ROWS;
    uint block = item / tiles % push.blocks;
    uint row = item / tiles / push.blocks;
    uint column = block * 2 * d;
    begin_rows();
    for (uint j = 0; j < d; j += TILE_ROWS) {
        for (uint u = 0; u < TILE_ROWS; u++) {
            element[u] = x[row * d + min(j + u, d - 1)];
        }
        // Of lags modulo d: 2 TILE_ROWS multiples of d keep that positive.
        uint at = WEFT_REMAINDER(first + 2 * TILE_ROWS * d - j - (TILE_ROWS - 1), size);
        for (uint v = 0; v < 2 * TILE_ROWS - 1; v++) {
            coefficient[v] = diagonals[column + at];
            at = at + 1 < d ? at + 1 : 0;
        }
        add_block(first, j, d, false);
    }
    for (uint r = 0; r < TILE_ROWS; r++) {
        uint feature = block * d + first + r;
        if (first + r < d && feature < push.features) {
            float value = diagonals[column + d + first + r] * (total[r] + sum[r]);
            result[row * push.features + feature] = weft_flush(push.scale * value);
        }
    }
}
