#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax over the last axis. `x` and `result` may be the same buffer: an invocation reads back only what it wrote itself.
// form softmax
// form lanes WEFT_LANES
// form side WEFT_SIDE

#include "row.glsl"
#include "index.glsl"
#include "math.glsl"

layout(constant_id = 0) const uint KEPT = 0;

#include "row_keep.glsl"

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
    weft_note(largest, WEFT_FIRST(x, weft_at(row, c, push.columns)));
}

WEFT_ROW_LARGEST(largest_key, note_at)

float make_exponential(uint row, uint c, float largest)
{
    uint at = weft_at(row, c, push.columns);
    float value = weft_exp(WEFT_KEPT(x, at) - largest);
    WEFT_KEEP(result, at, value);
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
    WEFT_GO_TO(rows)
    WEFT_EACH_ROW(rows, r, weft_keep_part(r, largest_key(rows.first + r, push.columns)))
    weft_meet();
    weft_give(0, weft_largest_of_own_row(rows));
    WEFT_EACH_ROW(rows, r,
                  float part = exponentials(rows.first + r, push.columns, weft_given(0, r));
                  weft_keep_part(r, floatBitsToUint(part)))
    weft_meet();
    weft_give(0, weft_rcp(weft_sum_of_own_row(rows)));
    WEFT_EACH_ROW(rows, r, scale_row(rows.first + r, push.columns, weft_given(0, r)))
}
