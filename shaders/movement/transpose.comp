#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Matrices x [matrices, rows, columns] as [matrices, columns, rows], a square tile for each workgroup:
// in shared memory, so that consecutive invocations read and write consecutive words.

#include "index.glsl"

layout(constant_id = 0) const uint FIXED_TILE = 32; // rows and columns of a tile

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint groups; // tiles of all matrices
    uint groups_x;
    uint rows;
    uint columns;
    uint across; // tiles
    uint tiles;  // of a matrix
} push;

shared uint tile[FIXED_TILE][FIXED_TILE + 1]; // the padding spreads columns over the banks

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // of a whole workgroup: a dispatch may have a few more than there are tiles
    }
    uint matrix = group / push.tiles;
    uint within = group - matrix * push.tiles;
    uint row = within / push.across * FIXED_TILE;
    uint column = within % push.across * FIXED_TILE;
    uint first = matrix * push.rows * push.columns;
    uint lane = gl_LocalInvocationID.x % FIXED_TILE;
    uint part = gl_LocalInvocationID.x / FIXED_TILE;
    for (uint k = part; k < FIXED_TILE; k += WEFT_ITEMS_PER_GROUP / FIXED_TILE) {
        if (row + k < push.rows && column + lane < push.columns) {
            tile[k][lane] = x[first + (row + k) * push.columns + column + lane];
        }
    }
    barrier();
    for (uint k = part; k < FIXED_TILE; k += WEFT_ITEMS_PER_GROUP / FIXED_TILE) {
        if (column + k < push.columns && row + lane < push.rows) {
            result[first + (column + k) * push.rows + row + lane] = tile[lane][k];
        }
    }
}
