#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// FNet's y = Re(F_seq(F_hidden(x))) from the columns 0 … d/2 of the transform, which is all that
// real input leaves free: y[s, d - k] = y[(n - s) mod n, k]. Then residual and LayerNorm.

#include "unfold.glsl"

float weft_row_value(uint row, uint column)
{
    if (column > push.columns / 2) {
        uint s = row % push.sequence_length;
        row = row - s + (s == 0 ? 0 : push.sequence_length - s);
        column = push.columns - column;
    }
    return half_spectrum[(row * push.half_columns + column) * push.stride];
}

#include "row_norm.glsl"
