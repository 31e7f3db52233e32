// SPDX-License-Identifier: MIT
//
// Kernels whose workgroups each make one row: out = norm(value + residual), where the including
// file says what an element's value is:
//
//   float weft_row_value(uint row, uint column);
//
// and declares push constants `uint rows, columns, groups_x; float epsilon;` (with the instance
// name `push`), the buffers `residual_data`, `gamma`, `beta` and `result` (float arrays). With WEFT_ROW_NO_RESIDUAL
// there is no residual, no buffer of that name and no constant with the number 0.
// Where WEFT_ROW_MAY_BE_LEFT, a constant, is not 0, rows of which `bool weft_row_is_left(uint row)` says so are not made.
// Rows that are too long to be kept in registers wait in `result`; an invocation reads back only what it wrote itself.

#ifndef WEFT_INCLUDE_ROW_NORM_GLSL
#define WEFT_INCLUDE_ROW_NORM_GLSL

#include "index.glsl"
#include "math.glsl"

#ifndef WEFT_ROW_NO_RESIDUAL
layout(constant_id = 0) const uint HAS_RESIDUAL = 0;
#endif
layout(constant_id = 1) const uint HAS_NORM = 0;
layout(constant_id = 2) const uint KEPT = 0; // 0 without HAS_NORM

#include "row_keep.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

void weft_make(uint at, uint turn, float value)
{
    if (KEPT != 0) {
        weft_kept[turn] = value;
    } else {
        result[at] = value;
    }
}

float weft_made(uint at, uint turn)
{
    if (KEPT != 0) {
        return weft_kept[turn];
    }
    return result[at];
}

void weft_normalize_row(uint base, float own_sum)
{
    uint turns = weft_turns(push.columns);
    float count = float(push.columns);
    float mean = weft_div(weft_group_sum(own_sum), count);
    weft_partial own_squares = weft_partial_zero();
    for (uint turn = 0; turn < turns; turn++) {
        uint c = weft_turn_column(turn);
        if (c < push.columns) {
            float centred = weft_made(base + c, turn) - mean;
            own_squares = weft_partial_add(own_squares, centred * centred);
        }
    }
    float variance = weft_div(weft_group_sum(weft_partial_sum(own_squares)), count);
    float scale = weft_rsqrt(variance + push.epsilon);
    for (uint turn = 0; turn < turns; turn++) {
        uint c = weft_turn_column(turn);
        if (c < push.columns) {
            float normalized = (weft_made(base + c, turn) - mean) * scale;
            result[base + c] = weft_flush(normalized * gamma[c] + beta[c]);
        }
    }
}

float weft_element(uint row, uint base, uint c)
{
    float value = weft_row_value(row, c);
#ifndef WEFT_ROW_NO_RESIDUAL
    if (HAS_RESIDUAL != 0) {
        value = value + residual_data[base + c];
    }
#endif
    return value;
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return; // the whole group: no barrier is missed
    }
#ifdef WEFT_ROW_MAY_BE_LEFT
    if (WEFT_ROW_MAY_BE_LEFT != 0 && weft_row_is_left(row)) {
        return;
    }
#endif
    uint base = row * push.columns;
    if (HAS_NORM == 0) {
        for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
            result[base + c] = weft_flush(weft_element(row, base, c));
        }
        return;
    }
    uint turns = weft_turns(push.columns);
    weft_partial own_sum = weft_partial_zero();
    for (uint turn = 0; turn < turns; turn++) {
        uint c = weft_turn_column(turn);
        if (c < push.columns) {
            float value = weft_element(row, base, c);
            weft_make(base + c, turn, weft_flush(value));
            own_sum = weft_partial_add(own_sum, value);
        }
    }
    weft_normalize_row(base, weft_partial_sum(own_sum));
}

#endif
