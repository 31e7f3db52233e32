// SPDX-License-Identifier: MIT
//
// Softmax of several rows: what softmax/softmax.comp computes; `x` and `result` may be the same buffer. Behind row_lanes.glsl or row_side.glsl.

#ifndef WEFT_INCLUDE_SOFTMAX_ROWS_GLSL
#define WEFT_INCLUDE_SOFTMAX_ROWS_GLSL

#include "index.glsl"
#include "math.glsl"

layout(constant_id = 0) const uint KEPT = 0; // which is nothing to this kernel

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
} push;

void note_at(inout weft_largest largest, uint row, uint c)
{
    weft_note(largest, x[weft_at(row, c, push.columns)]);
}

WEFT_ROW_LARGEST(largest_key, note_at)

float make_exponential(uint row, uint c, float largest)
{
    uint at = weft_at(row, c, push.columns);
    float value = weft_exp(x[at] - largest);
    result[at] = value;
    return value;
}

WEFT_ROW_SUM(exponentials, make_exponential)

float scaled(float value, float scale)
{
    return weft_flush(value * scale);
}

WEFT_ROW_CHANGE(scale_row, result, scaled)

void main()
{
    weft_rows rows = weft_rows_of(weft_group_index(push.groups_x), push.rows, push.columns);
    if (weft_is_idle(rows)) {
        return;
    }
    for (uint r = 0; r < rows.count; r++) {
        weft_keep_part(r, largest_key(rows.first + r, push.columns));
    }
    barrier();
    weft_give(0, weft_largest_of_own_row(rows));
    for (uint r = 0; r < rows.count; r++) {
        float part = exponentials(rows.first + r, push.columns, weft_given(0, r));
        weft_keep_part(r, floatBitsToUint(part));
    }
    barrier();
    weft_give(0, weft_rcp(weft_sum_of_own_row(rows)));
    for (uint r = 0; r < rows.count; r++) {
        scale_row(rows.first + r, push.columns, weft_given(0, r));
    }
}

#endif
