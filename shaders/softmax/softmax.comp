#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax over the last axis: a workgroup per row. An invocation reads back only elements of
// `result` that it wrote itself.

#include "index.glsl"
#include "math.glsl"

layout(constant_id = 0) const uint KEPT = 0;

#include "row_keep.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
} push;

// The exponential of an element, kept in its place; `x` and `result` may be the same buffer.
float weft_make_exponential(uint at, uint turn, float largest)
{
    if (KEPT != 0) {
        weft_kept[turn] = weft_exp(weft_kept[turn] - largest);
        return weft_kept[turn];
    }
    float value = weft_exp(x[at] - largest);
    result[at] = value;
    return value;
}

float weft_exponential(uint at, uint turn)
{
    if (KEPT != 0) {
        return weft_kept[turn];
    }
    return result[at];
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    uint base = row * push.columns;
    uint turns = weft_turns(push.columns);
    float own_max = uintBitsToFloat(0xff800000u); // -inf
    for (uint turn = 0; turn < turns; turn++) {
        uint c = weft_turn_column(turn);
        if (c < push.columns) {
            float value = x[base + c];
            if (KEPT != 0) {
                weft_kept[turn] = value;
            }
            own_max = weft_larger(own_max, value);
        }
    }
    float largest = weft_group_max(own_max);
    weft_partial own_sum = weft_partial_zero();
    for (uint turn = 0; turn < turns; turn++) {
        uint c = weft_turn_column(turn);
        if (c < push.columns) {
            own_sum = weft_partial_add(own_sum, weft_make_exponential(base + c, turn, largest));
        }
    }
    float scale = weft_rcp(weft_group_sum(weft_partial_sum(own_sum)));
    for (uint turn = 0; turn < turns; turn++) {
        uint c = weft_turn_column(turn);
        if (c < push.columns) {
            result[base + c] = weft_flush(weft_exponential(base + c, turn) * scale);
        }
    }
}
