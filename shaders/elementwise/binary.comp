#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// a ∘ b on every element; b is repeated when it is shorter. KIND: one of the first four of weft_binary;
// broadcast.comp has all.

#include "calculate.glsl"
#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint KIND = 0;
layout(constant_id = 1) const uint B_IS = 0; // as long as a; 1: a single element; 2: repeated; 3: so, by rows of b

layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint b_count;
    WEFT_INVERSE(b_count)
} push;

void store(uint i, uint place)
{
    result[i] = weft_flush(weft_calculate(KIND, a[i], b[place]));
}

void main()
{
    if (B_IS == 3) {
        uvec2 own = weft_row_item(push.groups_x, push.b_count);
        uint i = own.y * push.b_count + own.x;
        if (own.x < push.b_count && i < push.count) {
            store(i, own.x);
        }
    } else {
        uint i = weft_item_index(push.groups_x);
        if (i < push.count) {
            store(i, B_IS == 0 ? i : B_IS == 1 ? 0 : WEFT_REMAINDER(i, b_count));
        }
    }
}
