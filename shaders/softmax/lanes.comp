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

uint key_at(uint row, uint c)
{
    return weft_order_key(x[row * push.columns + c]);
}

WEFT_ROW_LARGEST(largest_key, key_at)

float make_exponential(uint row, uint c, float largest)
{
    uint at = row * push.columns + c;
    float value = weft_exp(x[at] - largest);
    result[at] = value;
    return value;
}

WEFT_ROW_SUM(exponentials, make_exponential)

void scale_at(uint row, uint c, float scale)
{
    uint at = row * push.columns + c;
    result[at] = weft_flush(result[at] * scale);
}

WEFT_ROW_EACH(scale_row, scale_at)

void main()
{
    uint at_once = weft_rows_at_once(push.columns);
    uint first = weft_group_index(push.groups_x) * at_once;
    if (first >= push.rows) {
        return;
    }
    uint rows = min(push.rows - first, at_once);
    for (uint r = 0; r < rows; r++) {
        weft_keep_part(r, largest_key(first + r, push.columns, WEFT_LEAST_KEY));
    }
    barrier();
    weft_of_rows[gl_LocalInvocationIndex] = weft_largest_of_own_row(rows);
    barrier();
    for (uint r = 0; r < rows; r++) {
        weft_keep_part(r, floatBitsToUint(exponentials(first + r, push.columns, weft_of_rows[r])));
    }
    barrier();
    weft_of_rows[gl_LocalInvocationIndex] = weft_rcp(weft_sum_of_own_row(rows));
    barrier();
    for (uint r = 0; r < rows; r++) {
        scale_row(first + r, push.columns, weft_of_rows[r]);
    }
}
