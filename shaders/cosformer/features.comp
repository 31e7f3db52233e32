#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// cosFormer's features of queries or keys: of each head relu(x) cos(a) and then relu(x) sin(a), with
// the angle a of the token's position. IS_STEP: x is one token of each sequence, at the position that
// is given.

#include "activation.glsl"
#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

#include "features.glsl"

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint token = WEFT_QUOTIENT(i, channels);
    uint place = WEFT_REMAINDER(token, positions);
    if (IS_STEP) {
        place = min(uint(position[token]), push.positions - 1);
    }
    uint at = WEFT_QUOTIENT(i, width) * (2 * push.width) + WEFT_REMAINDER(i, width);
    float value = weft_relu(x[i]);
    result[at] = weft_flush(value * angles[2 * place]);
    result[at + push.width] = weft_flush(value * angles[2 * place + 1]);
}
