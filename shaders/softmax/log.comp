#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The logarithm of softmax over the last axis.
// form log
// form log_lanes WEFT_LANES

#include "row.glsl"
#include "index.glsl"
#include "math.glsl"

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

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

float exponential(uint row, uint c, float largest)
{
    return weft_exp(x[weft_at(row, c, push.columns)] - largest);
}

WEFT_ROW_SUM(exponentials, exponential)

float logarithm; // of the sum of the row at hand

void subtract_at(uint row, uint c, float largest)
{
    uint at = weft_at(row, c, push.columns);
    result[at] = weft_flush((x[at] - largest) - logarithm);
}

WEFT_ROW_EACH(subtract_row, subtract_at)

void main()
{
    weft_rows rows = weft_rows_of(weft_group_index(push.groups_x), push.rows, push.columns);
    if (weft_is_idle(rows)) {
        return;
    }
    WEFT_EACH_ROW(rows, r, weft_keep_part(r, largest_key(rows.first + r, push.columns)))
    weft_meet();
    weft_give(0, weft_largest_of_own_row(rows));
    WEFT_EACH_ROW(rows, r,
                  float part = exponentials(rows.first + r, push.columns, weft_given(0, r));
                  weft_keep_part(r, floatBitsToUint(part)))
    weft_meet();
    weft_give(1, weft_log(weft_sum_of_own_row(rows)));
    WEFT_EACH_ROW(rows, r, logarithm = weft_given(1, r);
                  subtract_row(rows.first + r, push.columns, weft_given(0, r)))
}
