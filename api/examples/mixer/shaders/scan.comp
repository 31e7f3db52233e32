#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The moving average of one chunk and channel for each invocation. ENDS: from 0 on, and only its last
// value is kept. Otherwise it goes on from the state at the end of the chunk before.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint ENDS = 0;
layout(constant_id = 1) const uint CHUNK = 64; // tokens

layout(std430, binding = 0) readonly buffer X { float x[]; }; // [batch, n, channels]
layout(std430, binding = 1) readonly buffer Alpha { float alpha[]; }; // [channels]
layout(std430, binding = 2) readonly buffer States { float states[]; }; // [batch, chunks, channels]
layout(std430, binding = 3) writeonly buffer Result { float result[]; }; // as x, or ENDS as states

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint n;
    uint channels;
    uint chunks;
    uint reverse;
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint channel = index % push.channels;
    uint chunk = index / push.channels % push.chunks;
    uint sequence = index / push.channels / push.chunks * push.n;
    float a = alpha[channel];
    float rest = 1.0 - a;
    float average = 0.0;
    if (ENDS == 0 && chunk > 0) {
        average = states[index - push.channels];
    }
    uint end = min((chunk + 1) * CHUNK, push.n);
    for (uint i = chunk * CHUNK; i < end; i++) {
        uint token = push.reverse != 0 ? push.n - 1 - i : i;
        uint at = (sequence + token) * push.channels + channel;
        average = a * x[at] + rest * average;
        if (ENDS == 0) {
            result[at] = weft_flush(average);
        }
    }
    if (ENDS != 0) {
        result[index] = weft_flush(average);
    }
}
