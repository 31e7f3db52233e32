// SPDX-License-Identifier: MIT
//
// Several rows divided by their length: what norm/rms_norm.comp computes. Behind row_lanes.glsl or row_side.glsl.

#ifndef WEFT_INCLUDE_RMS_NORM_ROWS_GLSL
#define WEFT_INCLUDE_RMS_NORM_ROWS_GLSL

#include "index.glsl"
#include "rms_norm.glsl"

float square(uint row, uint c, float given)
{
    float value = x[weft_at(row, c, push.columns)];
    return value * value;
}

WEFT_ROW_SUM(squares_of, square)

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
    for (uint r = 0; r < rows.count; r++) {
        weft_keep_part(r, floatBitsToUint(squares_of(rows.first + r, push.columns, 0.0)));
    }
    barrier();
    weft_give(0, scale_of(weft_sum_of_own_row(rows)));
    for (uint r = 0; r < rows.count; r++) {
        divide_row(rows.first + r, push.columns, weft_given(0, r));
    }
}

#endif
