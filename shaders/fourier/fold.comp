#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Real and imaginary parts of half spectra z, one for each token, as the real part of their transform along the tokens takes them:
// the cosines of tokens s and n - s are equal, so that Re z[s] + Re z[n - s] share a product; the sines have opposite signs, so that
// Im z[s] - Im z[n - s] do. Tokens 0 and n / 2 are alone, and their sines are 0.

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Spectrum { vec2 spectrum[]; };   // [B, n, columns], or see width
layout(std430, binding = 1) writeonly buffer Folded { float folded[]; };     // [2, steps, B, padded_columns]

layout(push_constant) uniform Push
{
    uint count; // steps * B * padded_columns
    uint groups_x;
    uint sequence_length;
    uint batch;
    uint columns;
    uint width; // 0, or rows side by side: [blocks, points, width]
    uint points;
    uint padded_columns; // at least `columns`: the others are 0, as are the steps behind n / 2
    WEFT_INVERSE(batch)
    WEFT_INVERSE(width)
    WEFT_INVERSE(padded_columns)
} push;

uint place_of(uint row, uint column)
{
    return push.width == 0 ? row * push.columns + column
                           : (WEFT_QUOTIENT(row, width) * push.points + column) * push.width + WEFT_REMAINDER(row, width);
}

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint column = WEFT_REMAINDER(i, padded_columns);
    uint place = WEFT_QUOTIENT(i, padded_columns);
    uint s = WEFT_QUOTIENT(place, batch);
    vec2 value = vec2(0.0);
    if (column < push.columns && 2 * s <= push.sequence_length) {
        uint first = WEFT_REMAINDER(place, batch) * push.sequence_length;
        vec2 z = spectrum[place_of(first + s, column)];
        value.x = z.x;
        if (s > 0 && 2 * s < push.sequence_length) {
            vec2 other = spectrum[place_of(first + push.sequence_length - s, column)];
            value = vec2(z.x + other.x, z.y - other.y);
        }
    }
    folded[i] = value.x;
    folded[i + push.count] = value.y;
}
