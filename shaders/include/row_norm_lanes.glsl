// SPDX-License-Identifier: MIT
//
// Rows that may be normalised, on processors: what row_norm.glsl computes, with what the including file has for it
// declared in the same way.

#ifndef WEFT_INCLUDE_ROW_NORM_LANES_GLSL
#define WEFT_INCLUDE_ROW_NORM_LANES_GLSL

#include "index.glsl"
#include "math.glsl"
#include "row_lanes.glsl"

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

shared float means[16];
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
    uint at_once = weft_rows_at_once(push.columns);
    uint first = weft_group_index(push.groups_x) * at_once;
    if (first >= push.rows) {
        return;
    }
    uint rows = min(push.rows - first, at_once);
    if (HAS_NORM == 0) {
        for (uint r = 0; r < rows; r++) {
            make_row(first + r, push.columns, 0.0);
        }
        return;
    }
    float count = float(push.columns);
    for (uint r = 0; r < rows; r++) {
        weft_keep_part(r, floatBitsToUint(sum_of(first + r, push.columns, 0.0)));
    }
    barrier();
    means[gl_LocalInvocationIndex] = weft_div(weft_sum_of_own_row(rows), count);
    barrier();
    for (uint r = 0; r < rows; r++) {
        weft_keep_part(r, floatBitsToUint(squares_of(first + r, push.columns, means[r])));
    }
    barrier();
    float variance = weft_div(weft_sum_of_own_row(rows), count);
    weft_of_rows[gl_LocalInvocationIndex] = weft_rsqrt(variance + push.epsilon);
    barrier();
    for (uint r = 0; r < rows; r++) {
        mean_here = means[r];
        normalize_row(first + r, push.columns, weft_of_rows[r]);
    }
}

#endif
