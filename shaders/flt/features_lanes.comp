#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// FLT's queries and keys on processors: what features.comp computes. A workgroup is two subgroups, side by side, since the steps to
// one wave depend on each other; it makes some rows: a row is one head of one token. Frequencies lie along the lanes, and what a
// weight alone decides is worked out once for all rows.

#include "index.glsl"
#include "math.glsl"
#include "turns.glsl"

layout(constant_id = 17) const uint TILE_LANES = 16; // 8, 16 or 32: those of two vectors
layout(constant_id = 64) const uint FIXED_ROWS = 16; // of a workgroup
layout(local_size_x_id = 17) in;

#include "features.glsl"

void store_scaled(uint row, uint c)
{
    result[row * (push.width + 2u * push.r) + c] = weft_flush(push.scale * x[row * push.width + c]);
}

float amplitude_of(uint head, uint k)
{
    uint weight = floatBitsToUint(weights[head * push.weight_head + k]);
    float amplitude =
        weft_sqrt(weft_div(uintBitsToFloat(weight & WEFT_BITS_ABS), float(push.r)));
    return KEYS ? uintBitsToFloat(floatBitsToUint(amplitude) | (weight & WEFT_BITS_SIGN))
                : amplitude;
}

weft_turns phase(uint token, uint head, uint k)
{
    uint frequency = head * push.frequency_head;
    weft_turns turns = weft_turns(0.0f, 0.0f);
    if (!HAS_POSITIONS) {
        return weft_turns_add(turns, float(token % push.tokens), frequencies[frequency + k]);
    }
    uint position =
        token / push.tokens * push.position_batch + token % push.tokens * push.dimensions;
    if (push.dimensions == 1u) { // the frequencies are consecutive
        return weft_turns_add(turns, positions[position], frequencies[frequency + k]);
    }
    for (uint j = 0; j < push.dimensions; j++) {
        turns = weft_turns_add(turns, positions[position + j],
                               frequencies[frequency + k * push.dimensions + j]);
    }
    return turns;
}

void store_waves(uint row, uint k, float amplitude)
{
    uint head = row % push.heads;
    weft_turns turns = phase(row / push.heads, head, k);
    if (HAS_PHASES) {
        turns = weft_turns_add(turns, phases[head * push.weight_head + k], 1.0f);
    }
    float cosine;
    float sine;
    weft_turns_cos_sin(turns, cosine, sine);
    uint at = row * (push.width + 2u * push.r) + push.width + k;
    result[at] = weft_flush(amplitude * cosine);
    result[at + push.r] = weft_flush(amplitude * sine);
}

void store_frequency(uint first, uint last, uint k)
{
    float amplitude = amplitude_of(0u, k);
    for (uint row = first; row < last; row++) {
        store_waves(row, k,
                    push.weight_head == 0u ? amplitude : amplitude_of(row % push.heads, k));
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    uint first = weft_group_index(push.groups_x) * FIXED_ROWS;
    uint last = min(first + FIXED_ROWS, push.count / (push.width + push.r));
    uint whole = push.width / TILE_LANES * TILE_LANES;
    for (uint row = first; row < last; row++) {
        for (uint c = 0; c < whole; c += TILE_LANES) {
            store_scaled(row, c + lane);
        }
        if (lane < push.width - whole) {
            store_scaled(row, whole + lane);
        }
    }
    whole = push.r / TILE_LANES * TILE_LANES;
    for (uint k = 0; k < whole; k += TILE_LANES) {
        store_frequency(first, last, k + lane);
    }
    if (lane < push.r - whole) {
        store_frequency(first, last, whole + lane);
    }
}
