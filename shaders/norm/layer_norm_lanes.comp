#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// LayerNorm over the last axis, of x or of x + residual, on processors: what layer_norm.comp computes. `x` and `result` may
// be the same buffer.

#include "index.glsl"
#include "math.glsl"
#include "row_lanes.glsl"

layout(constant_id = 0) const uint HAS_RESIDUAL = 0;
layout(constant_id = 1) const uint HAS_NORM = 0;
layout(constant_id = 2) const uint KEPT = 0; // which is nothing to this kernel

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Residual { float residual_data[]; };
layout(std430, binding = 2) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 3) readonly buffer Beta { float beta[]; };
layout(std430, binding = 4) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
    float epsilon;
} push;

float weft_make(uint at)
{
    float value = x[at];
    if (HAS_RESIDUAL != 0) {
        value = value + residual_data[at];
    }
    result[at] = weft_flush(value);
    return value;
}

float weft_square(uint at, float mean)
{
    float centred = result[at] - mean;
    return centred * centred;
}

float weft_sum(uint base)
{
    uint whole = push.columns / WEFT_TURN * WEFT_TURN;
    float slots[SLOTS];
    for (uint slot = 0; slot < SLOTS; slot++) {
        uint column = weft_slot_column(slot);
        weft_partial own = weft_partial_zero();
        uint number = 1;
        for (uint turn = 0; turn < whole; turn += WEFT_TURN) {
            own = weft_partial_add(own, weft_make(base + turn + column), number);
            number++;
        }
        if (whole + column < push.columns) {
            own = weft_partial_add(own, weft_make(base + whole + column), number);
        }
        slots[slot] = weft_partial_sum(own);
    }
    return weft_slots_sum(slots, 0);
}

float weft_squares(uint base, float mean)
{
    uint whole = push.columns / WEFT_TURN * WEFT_TURN;
    float slots[SLOTS];
    for (uint slot = 0; slot < SLOTS; slot++) {
        uint column = weft_slot_column(slot);
        weft_partial own = weft_partial_zero();
        uint number = 1;
        for (uint turn = 0; turn < whole; turn += WEFT_TURN) {
            own = weft_partial_add(own, weft_square(base + turn + column, mean), number);
            number++;
        }
        if (whole + column < push.columns) {
            own = weft_partial_add(own, weft_square(base + whole + column, mean), number);
        }
        slots[slot] = weft_partial_sum(own);
    }
    return weft_slots_sum(slots, 1);
}

void weft_normalize(uint base, uint c, float mean, float scale)
{
    float normalized = (result[base + c] - mean) * scale;
    result[base + c] = weft_flush(normalized * gamma[c] + beta[c]);
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    uint base = row * push.columns;
    if (HAS_NORM == 0) {
        for (uint c = gl_LocalInvocationIndex; c < push.columns; c += TILE_LANES) {
            weft_make(base + c);
        }
        return;
    }
    float count = float(push.columns);
    float mean = weft_div(weft_sum(base), count);
    float variance = weft_div(weft_squares(base, mean), count);
    float scale = weft_rsqrt(variance + push.epsilon);
    uint whole = weft_whole(push.columns);
    for (uint c = 0; c < whole; c += TILE_LANES) {
        weft_normalize(base, c + gl_LocalInvocationIndex, mean, scale);
    }
    if (gl_LocalInvocationIndex < push.columns - whole) {
        weft_normalize(base, whole + gl_LocalInvocationIndex, mean, scale);
    }
}
