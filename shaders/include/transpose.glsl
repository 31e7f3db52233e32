// SPDX-License-Identifier: MIT
//
// Matrices between two layouts through a square tile in shared memory, so that consecutive
// invocations read and write consecutive elements: target[row, position] = weft_source(row,
// position) for row < rows and position < positions, where the source is contiguous along rows.
// The including file declares the buffers, and defines weft_source and weft_put.

#ifndef WEFT_INCLUDE_TRANSPOSE_GLSL
#define WEFT_INCLUDE_TRANSPOSE_GLSL

#include "index.glsl"

layout(constant_id = 64) const uint WEFT_FIXED_TILE = 32; // rows and positions of a tile

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

shared float weft_tile[WEFT_FIXED_TILE][WEFT_FIXED_TILE + 1]; // the padding spreads columns over the banks

float weft_source(uint row, uint position);
void weft_put(uint row, uint position, float value);

// One workgroup's tile of the `rows` × `positions` elements.
void weft_transpose(uint group, uint rows, uint positions)
{
    uint across = (positions + WEFT_FIXED_TILE - 1) / WEFT_FIXED_TILE;
    uint down = (rows + WEFT_FIXED_TILE - 1) / WEFT_FIXED_TILE;
    if (group >= across * down) {
        return; // of a whole workgroup: a dispatch may have a few more than there are tiles
    }
    uint first_row = group / across * WEFT_FIXED_TILE;
    uint first_position = group % across * WEFT_FIXED_TILE;
    uint lane = gl_LocalInvocationID.x % WEFT_FIXED_TILE;
    uint part = gl_LocalInvocationID.x / WEFT_FIXED_TILE;
    for (uint k = part; k < WEFT_FIXED_TILE; k += WEFT_ITEMS_PER_GROUP / WEFT_FIXED_TILE) {
        if (first_row + lane < rows && first_position + k < positions) {
            weft_tile[k][lane] = weft_source(first_row + lane, first_position + k);
        }
    }
    barrier();
    for (uint k = part; k < WEFT_FIXED_TILE; k += WEFT_ITEMS_PER_GROUP / WEFT_FIXED_TILE) {
        if (first_row + k < rows && first_position + lane < positions) {
            weft_put(first_row + k, first_position + lane, weft_tile[lane][k]);
        }
    }
}

#endif
