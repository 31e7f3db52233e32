// SPDX-License-Identifier: MIT
//
// Kernels whose workgroups each make one row: out = norm(value + residual), where the including
// file says what an element's value is:
//
//   float weft_row_value(uint row, uint column);
//
// and declares push constants `uint rows, columns, groups_x; float epsilon;` (with the instance
// name `push`), the buffers `residual_data`, `gamma`, `beta` and `result` (float arrays).
// An invocation reads back only elements of `result` that it wrote itself.

#ifndef WEFT_INCLUDE_ROW_NORM_GLSL
#define WEFT_INCLUDE_ROW_NORM_GLSL

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(constant_id = 0) const uint HAS_RESIDUAL = 0;
layout(constant_id = 1) const uint HAS_NORM = 0;

layout(local_size_x = WEFT_GROUP_SIZE) in;

void weft_normalize_row(uint base, float own_sum)
{
    float count = float(push.columns);
    float mean = weft_div(weft_group_sum(own_sum), count);
    weft_partial own_squares = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        float centred = result[base + c] - mean;
        own_squares = weft_partial_add(own_squares, centred * centred);
    }
    float variance = weft_div(weft_group_sum(weft_partial_sum(own_squares)), count);
    float scale = weft_rsqrt(variance + push.epsilon);
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        float normalized = (result[base + c] - mean) * scale;
        result[base + c] = weft_flush(normalized * gamma[c] + beta[c]);
    }
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return; // the whole group: no barrier is missed
    }
    uint base = row * push.columns;
    weft_partial own_sum = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        float value = weft_row_value(row, c);
        if (HAS_RESIDUAL != 0) {
            value = value + residual_data[base + c];
        }
        result[base + c] = weft_flush(value);
        own_sum = weft_partial_add(own_sum, value);
    }
    if (HAS_NORM != 0) {
        weft_normalize_row(base, weft_partial_sum(own_sum));
    }
}

#endif
