#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Cumulative sums along the axis of x [outer, extent, inner], by blocks, each begun by what `carry` [outer, blocks, inner] has.
// form cumsum
// form cumsum_lanes WEFT_LANES
// form cumsum_fours WEFT_FOURS

#include "columns.glsl"
#include "math.glsl"

layout(constant_id = 0) const bool INTEGER = false;
layout(constant_id = 1) const bool EXCLUSIVE = false;
layout(constant_id = 2) const bool REVERSE = false;
layout(constant_id = 3) const bool HAS_CARRY = false;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 0) readonly buffer XFours { uvec4 x4[]; };
layout(std430, binding = 1) readonly buffer Carry { uint carry[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };
layout(std430, binding = 2) writeonly buffer ResultFours { uvec4 result4[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint extent;
    uint inner;
    uint block;
    uint blocks;
} push;

uint added(uint a, uint b)
{
    return INTEGER ? a + b : floatBitsToUint(weft_flush(uintBitsToFloat(a) + uintBitsToFloat(b)));
}

void cumulate_columns(uint line, uint column, uint slots)
{
    uint first = line % push.blocks * push.block;
    uint end = min(first + push.block, push.extent);
    uint base = line / push.blocks * push.extent * push.inner + column;
    uint item = line * push.inner + column;
    uint sums[WEFT_SLOTS];
    WEFT_EACH_SLOT(s, slots) {
        sums[s] = HAS_CARRY ? carry[item + s * WEFT_BETWEEN] : 0u;
    }
    for (uint i = first; i < end; i++) {
        uint at = base + (REVERSE ? first + end - 1u - i : i) * push.inner;
        WEFT_EACH_SLOT(s, slots) {
            uint next = added(sums[s], x[at + s * WEFT_BETWEEN]);
            result[at + s * WEFT_BETWEEN] = EXCLUSIVE ? sums[s] : next;
            sums[s] = next;
        }
    }
}

void cumulate_in_fours(uint item, uint first, uint fours)
{
    uint sum = HAS_CARRY ? carry[item] : 0u;
    for (uint i = 0; i < fours; i++) {
        uint at = first + (REVERSE ? fours - 1u - i : i);
        uvec4 values = REVERSE ? x4[at].wzyx : x4[at];
        uvec4 sums;
        sums.x = added(sum, values.x);
        sums.y = added(sums.x, values.y);
        sums.z = added(sums.y, values.z);
        sums.w = added(sums.z, values.w);
        uvec4 before = uvec4(sum, sums.xyz);
        uvec4 found = EXCLUSIVE ? before : sums;
        result4[at] = REVERSE ? found.wzyx : found;
        sum = sums.w;
    }
}

void main()
{
#ifdef WEFT_FOURS
    WEFT_MAKE_IN_FOURS(cumulate_columns, cumulate_in_fours, true)
#else
    WEFT_MAKE_COLUMNS(cumulate_columns)
#endif
}
