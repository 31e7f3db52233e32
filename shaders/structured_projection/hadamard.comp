#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Products with stacked blocks of Walsh-Hadamard matrices and diagonals, whose parts are as
// weft_features_structure has them. A unit is one row of x times one block: a workgroup has one of
// them, or several short ones, in shared memory. Every transform is followed by the factor 2^-(p/2),
// rounded down, which is exact: numbers stay as large as those of x however many factors there are.

#include "index.glsl"
#include "math.glsl"

#define GROUP WEFT_ITEMS_PER_GROUP
#define MOST 32 // elements of an invocation: 4096 / 128

// Numbers of weft_features_kind.
#define S_HYBRID 4
#define FASTFOOD 5

layout(local_size_x = GROUP) in;
layout(constant_id = 0) const uint KIND = 2;
layout(constant_id = 1) const uint SIZE = 1; // of a block: a power of two
layout(constant_id = 2) const uint TILE = 512; // elements of a workgroup: a multiple of SIZE and GROUP

layout(std430, binding = 0) readonly buffer X { float x[]; };                 // [rows, width]
layout(std430, binding = 1) readonly buffer Diagonals { float diagonals[]; }; // [blocks, count, SIZE]
layout(std430, binding = 2) readonly buffer Permutation { int permutation[]; }; // FASTFOOD: [blocks, SIZE]
layout(std430, binding = 3) writeonly buffer Result { float result[]; };      // [rows, features]

layout(push_constant) uniform Push
{
    uint groups;
    uint width;
    uint groups_x;
    uint units; // rows * blocks
    uint blocks;
    uint diagonal_count;
    uint features;
    float step;  // 2^-(p/2)
    float scale; // the rest
} push;

shared float tile[TILE];

// The block of the unit that an element of the tile belongs to.
uint block_of(uint unit)
{
    return unit % push.blocks;
}

float diagonal(uint unit, uint index, uint at)
{
    return diagonals[(block_of(unit) * push.diagonal_count + index) * SIZE + at];
}

// The Walsh-Hadamard transforms of all units, two stages at a time.
void transform()
{
    uint half_size = 1;
    if ((findMSB(SIZE) & 1) != 0) {
        for (uint i = gl_LocalInvocationID.x; i < TILE / 2; i += GROUP) {
            float a = tile[2 * i];
            float b = tile[2 * i + 1];
            tile[2 * i] = a + b;
            tile[2 * i + 1] = a - b;
        }
        barrier();
        half_size = 2;
    }
    for (; half_size < SIZE; half_size *= 4) {
        for (uint i = gl_LocalInvocationID.x; i < TILE / 4; i += GROUP) {
            uint at = i / half_size * (4 * half_size) + i % half_size;
            float a = tile[at];
            float b = tile[at + half_size];
            float c = tile[at + 2 * half_size];
            float d = tile[at + 3 * half_size];
            float a_b = a + b;
            float c_d = c + d;
            tile[at] = a_b + c_d;
            tile[at + 2 * half_size] = a_b - c_d;
            a_b = a - b;
            c_d = c - d;
            tile[at + half_size] = a_b + c_d;
            tile[at + 3 * half_size] = a_b - c_d;
        }
        barrier();
    }
}

// Rows of x times the first diagonal, with zeros behind them and in units that there are not.
void load(uint first_unit)
{
    for (uint i = gl_LocalInvocationID.x; i < TILE; i += GROUP) {
        uint unit = first_unit + i / SIZE;
        uint at = i % SIZE;
        float value = 0.0;
        if (unit < push.units && at < push.width) {
            value = diagonal(unit, 0u, at) * x[unit / push.blocks * push.width + at];
        }
        tile[i] = value;
    }
    barrier();
}

void multiply(uint first_unit, uint index)
{
    for (uint i = gl_LocalInvocationID.x; i < TILE; i += GROUP) {
        uint unit = first_unit + i / SIZE;
        if (unit < push.units) {
            tile[i] = diagonal(unit, index, i % SIZE) * (push.step * tile[i]);
        }
    }
    barrier();
}

// v_i = u_permutation[i]; an index outside of the unit gives NaN, so that it cannot go unnoticed.
void permute(uint first_unit)
{
    float held[MOST];
    for (uint k = 0; k < TILE / GROUP; k++) {
        uint i = k * GROUP + gl_LocalInvocationID.x;
        uint unit = first_unit + i / SIZE;
        held[k] = 0.0;
        if (unit < push.units) {
            uint source = uint(permutation[block_of(unit) * SIZE + i % SIZE]);
            held[k] = source < SIZE ? tile[i / SIZE * SIZE + source] : uintBitsToFloat(0x7fc00000u);
        }
    }
    barrier();
    for (uint k = 0; k < TILE / GROUP; k++) {
        tile[k * GROUP + gl_LocalInvocationID.x] = held[k];
    }
    barrier();
}

// Element `at` of a block is its row at * stride + offset.
void store(uint first_unit, uint stride, uint offset)
{
    for (uint i = gl_LocalInvocationID.x; i < TILE; i += GROUP) {
        uint unit = first_unit + i / SIZE;
        uint at = i % SIZE;
        uint feature = block_of(unit) * (SIZE * stride) + at * stride + offset;
        if (unit < push.units && feature < push.features) {
            float value = push.step * tile[i];
            if (KIND == FASTFOOD) {
                value = diagonal(unit, 2u, at) * value;
            }
            result[unit / push.blocks * push.features + feature] = weft_flush(push.scale * value);
        }
    }
}

// The two rows of each complex one, from the same product of the factors before.
void finish_hybrid(uint first_unit)
{
    float held[MOST];
    for (uint k = 0; k < TILE / GROUP; k++) {
        held[k] = tile[k * GROUP + gl_LocalInvocationID.x];
    }
    for (uint part = 0; part < 2; part++) {
        for (uint k = 0; k < TILE / GROUP; k++) {
            tile[k * GROUP + gl_LocalInvocationID.x] = held[k];
        }
        barrier();
        multiply(first_unit, push.diagonal_count - 2 + part);
        transform();
        store(first_unit, 2u, part);
        barrier();
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint first_unit = group * (TILE / SIZE);
    load(first_unit);
    transform();
    if (KIND == FASTFOOD) {
        permute(first_unit);
        multiply(first_unit, 1u);
        transform();
        store(first_unit, 1u, 0u);
        return;
    }
    uint factors = KIND == S_HYBRID ? push.diagonal_count - 2 : push.diagonal_count;
    for (uint index = 1; index < factors; index++) {
        multiply(first_unit, index);
        transform();
    }
    if (KIND == S_HYBRID) {
        finish_hybrid(first_unit);
    } else {
        store(first_unit, 1u, 0u);
    }
}
