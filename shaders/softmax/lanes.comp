#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax over the last axis on processors: what softmax.comp computes. `x` and `result` may be the same buffer.

#include "index.glsl"
#include "math.glsl"
#include "row_lanes.glsl"

layout(constant_id = 0) const uint KEPT = 0; // which is nothing to this kernel

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
} push;

float weft_make_exponential(uint at, float largest)
{
    float value = weft_exp(x[at] - largest);
    result[at] = value;
    return value;
}

void weft_scale(uint at, float scale)
{
    result[at] = weft_flush(result[at] * scale);
}

float weft_largest(uint base)
{
    uint own = weft_order_key(uintBitsToFloat(0xff800000u)); // -inf
    uint whole = weft_whole(push.columns);
    uint lane = base + gl_LocalInvocationIndex;
    for (uint c = 0; c < whole; c += TILE_LANES) {
        own = max(own, weft_order_key(x[lane + c]));
    }
    if (gl_LocalInvocationIndex < push.columns - whole) {
        own = max(own, weft_order_key(x[lane + whole]));
    }
    return weft_lanes_max(own, 0);
}

float weft_exponentials(uint base, float largest)
{
    uint whole = push.columns / WEFT_TURN * WEFT_TURN;
    float slots[SLOTS];
    for (uint slot = 0; slot < SLOTS; slot++) {
        uint column = weft_slot_column(slot);
        weft_partial own = weft_partial_zero();
        uint number = 1;
        for (uint turn = 0; turn < whole; turn += WEFT_TURN) {
            own = weft_partial_add(own, weft_make_exponential(base + turn + column, largest), number);
            number++;
        }
        if (whole + column < push.columns) {
            own = weft_partial_add(own, weft_make_exponential(base + whole + column, largest), number);
        }
        slots[slot] = weft_partial_sum(own);
    }
    return weft_slots_sum(slots, 1);
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    uint base = row * push.columns;
    float scale = weft_rcp(weft_exponentials(base, weft_largest(base)));
    uint whole = weft_whole(push.columns);
    uint lane = base + gl_LocalInvocationIndex;
    for (uint c = 0; c < whole; c += TILE_LANES) {
        weft_scale(lane + c, scale);
    }
    if (gl_LocalInvocationIndex < push.columns - whole) {
        weft_scale(lane + whole, scale);
    }
}
