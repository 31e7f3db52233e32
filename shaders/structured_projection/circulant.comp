#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Products with stacked signed circulant blocks by their definition, for short ones:
// y_i = scale sigma_i sum_j c[(i - j) mod d] x_j. An invocation makes TILE elements of a block from
// blocks of TILE elements of x, which share 2 TILE - 1 elements of c. Products are added in order
// of j into a partial sum, which every 64 terms is added to the total.

#include "index.glsl"
#include "math.glsl"

#define TILE 8
#define CHUNK 64 // a multiple of TILE

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
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint d = push.size;
    uint tiles = (d - 1) / TILE + 1;
    uint first = item % tiles * TILE;
    uint block = item / tiles % push.blocks;
    uint row = item / tiles / push.blocks;
    uint column = block * 2 * d;
    float total[TILE];
    float sum[TILE];
    for (uint r = 0; r < TILE; r++) {
        total[r] = 0.0;
        sum[r] = 0.0;
    }
    for (uint j = 0; j < d; j += TILE) {
        float element[TILE];
        for (uint u = 0; u < TILE; u++) {
            element[u] = x[row * d + min(j + u, d - 1)];
        }
        // Of first - j - (TILE - 1) …: 2 TILE multiples of d keep that positive.
        float coefficient[2 * TILE - 1];
        uint at = (first + 2 * TILE * d - j - (TILE - 1)) % d;
        for (uint v = 0; v < 2 * TILE - 1; v++) {
            coefficient[v] = diagonals[column + at];
            at = at + 1 < d ? at + 1 : 0;
        }
        if (j + TILE <= d) {
            for (uint u = 0; u < TILE; u++) {
                for (uint r = 0; r < TILE; r++) {
                    sum[r] = sum[r] + coefficient[r + (TILE - 1) - u] * element[u];
                }
            }
        } else {
            for (uint u = 0; u < TILE; u++) {
                for (uint r = 0; r < TILE; r++) {
                    if (j + u < d) {
                        sum[r] = sum[r] + coefficient[r + (TILE - 1) - u] * element[u];
                    }
                }
            }
        }
        if ((j + TILE) % CHUNK == 0) {
            for (uint r = 0; r < TILE; r++) {
                total[r] = total[r] + sum[r];
                sum[r] = 0.0;
            }
        }
    }
    for (uint r = 0; r < TILE; r++) {
        uint feature = block * d + first + r;
        if (first + r < d && feature < push.features) {
            float value = diagonals[column + d + first + r] * (total[r] + sum[r]);
            result[row * push.features + feature] = weft_flush(push.scale * value);
        }
    }
}
