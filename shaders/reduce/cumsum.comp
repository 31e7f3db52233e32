#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Cumulative sums along the axis of x [outer, extent, inner], by blocks, each begun by what `carry` [outer, blocks, inner] has.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const bool INTEGER = false;
layout(constant_id = 1) const bool EXCLUSIVE = false;
layout(constant_id = 2) const bool REVERSE = false;
layout(constant_id = 3) const bool HAS_CARRY = false;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) readonly buffer Carry { uint carry[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };

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

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item < push.count) {
        uint column = item % push.inner;
        uint rest = item / push.inner;
        uint outer = rest / push.blocks;
        uint first = rest % push.blocks * push.block;
        uint end = min(first + push.block, push.extent);
        uint sum = HAS_CARRY ? carry[item] : 0u;
        for (uint i = first; i < end; i++) {
            uint at = (outer * push.extent + (REVERSE ? first + end - 1u - i : i)) * push.inner + column;
            uint next = added(sum, x[at]);
            result[at] = EXCLUSIVE ? sum : next;
            sum = next;
        }
    }
}
