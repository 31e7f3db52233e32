// SPDX-License-Identifier: MIT
/*
 * What a compiler has to keep apart around barriers: words that invocations exchange in place; what an invocation has worked out
 * before a barrier and needs behind it; and a matrix turned through a tile in shared memory, by workgroups of which some leave at
 * once and some have less than a tile to do. The host knows every word, and which stay as they were.
 */
#version 450

#define TILE 8u

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Cases {
    uint cases[]; // [rows][columns], then [groups][64]: floats
};
layout(std430, set = 0, binding = 1) buffer Results {
    uint results[]; // [columns][rows], then [groups][64] exchanged, then [groups][64] negated
};
layout(push_constant) uniform Parameters {
    uint rows, columns, groups;
};

shared uint line[64];
shared uint tile[TILE][TILE + 1u];

void main() {
    uint group = gl_WorkGroupID.x;
    if (group >= groups) {
        return; // of a whole workgroup
    }
    uint i = gl_LocalInvocationID.x;
    uint lane = i % TILE;
    uint at = rows * columns + group * 64u + i;
    uint down = (rows + TILE - 1u) / TILE;
    uint first_row = group % down * TILE;
    uint first_column = group / down * TILE;
    uint row = first_row + i / TILE;
    uint column = first_column + lane;
    precise float negated = -uintBitsToFloat(cases[at]);
    line[i] = cases[at];
    if (row < rows && column < columns) {
        tile[i / TILE][lane] = cases[row * columns + column];
    }
    barrier();
    uint other = line[63u - i];
    barrier();
    line[i] = other + i;
    barrier();
    results[at] = line[i ^ 1u];
    results[at + groups * 64u] = floatBitsToUint(negated);
    if (first_row + lane < rows) { // a loop that some of the workgroup never enter
        for (uint k = i / TILE; k < TILE && first_column + k < columns; k += 64u / TILE) {
            results[(first_column + k) * rows + first_row + lane] = tile[lane][k];
        }
    }
}
