#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Per token and head [scale x | a_k cos(2 pi t_k) | a_k sin(2 pi t_k)], t_k the phase of frequency k and
// a_k the root of its weight: FLT's queries and keys. An invocation makes one element of x or one
// frequency's pair.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"
#include "turns.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

#include "features.glsl"

weft_turns phase(uint row, uint k)
{
    uint token = WEFT_QUOTIENT(row, heads);
    uint position =
        WEFT_QUOTIENT(token, tokens) * push.position_batch + WEFT_REMAINDER(token, tokens) * push.dimensions;
    uint frequency = WEFT_REMAINDER(row, heads) * push.frequency_head + k * push.dimensions;
    weft_turns turns = weft_turns(0.0f, 0.0f);
    if (!HAS_POSITIONS) {
        return weft_turns_add(turns, float(WEFT_REMAINDER(token, tokens)), frequencies[frequency]);
    }
    for (uint j = 0; j < push.dimensions; j++) {
        turns = weft_turns_add(turns, positions[position + j], frequencies[frequency + j]);
    }
    return turns;
}

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint row = WEFT_QUOTIENT(index, items);
    uint column = index - row * (push.width + push.r);
    uint base = row * (push.width + 2u * push.r);
    if (column < push.width) {
        result[base + column] = weft_flush(push.scale * x[row * push.width + column]);
        return;
    }
    uint k = column - push.width;
    uint own = WEFT_REMAINDER(row, heads) * push.weight_head + k;
    uint weight = floatBitsToUint(weights[own]);
    float amplitude =
        weft_sqrt(weft_div(uintBitsToFloat(weight & WEFT_BITS_ABS), float(push.r)));
    if (KEYS) {
        amplitude = uintBitsToFloat(floatBitsToUint(amplitude) | (weight & WEFT_BITS_SIGN));
    }
    weft_turns turns = phase(row, k);
    if (HAS_PHASES) {
        turns = weft_turns_add(turns, phases[own], 1.0f);
    }
    float cosine;
    float sine;
    weft_turns_cos_sin(turns, cosine, sine);
    result[base + column] = weft_flush(amplitude * cosine);
    result[base + column + push.r] = weft_flush(amplitude * sine);
}
