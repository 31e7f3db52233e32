#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The state of toeplitz/step after the tokens that sequences begin with: these tokens. An invocation has a channel of a token.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer State { float state[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint kept; // elements of a sequence of x, and of the state
    uint size;
    WEFT_INVERSE(kept)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    state[WEFT_QUOTIENT(i, kept) * push.size + WEFT_REMAINDER(i, kept)] = weft_flush(x[i]);
}
