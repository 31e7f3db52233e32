#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Row p of a product with a causal Toeplitz matrix, y[c] = Σ_j t[p - j, c] x[j, c], with the sums that toeplitz_rows.glsl
// describes: the tokens before p are in the state, and each CHUNK of terms has a partial sum of its own.
//
// Forms: the parts of a channel lie side by side in a workgroup, and have every PARTS-th chunk; on processors an invocation has
// all of them, and goes through PARTS chunks at once.
// form step
// form step_lanes WEFT_LANES

#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"

#define CHUNK 64
#define PARTS 8

layout(constant_id = 64) const uint FIXED_CHANNELS = 16; // of a workgroup

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer T { float t[]; };
layout(std430, binding = 2) readonly buffer Position { int position[]; };
layout(std430, binding = 3) buffer State { float state[]; }; // [sequences, reach, channels]
layout(std430, binding = 4) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push
{
    uint sequences;
    uint groups_x;
    uint channels;
    uint reach; // lags of t, tokens of the state
} push;

// The sum over the tokens begin ... end - 1 of the state, whose first element of the channel is at `base`.
float weft_add_terms(uint base, uint channel, uint place, uint begin, uint end)
{
    float sum = 0.0;
    for (uint j = begin; j < end; j++) {
        sum = weft_multiply_add(t[(place - j) * push.channels + channel], state[base + j * push.channels], sum);
    }
    return sum;
}

// The last chunk, which the token itself ends.
float weft_add_last(uint base, uint channel, uint place, float own)
{
    float sum = weft_add_terms(base, channel, place, place / CHUNK * CHUNK, place);
    return weft_multiply_add(t[channel], own, sum);
}

#ifdef WEFT_LANES

layout(local_size_x = 16) in;

void weft_make_row(uint sequence, uint channel)
{
    uint base = sequence * push.reach * push.channels + channel;
    uint own = sequence * push.channels + channel;
    uint place = min(uint(position[sequence]), push.reach - 1);
    uint whole = place / CHUNK;
    float total = 0.0;
    float sum[PARTS];
    uint chunk = 0;
    for (; chunk + PARTS <= whole; chunk += PARTS) {
        for (uint i = 0; i < PARTS; i++) {
            sum[i] = 0.0;
        }
        for (uint j = 0; j < CHUNK; j++) {
            for (uint i = 0; i < PARTS; i++) {
                uint token = (chunk + i) * CHUNK + j;
                sum[i] = weft_multiply_add(t[(place - token) * push.channels + channel],
                                           state[base + token * push.channels], sum[i]);
            }
        }
        for (uint i = 0; i < PARTS; i++) {
            total = total + sum[i];
        }
    }
    for (; chunk < whole; chunk++) {
        total = total + weft_add_terms(base, channel, place, chunk * CHUNK, (chunk + 1) * CHUNK);
    }
    y[own] = weft_flush(total + weft_add_last(base, channel, place, x[own]));
    state[base + place * push.channels] = weft_flush(x[own]);
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint pieces = (push.channels - 1) / FIXED_CHANNELS + 1;
    if (group >= push.sequences * pieces) {
        return;
    }
    uint first = group % pieces * FIXED_CHANNELS;
    uint channel = first + gl_LocalInvocationID.x;
    // Where all lanes have a channel, which is nearly everywhere, nothing is masked.
    if (first + FIXED_CHANNELS <= push.channels) {
        weft_make_row(group / pieces, channel);
    } else if (channel < push.channels) {
        weft_make_row(group / pieces, channel);
    }
}

#else

layout(local_size_x = 128) in; // PARTS * FIXED_CHANNELS

shared float sums[PARTS][16];

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint pieces = (push.channels - 1) / FIXED_CHANNELS + 1;
    if (group >= push.sequences * pieces) {
        return; // the whole group: no barrier is missed
    }
    uint sequence = group / pieces;
    uint lane = gl_LocalInvocationID.x % FIXED_CHANNELS;
    uint part = gl_LocalInvocationID.x / FIXED_CHANNELS;
    uint channel = min(group % pieces * FIXED_CHANNELS + lane, push.channels - 1);
    uint base = sequence * push.reach * push.channels + channel;
    uint own = sequence * push.channels + channel;
    uint place = min(uint(position[sequence]), push.reach - 1);
    uint whole = place / CHUNK;
    float total = 0.0;
    for (uint first = 0; first < whole; first += PARTS) {
        uint chunk = first + part;
        if (chunk < whole) {
            sums[part][lane] =
                weft_add_terms(base, channel, place, chunk * CHUNK, (chunk + 1) * CHUNK);
        }
        barrier();
        for (uint i = 0; i < min(whole - first, PARTS); i++) {
            total = total + sums[i][lane];
        }
        barrier();
    }
    if (part == 0 && group % pieces * FIXED_CHANNELS + lane < push.channels) {
        y[own] = weft_flush(total + weft_add_last(base, channel, place, x[own]));
        state[base + place * push.channels] = weft_flush(x[own]);
    }
}

#endif
