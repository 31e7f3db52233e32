#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows divided by their length. FORM: a weft_length_norm.
// form rms_norm
// form rms_norm_lanes WEFT_LANES
// form rms_norm_side WEFT_SIDE

#include "row.glsl"
#include "index.glsl"
#include "math.glsl"
#include "numbers.glsl"
#include "partial.glsl"

layout(constant_id = 0) const uint FORM = WEFT_LENGTH_NORM_ROOT_MEAN_SQUARE;
layout(constant_id = 1) const uint HAS_GAIN = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Gain { float gain[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
    float epsilon;
} push;

float scale_of(float squares)
{
    if (FORM == WEFT_LENGTH_NORM_LENGTH) {
        return gain[0] * weft_rcp(weft_larger(weft_sqrt(squares), push.epsilon));
    }
    float mean = weft_div(squares, float(push.columns));
    if (FORM == WEFT_LENGTH_NORM_SIMPLE) {
        return weft_rcp(weft_sqrt(mean) + push.epsilon);
    }
    return weft_rsqrt(mean + push.epsilon);
}

void store(uint at, uint c, float scale)
{
    float value = x[at] * scale;
    if (FORM == WEFT_LENGTH_NORM_ROOT_MEAN_SQUARE && HAS_GAIN != 0) {
        value = value * gain[c];
    }
    result[at] = weft_flush(value);
}

float value_at(uint row, uint c, float given)
{
    return x[weft_at(row, c, push.columns)];
}

WEFT_ROW_SQUARES(squares_of, value_at)

void divide(uint row, uint c, float scale)
{
    store(weft_at(row, c, push.columns), c, scale);
}

WEFT_ROW_EACH(divide_row, divide)

void main()
{
    weft_rows rows = weft_rows_of(weft_group_index(push.groups_x), push.rows, push.columns);
    if (weft_is_idle(rows)) {
        return;
    }
    WEFT_EACH_ROW(rows, r,
                  weft_keep_part(r, floatBitsToUint(squares_of(rows.first + r, push.columns, 0.0))))
    weft_meet();
    weft_give(0, scale_of(weft_sum_of_own_row(rows)));
    WEFT_EACH_ROW(rows, r, divide_row(rows.first + r, push.columns, weft_given(0, r)))
}
