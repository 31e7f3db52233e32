#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The averages at the ends of the chunks, each of which starts at 0, become those of the sequence from
// its first token on: a chunk of 64 tokens multiplies what comes before it by (1 - alpha)^64. One
// sequence and channel for each invocation. Nobody reads the last state.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Alpha { float alpha[]; }; // [channels]
layout(std430, binding = 1) buffer States { float states[]; }; // [batch, chunks, channels]

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint channels;
    uint chunks;
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint channel = index % push.channels;
    uint first = index / push.channels * push.chunks * push.channels + channel;
    float factor = 1.0 - alpha[channel];
    for (uint i = 0; i < 6; i++) {
        factor = factor * factor;
    }
    float average = 0.0;
    for (uint chunk = 0; chunk < push.chunks; chunk++) {
        uint at = first + chunk * push.channels;
        average = states[at] + factor * average;
        states[at] = weft_flush(average);
    }
}
