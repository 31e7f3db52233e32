#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What unfold.comp computes, on processors: every place counts up or down from lane to lane by a constant.

#include "unfold.glsl"

float real_part(uint at)
{
    if (push.stride == 2) {
        return half_spectrum[2 * at];
    }
    return half_spectrum[at];
}

float weft_row_value(uint row, uint column)
{
    if (column <= push.columns / 2) {
        return real_part(row * push.half_columns + column);
    }
    uint s = row % push.sequence_length;
    uint mirrored = row - s + (s == 0 ? 0 : push.sequence_length - s);
    return real_part(mirrored * push.half_columns + push.columns - column);
}

#include "row_lanes.glsl"
#include "row_norm_lanes.glsl"
