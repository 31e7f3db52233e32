#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// A short filter along the tokens for each channel. An invocation has a channel of a token and adds its taps in order, those
// outside the sequence left out. STATE 1: the first tokens of sequences, up to their positions, of which the last `ring` are kept
// in a ring, token j in row j % ring. STATE 2: one token of each sequence, behind those in the ring; it takes the row of the token that its own
// first tap has just read.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(constant_id = 0) const uint STATE = 0;
layout(constant_id = 1) const uint HAS_BIAS = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) readonly buffer Position { int position[]; };
layout(std430, binding = 4) buffer State { float state[]; }; // [sequences, ring, d]
layout(std430, binding = 5) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint n;
    uint d;
    uint taps;
    uint before; // tokens that the first tap lies in front of its own
    uint ring;   // taps - 1, or 1
    uint weight_channel; // strides
    uint weight_tap;
    WEFT_INVERSE(n)
    WEFT_INVERSE(d)
    WEFT_INVERSE(ring)
} push;

uint state_at(uint sequence, uint token, uint channel)
{
    return (sequence * push.ring + WEFT_REMAINDER(token, ring)) * push.d + channel;
}

float filter_sequence(uint sequence, uint token, uint channel)
{
    float sum = 0.0;
    for (uint t = 0; t < push.taps; t++) {
        uint at = token + t - push.before; // wraps around in front of the sequence
        if (at < push.n) {
            float value = x[(sequence * push.n + at) * push.d + channel];
            sum = weft_multiply_add(weight[channel * push.weight_channel + t * push.weight_tap], value, sum);
        }
    }
    return sum;
}

float filter_state(uint sequence, uint place, uint channel, float own)
{
    float sum = 0.0;
    for (uint t = 0; t < push.taps; t++) {
        uint back = push.taps - 1 - t;
        if (back <= place) {
            float value = own;
            if (back > 0) {
                value = state[state_at(sequence, place - back, channel)];
            }
            sum = weft_multiply_add(weight[channel * push.weight_channel + t * push.weight_tap], value, sum);
        }
    }
    return sum;
}

// Whether the first tokens leave this one in the state.
bool is_kept(uint sequence, uint token)
{
    uint tokens = min(uint(position[sequence]) + 1, push.n);
    return token < tokens && token + push.ring >= tokens;
}

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint channel = WEFT_REMAINDER(i, d);
    uint token = WEFT_REMAINDER(WEFT_QUOTIENT(i, d), n);
    uint sequence = WEFT_QUOTIENT(WEFT_QUOTIENT(i, d), n);
    float sum;
    if (STATE == 2) {
        uint place = uint(position[sequence]);
        sum = filter_state(sequence, place, channel, x[i]);
        state[state_at(sequence, place, channel)] = weft_flush(x[i]);
    } else {
        sum = filter_sequence(sequence, token, channel);
    }
    if (STATE == 1 && is_kept(sequence, token)) {
        state[state_at(sequence, token, channel)] = weft_flush(x[i]);
    }
    result[i] = weft_flush(HAS_BIAS != 0 ? sum + bias[channel] : sum);
}
