#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Products with stacked signed circulant blocks by their definition, for short ones:
// y_i = scale sigma_i sum_j c[(i - j) mod d] x_j. An invocation makes TILE_ROWS elements of a block from
// blocks of TILE_ROWS elements of x, which share 2 TILE_ROWS - 1 elements of c. Products are added in order
// of j into a partial sum, which every 64 terms is added to the total.

#include "index.glsl"
#include "math.glsl"

#define CHUNK 64 // a multiple of TILE_ROWS

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 16) const uint TILE_ROWS = 8;

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
    float total[TILE_ROWS];
    float sum[TILE_ROWS];
    for (uint r = 0; r < TILE_ROWS; r++) {
        total[r] = 0.0;
        sum[r] = 0.0;
    }
    for (uint j = 0; j < d; j += TILE_ROWS) {
        float element[TILE_ROWS];
        for (uint u = 0; u < TILE_ROWS; u++) {
            element[u] = x[row * d + min(j + u, d - 1)];
        }
        // Of first - j - (TILE_ROWS - 1) …: 2 TILE_ROWS multiples of d keep that positive.
        float coefficient[2 * TILE_ROWS - 1];
        uint at = (first + 2 * TILE_ROWS * d - j - (TILE_ROWS - 1)) % d;
        for (uint v = 0; v < 2 * TILE_ROWS - 1; v++) {
            coefficient[v] = diagonals[column + at];
            at = at + 1 < d ? at + 1 : 0;
        }
        if (j + TILE_ROWS <= d) {
            for (uint u = 0; u < TILE_ROWS; u++) {
                for (uint r = 0; r < TILE_ROWS; r++) {
                    sum[r] = sum[r] + coefficient[r + (TILE_ROWS - 1) - u] * element[u];
                }
            }
        } else {
            for (uint u = 0; u < TILE_ROWS; u++) {
                for (uint r = 0; r < TILE_ROWS; r++) {
                    if (j + u < d) {
                        sum[r] = sum[r] + coefficient[r + (TILE_ROWS - 1) - u] * element[u];
                    }
                }
            }
        }
        if ((j + TILE_ROWS) % CHUNK == 0) {
            for (uint r = 0; r < TILE_ROWS; r++) {
                total[r] = total[r] + sum[r];
                sum[r] = 0.0;
            }
        }
    }
    for (uint r = 0; r < TILE_ROWS; r++) {
        uint feature = block * d + first + r;
        if (first + r < d && feature < push.features) {
            float value = diagonals[column + d + first + r] * (total[r] + sum[r]);
            result[row * push.features + feature] = weft_flush(push.scale * value);
        }
    }
}
