#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows divided by their length on processors: what rms_norm.comp computes.

#include "index.glsl"
#include "row_lanes.glsl"
#include "rms_norm.glsl"

float square(uint row, uint c, float given)
{
    float value = x[row * push.columns + c];
    return value * value;
}

WEFT_ROW_SUM(squares_of, square)

void divide(uint row, uint c, float scale)
{
    store(row * push.columns + c, c, scale);
}

WEFT_ROW_EACH(divide_row, divide)

void main()
{
    uint at_once = weft_rows_at_once(push.columns);
    uint first = weft_group_index(push.groups_x) * at_once;
    if (first >= push.rows) {
        return;
    }
    uint rows = min(push.rows - first, at_once);
    for (uint r = 0; r < rows; r++) {
        weft_keep_part(r, floatBitsToUint(squares_of(first + r, push.columns, 0.0)));
    }
    barrier();
    weft_of_rows[gl_LocalInvocationIndex] = scale_of(weft_sum_of_own_row(rows));
    barrier();
    for (uint r = 0; r < rows; r++) {
        divide_row(first + r, push.columns, weft_of_rows[r]);
    }
}
