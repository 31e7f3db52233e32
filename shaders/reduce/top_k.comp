#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Where the first `kept` elements of x [outer, extent, inner] along the axis are, once they are sorted: the largest first, or the
// smallest, and equal ones in the order that they have. An invocation has an element, and counts those before it.

#include "compare.glsl"
#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(constant_id = 0) const bool SMALLEST = false;
layout(constant_id = 1) const bool INTEGER = false;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint extent;
    WEFT_INVERSE(extent)
    uint inner;
    WEFT_INVERSE(inner)
    uint kept;
} push;

// A NaN is larger than all numbers.
uint key_of(uint word)
{
    uint key = INTEGER             ? word ^ WEFT_BITS_SIGN
               : weft_is_nan(word) ? 0xffffffffu
                                   : weft_value_key(uintBitsToFloat(word));
    return SMALLEST ? ~key : key;
}

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint line = WEFT_QUOTIENT(i, inner);
    uint outer = WEFT_QUOTIENT(line, extent);
    uint own = line - outer * push.extent;
    uint column = i - line * push.inner;
    uint first = outer * push.extent * push.inner + column;
    uint key = key_of(x[i]);
    uint before = 0u;
    for (uint other = 0u; other < push.extent; other++) {
        uint found = key_of(x[first + other * push.inner]);
        before += found > key || (found == key && other < own) ? 1u : 0u;
    }
    if (before < push.kept) {
        result[(outer * push.kept + before) * push.inner + column] = own;
    }
}
