#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The words of x [sequences, …, period, step] before its sequence's length along the axis `period`, and `fill` from there on.
// Causal, of x [sequences, …, queries, period, step], query i has those of the positions 0 … i only. `x` and `result` may be the same buffer.

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(constant_id = 0) const uint HAS_LENGTHS = 1;
layout(constant_id = 1) const uint IS_CAUSAL = 0;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) readonly buffer Lengths { int lengths[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint sequence; // words of each
    uint period;
    uint step;
    uint fill;
    uint queries;
    WEFT_INVERSE(sequence)
    WEFT_INVERSE(period)
    WEFT_INVERSE(step)
    WEFT_INVERSE(queries)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        uint place = WEFT_QUOTIENT(i, step);
        uint position = WEFT_REMAINDER(place, period);
        bool is_hidden = IS_CAUSAL != 0 && position > WEFT_REMAINDER(WEFT_QUOTIENT(place, period), queries);
        if (HAS_LENGTHS != 0) {
            is_hidden = is_hidden || int(position) >= lengths[WEFT_QUOTIENT(i, sequence)];
        }
        result[i] = is_hidden ? push.fill : x[i];
    }
}
