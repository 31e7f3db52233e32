#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// gain · cos and gain · sin of the phase of every frequency of a channel at every position: [n, d, t, 2].

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"
#include "turns.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const bool HAS_PHASES = false;

layout(std430, binding = 0) readonly buffer Frequencies { float frequencies[]; }; // [d, t]
layout(std430, binding = 1) readonly buffer Gains { float gains[]; };
layout(std430, binding = 2) readonly buffer Phases { float phases[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint channel_frequencies; // d t
    WEFT_INVERSE(channel_frequencies)
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint k = WEFT_REMAINDER(index, channel_frequencies);
    float position = float(WEFT_QUOTIENT(index, channel_frequencies));
    weft_turns turns = weft_turns_add(weft_turns(0.0f, 0.0f), position, frequencies[k]);
    if (HAS_PHASES) {
        turns = weft_turns_add(turns, phases[k], 1.0f);
    }
    float cosine;
    float sine;
    weft_turns_cos_sin(turns, cosine, sine);
    result[2 * index] = weft_flush(gains[k] * cosine);
    result[2 * index + 1] = weft_flush(gains[k] * sine);
}
