#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Sums over chunks of tokens of x [batch, tokens, heads, width], scaled: for each sequence, head
// and chunk the sum of each channel, then that of all squares. A workgroup per chunk. Tokens behind a length are left out: a lane's
// sum of squares goes on over several channels, and zeros in between would shift where its sixteens end.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(constant_id = 0) const uint HAS_LENGTHS = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };
layout(std430, binding = 2) readonly buffer Lengths { int lengths[]; }; // tokens of each sequence

layout(push_constant) uniform Push
{
    uint rows; // batch * heads * chunks
    uint width;
    uint groups_x;
    uint heads;
    uint tokens;
    uint chunks;
    float scale;
} push;

#include "token_chunks.glsl"

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    weft_token_chunk chunk = weft_token_chunk_of(row);
    if (HAS_LENGTHS != 0) {
        int tokens = lengths[row / push.chunks / push.heads];
        chunk.last = min(chunk.last, uint(max(tokens, 0)));
    }
    weft_partial squares = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.width; c += WEFT_GROUP_SIZE) {
        weft_partial own = weft_partial_zero();
        for (uint i = chunk.first; i < chunk.last; i++) {
            float value = push.scale * x[chunk.base + i * chunk.step + c];
            own = weft_partial_add(own, value);
            squares = weft_partial_add_product(squares, value, value);
        }
        result[row * (push.width + 1u) + c] = weft_partial_sum(own);
    }
    float sum = weft_group_sum(weft_partial_sum(squares));
    if (gl_LocalInvocationID.x == 0) {
        result[row * (push.width + 1u) + push.width] = sum;
    }
}
