#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Sums over chunks of 256 tokens of the squares of x [batch, tokens, heads, width]: for each sequence,
// head and chunk that of each channel. A workgroup per chunk.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

#define CHUNK 256

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows; // batch * heads * chunks
    uint width;
    uint groups_x;
    uint heads;
    uint tokens;
    uint chunks;
} push;

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    uint sequence = row / push.chunks;
    uint first = row % push.chunks * CHUNK;
    uint last = min(first + CHUNK, push.tokens);
    uint step = push.heads * push.width;
    uint base = sequence / push.heads * push.tokens * step + sequence % push.heads * push.width;
    for (uint c = gl_LocalInvocationID.x; c < push.width; c += WEFT_GROUP_SIZE) {
        weft_partial own = weft_partial_zero();
        for (uint i = first; i < last; i++) {
            float value = x[base + i * step + c];
            own = weft_partial_add(own, weft_flush(value * value)); // a ratio is made of it
        }
        result[row * push.width + c] = weft_partial_sum(own);
    }
}
