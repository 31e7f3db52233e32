#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Sums over chunks of tokens of the squares of x [batch, tokens, heads, width]: for each sequence,
// head and chunk that of each channel. A workgroup per chunk.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

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

#include "token_chunks.glsl"

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    weft_token_chunk chunk = weft_token_chunk_of(row);
    for (uint c = gl_LocalInvocationID.x; c < push.width; c += WEFT_GROUP_SIZE) {
        weft_partial own = weft_partial_zero();
        for (uint i = chunk.first; i < chunk.last; i++) {
            float value = x[chunk.base + i * chunk.step + c];
            own = weft_partial_add(own, weft_flush(value * value)); // a ratio is made of it
        }
        result[row * push.width + c] = weft_partial_sum(own);
    }
}
