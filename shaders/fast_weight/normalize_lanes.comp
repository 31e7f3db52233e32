#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What normalize.comp computes, for processors. A workgroup is one subgroup and makes as many rows: the features of a row
// have their channels along the lanes, and only the sums, whose order is one channel after the other, have the rows.

#include "activation.glsl"
#include "index.glsl"
#include "math.glsl"
#include "partial.glsl"

#define STAGED 64 // channels

layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector

layout(local_size_x_id = 17) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint groups_x;
    uint columns;
} push;

shared float staged[TILE_LANES][STAGED];
shared float sums[TILE_LANES];

float make(uint at)
{
    float feature = weft_elu1(x[at]);
    result[at] = feature;
    return feature;
}

void make_features(uint row, uint slot, uint block, uint count)
{
    uint lane = gl_LocalInvocationIndex;
    uint whole = count / TILE_LANES * TILE_LANES;
    uint base = row * push.columns + block;
    for (uint c = 0; c < whole; c += TILE_LANES) {
        staged[slot][c + lane] = make(base + c + lane);
    }
    if (whole + lane < count) {
        staged[slot][whole + lane] = make(base + whole + lane);
    }
}

void divide(uint at, float sum, bool is_zero)
{
    result[at] = is_zero ? 0.0f : weft_flush(weft_div(result[at], sum));
}

// Every invocation reads what it wrote itself.
void divide_row(uint row, float sum)
{
    uint lane = gl_LocalInvocationIndex;
    // No feature is negative, so bits below the least normal number are a sum of 0.
    bool is_zero = floatBitsToUint(sum) < 0x00800000u;
    uint whole = push.columns / TILE_LANES * TILE_LANES;
    uint base = row * push.columns;
    for (uint c = 0; c < whole; c += TILE_LANES) {
        divide(base + c + lane, sum, is_zero);
    }
    if (whole + lane < push.columns) {
        divide(base + whole + lane, sum, is_zero);
    }
}

void main()
{
    uint first = weft_group_index(push.groups_x) * TILE_LANES;
    if (first >= push.rows) {
        return; // the whole group: no barrier is missed
    }
    uint rows = min(push.rows - first, TILE_LANES);
    weft_partial partial = weft_partial_zero();
    for (uint block = 0; block < push.columns; block += STAGED) {
        uint count = min(push.columns - block, STAGED);
        for (uint slot = 0; slot < rows; slot++) {
            make_features(first + slot, slot, block, count);
        }
        barrier();
        for (uint c = 0; c < count; c++) {
            partial = weft_partial_add(partial, staged[gl_LocalInvocationIndex][c], block + c + 1);
        }
        barrier();
    }
    sums[gl_LocalInvocationIndex] = weft_partial_sum(partial);
    barrier();
    for (uint slot = 0; slot < rows; slot++) {
        divide_row(first + slot, sums[slot]);
    }
}
