// SPDX-License-Identifier: MIT
//
// Several rows that may be normalised: what row_norm.glsl computes, with what the including file has for it declared in the same
// way. Behind row_lanes.glsl or row_side.glsl.

#ifndef WEFT_INCLUDE_ROW_NORM_LANES_GLSL
#define WEFT_INCLUDE_ROW_NORM_LANES_GLSL

#include "index.glsl"
#include "math.glsl"

layout(constant_id = 0) const uint HAS_RESIDUAL = 0;
layout(constant_id = 1) const uint HAS_NORM = 0;
layout(constant_id = 2) const uint KEPT = 0; // which is nothing to these kernels

float make(uint row, uint c, float given)
{
    uint at = row * push.columns + c;
    float value = weft_row_value(row, c);
    if (HAS_RESIDUAL != 0) {
        value = value + residual_data[at];
    }
    result[at] = weft_flush(value);
    return value;
}

WEFT_ROW_SUM(sum_of, make)
WEFT_ROW_EACH(make_row, make)

float square(uint row, uint c, float mean)
{
    float centred = result[row * push.columns + c] - mean;
    return centred * centred;
}

WEFT_ROW_SUM(squares_of, square)

float mean_here; // of the row at hand

void normalize(uint row, uint c, float scale)
{
    uint at = row * push.columns + c;
    float normalized = (result[at] - mean_here) * scale;
    result[at] = weft_flush(normalized * gamma[c] + beta[c]);
}

WEFT_ROW_EACH(normalize_row, normalize)

void main()
{
    weft_rows rows = weft_rows_of(weft_group_index(push.groups_x), push.rows, push.columns);
    if (weft_is_idle(rows)) {
        return;
    }
    if (HAS_NORM == 0) {
        for (uint r = 0; r < rows.count; r++) {
            make_row(rows.first + r, push.columns, 0.0);
        }
        return;
    }
    float count = float(push.columns);
    for (uint r = 0; r < rows.count; r++) {
        weft_keep_part(r, floatBitsToUint(sum_of(rows.first + r, push.columns, 0.0)));
    }
    barrier();
    weft_give(1, weft_div(weft_sum_of_own_row(rows), count));
    for (uint r = 0; r < rows.count; r++) {
        weft_keep_part(r, floatBitsToUint(squares_of(rows.first + r, push.columns, weft_given(1, r))));
    }
    barrier();
    float variance = weft_div(weft_sum_of_own_row(rows), count);
    weft_give(0, weft_rsqrt(variance + push.epsilon));
    for (uint r = 0; r < rows.count; r++) {
        mean_here = weft_given(1, r);
        normalize_row(rows.first + r, push.columns, weft_given(0, r));
    }
}

#endif
