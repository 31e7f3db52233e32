#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Where the largest of x [outer, extent, inner] are: of each block [outer, blocks, inner] the index along the axis, the first of
// equal ones. HAS_CANDIDATES: only those of the blocks of `candidates` [outer, extent, inner], and x is [outer, whole, inner].
// form arg
// form arg_fours WEFT_FOURS

#include "columns.glsl"
#include "compare.glsl"

layout(constant_id = 0) const bool SMALLEST = false;
layout(constant_id = 1) const bool INTEGER = false;
layout(constant_id = 2) const bool HAS_CANDIDATES = false;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 0) readonly buffer XFours { uvec4 x4[]; };
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

void find_in_block(uint line, uint column, uint slots)
{
    uint outer = line / push.blocks;
    uint first = line % push.blocks * push.block;
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
    result[line * push.inner + column] = best;
}

// No key is less than 0, which the first of a block begins with.
void find_in_fours(uint item, uint first, uint fours)
{
    uint best = 0u;
    uint best_key = 0u;
    for (uint i = 0; i < fours; i++) {
        uvec4 words = x4[first + i];
        for (uint j = 0; j < 4; j++) {
            uint key = key_of(words[j]);
            best = key > best_key ? 4 * i + j : best;
            best_key = max(key, best_key);
        }
    }
    result[item] = item % push.blocks * push.block + best;
}

void main()
{
#ifdef WEFT_FOURS
    WEFT_MAKE_IN_FOURS(find_in_block, find_in_fours, !HAS_CANDIDATES)
#else
    WEFT_MAKE_COLUMNS(find_in_block)
#endif
}
