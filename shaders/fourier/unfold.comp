#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// FNet's y = Re(F_seq(F_hidden(x))) from the columns 0 … d/2 of the transform, which is all that
// real input leaves free: y[s, d - k] = y[(n - s) mod n, k]. Then residual and LayerNorm.
// form unfold
// form unfold_lanes WEFT_LANES

#include "divide.glsl"

layout(std430, binding = 0) readonly buffer Residual { float residual_data[]; };
layout(std430, binding = 1) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 2) readonly buffer Beta { float beta[]; };
layout(std430, binding = 3) buffer Result { float result[]; };
layout(std430, binding = 4) readonly buffer Half { float half_spectrum[]; }; // [B, n, half_columns, stride], or folded

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
    float epsilon;
    uint sequence_length;
    uint half_columns; // at least d/2 + 1
    WEFT_INVERSE(sequence_length)
    uint stride; // 2 where the elements are complex, 1 where they are real parts alone, 0 where they are folded
} push;

// Sums of cosines and of sines, [2, n / 2 + 1, B, half_columns]: tokens s and n - s have the same ones, with the sines' sign.
float folded(uint row, uint column)
{
    uint n = push.sequence_length;
    uint s = WEFT_REMAINDER(row, sequence_length);
    uint from_end = s == 0 ? 0 : n - s;
    uint batch = WEFT_QUOTIENT(push.rows, sequence_length);
    uint at = (min(s, from_end) * batch + WEFT_QUOTIENT(row, sequence_length)) * push.half_columns + column;
    float cosines = half_spectrum[at];
    float sines = half_spectrum[at + (n / 2 + 1) * batch * push.half_columns];
    return s <= n / 2 ? cosines + sines : cosines - sines;
}

#ifdef WEFT_LANES // every place counts up or down from lane to lane by a constant

float real_part(uint row, uint column)
{
    uint at = row * push.half_columns + column;
    if (push.stride == 2) {
        return half_spectrum[2 * at];
    }
    if (push.stride == 1) {
        return half_spectrum[at];
    }
    return folded(row, column);
}

float weft_row_value(uint row, uint column)
{
    if (column <= push.columns / 2) {
        return real_part(row, column);
    }
    uint s = WEFT_REMAINDER(row, sequence_length);
    uint mirrored = row - s + (s == 0 ? 0 : push.sequence_length - s);
    return real_part(mirrored, push.columns - column);
}

#else

float weft_row_value(uint row, uint column)
{
    if (column > push.columns / 2) {
        uint s = WEFT_REMAINDER(row, sequence_length);
        row = row - s + (s == 0 ? 0 : push.sequence_length - s);
        column = push.columns - column;
    }
    if (push.stride == 0) {
        return folded(row, column);
    }
    return half_spectrum[(row * push.half_columns + column) * push.stride];
}

#endif

#include "row_norm.glsl"
