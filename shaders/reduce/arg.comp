#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Where the largest of x [outer, extent, inner] are: of each block [outer, blocks, inner] the index along the axis, the first of
// equal ones. HAS_CANDIDATES: only those of the blocks of `candidates` [outer, extent, inner], and x is [outer, whole, inner].

#include "compare.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const bool SMALLEST = false;
layout(constant_id = 1) const bool INTEGER = false;
layout(constant_id = 2) const bool HAS_CANDIDATES = false;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) readonly buffer Candidates { uint candidates[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint whole;  // extent of the axis of x
    uint extent; // of what is gone through
    uint inner;
    uint block;
    uint blocks;
} push;

// A NaN is the largest, and the smallest.
uint key_of(uint word)
{
    if (INTEGER) {
        return SMALLEST ? ~(word ^ WEFT_BITS_SIGN) : word ^ WEFT_BITS_SIGN;
    }
    uint key = weft_value_key(uintBitsToFloat(word));
    return weft_is_nan(word) ? 0xffffffffu : SMALLEST ? ~key : key;
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
        uint best = 0u;
        uint best_key = 0u;
        for (uint i = first; i < end; i++) {
            uint index = HAS_CANDIDATES ? candidates[(outer * push.extent + i) * push.inner + column] : i;
            uint key = key_of(x[(outer * push.whole + index) * push.inner + column]);
            bool better = i == first || key > best_key;
            best = better ? index : best;
            best_key = better ? key : best_key;
        }
        result[item] = best;
    }
}
