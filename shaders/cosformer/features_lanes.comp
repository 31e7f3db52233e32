#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// cosFormer's features on processors: what features.comp computes. A workgroup is one subgroup, which makes the heads of some tokens,
// one after the other: position and angles are the same for all lanes.

#include "activation.glsl"
#include "index.glsl"

layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(constant_id = 64) const uint FIXED_ROWS = 16; // of a workgroup
layout(local_size_x_id = 17) in;

#include "features.glsl"

void store(uint row, uint c, float cosine, float sine)
{
    uint at = row * 2 * push.width + c;
    float value = weft_relu(x[row * push.width + c]);
    result[at] = weft_flush(value * cosine);
    result[at + push.width] = weft_flush(value * sine);
}

void main()
{
    uint first = weft_group_index(push.groups_x) * FIXED_ROWS;
    uint last = min(first + FIXED_ROWS, push.count / push.width);
    uint heads = push.channels / push.width;
    uint whole = push.width / TILE_LANES * TILE_LANES;
    for (uint row = first; row < last; row++) {
        uint token = row / heads;
        uint place = token % push.positions;
        if (IS_STEP) {
            place = min(uint(position[token]), push.positions - 1);
        }
        float cosine = angles[2 * place];
        float sine = angles[2 * place + 1];
        for (uint c = 0; c < whole; c += TILE_LANES) {
            store(row, c + gl_LocalInvocationIndex, cosine, sine);
        }
        if (gl_LocalInvocationIndex < push.width - whole) {
            store(row, whole + gl_LocalInvocationIndex, cosine, sine);
        }
    }
}
