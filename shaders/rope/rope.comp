#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rotary positions: of each head, pairs of its first `rotated` channels are turned by the position times a frequency for each
// pair; the others are copied. Frequencies are turns per token modulo 1, with 48 bits behind the point: the phase of any
// position is exact to 2^-17 turns at 2^31, and to 2^-28 at 2^20. An invocation has a pair, or one of the other channels.

#include "complex.glsl"
#include "divide.glsl"
#include "index.glsl"
#include "turns.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(constant_id = 0) const uint INTERLEAVED = 0; // pairs are neighbours, not halves apart
layout(constant_id = 1) const uint POSITIONS = 0;   // 1: of the first token of each sequence; 2: of each token

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Frequencies { uvec2 frequencies[]; }; // 32 bits, then 16
layout(std430, binding = 2) readonly buffer Positions { int positions[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // items of all heads
    uint groups_x;
    uint heads;
    uint width; // channels of a head
    uint rotated;
    uint n;
    uint rows; // tokens of a sequence, n for each of its other axes
    int offset;
    uint items; // of a head
    WEFT_INVERSE(items)
    WEFT_INVERSE(heads)
    WEFT_INVERSE(n)
    WEFT_INVERSE(rows)
} push;

int position_of(uint row)
{
    int position = push.offset;
    if (POSITIONS == 2) {
        return position + positions[WEFT_QUOTIENT(row, rows) * push.n + WEFT_REMAINDER(row, n)];
    }
    if (POSITIONS == 1) {
        position += positions[WEFT_QUOTIENT(row, rows)];
    }
    return position + int(WEFT_REMAINDER(row, n));
}

// Of position times frequency, in 2^-32 turns.
uint phase_of(int position, uvec2 frequency)
{
    uint low = uint(position) & 0xffffu;
    uint high = uint(position >> 16);
    return uint(position) * frequency.x + high * frequency.y + ((low * frequency.y) >> 16);
}

void rotate(uint first, uint second, uint pair, int position)
{
    uint phase = phase_of(position, frequencies[pair]);
    // Both exact: 24 bits, and the 8 behind them.
    weft_turns turns = weft_turns(float(int(phase) >> 8) * uintBitsToFloat(0x33800000u),
                                  float(phase & 0xffu) * uintBitsToFloat(0x2f800000u));
    float cosine;
    float sine;
    weft_turns_cos_sin(turns, cosine, sine);
    vec2 turned = weft_complex_multiply(vec2(x[first], x[second]), vec2(cosine, sine));
    result[first] = weft_flush(turned.x);
    result[second] = weft_flush(turned.y);
}

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint pairs = push.rotated / 2;
    uint own = WEFT_REMAINDER(item, items);
    uint head = WEFT_QUOTIENT(item, items) * push.width;
    if (own >= pairs) {
        uint at = head + pairs + own;
        result[at] = weft_flush(x[at]);
        return;
    }
    uint first = INTERLEAVED != 0 ? head + 2 * own : head + own;
    uint second = INTERLEAVED != 0 ? first + 1 : first + pairs;
    rotate(first, second, own, position_of(WEFT_QUOTIENT(WEFT_QUOTIENT(item, items), heads)));
}
