#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// What banded_attention/prompt leaves, where keys and values are f16 (half_ring.glsl): an invocation has a word of a token's key and one of
// its value.

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer K { float k[]; };
layout(std430, binding = 1) readonly buffer V { float v[]; };
layout(std430, binding = 2) readonly buffer Position { int position[]; };
layout(std430, binding = 3) writeonly buffer State { uint state[]; };

layout(push_constant) uniform Push
{
    uint count; // words of all tokens that are kept
    uint groups_x;
    uint n;
    uint words; // of a token: those of all heads
    uint kept; // of a sequence, at most: n or before + 1
    uint before;
    uint width; // channels of a head
    WEFT_INVERSE(words)
    WEFT_INVERSE(kept)
    WEFT_INVERSE(pairs)
} push;

#include "half_ring.glsl"

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint word = WEFT_REMAINDER(item, words);
    uint place = WEFT_QUOTIENT(item, words);
    uint sequence = WEFT_QUOTIENT(place, kept);
    uint tokens = min(uint(position[sequence]) + 1, push.n);
    uint kept = min(push.kept, tokens);
    uint number = WEFT_REMAINDER(place, kept);
    if (number >= kept) {
        return;
    }
    uint pairs = weft_half_pairs(push.width);
    uint head = WEFT_QUOTIENT(word, pairs);
    uint pair = word - head * pairs;
    uint heads = WEFT_QUOTIENT(push.words, pairs);
    uint token = tokens - kept + number;
    uint own = ((sequence * push.n + token) * heads + head) * push.width;
    uint rows = weft_half_rows(push.before);
    uint row = token % rows;
    uint keys = (sequence * 2 * heads + head) * rows * pairs;
    uint values = keys + heads * rows * pairs;
    state[keys + weft_half_key(row, push.width) + pair * WEFT_HALF_TILE] = weft_key_word(own, pair, push.width);
    state[values + row * pairs + pair] = weft_value_word(own, pair, push.width);
}
