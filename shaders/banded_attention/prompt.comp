#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// The state of banded_attention/step after the first tokens, of which a sequence's position is the last: the keys and values of
// the last before + 1 of them, in a ring for each head. An invocation has a channel of a token.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer K { float k[]; };
layout(std430, binding = 1) readonly buffer V { float v[]; };
layout(std430, binding = 2) readonly buffer Position { int position[]; };
layout(std430, binding = 3) writeonly buffer State { float state[]; };

layout(push_constant) uniform Push
{
    uint count; // channels of all tokens that are kept
    uint groups_x;
    uint n;
    uint d;
    uint kept; // of a sequence, at most: n or before + 1
    uint before;
    uint width; // channels of a head
    WEFT_INVERSE(d)
    WEFT_INVERSE(kept)
    WEFT_INVERSE(width)
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint channel = WEFT_REMAINDER(item, d);
    uint place = WEFT_QUOTIENT(item, d);
    uint sequence = WEFT_QUOTIENT(place, kept);
    uint tokens = min(uint(position[sequence]) + 1, push.n);
    uint kept = min(push.kept, tokens);
    uint number = WEFT_REMAINDER(place, kept);
    if (number >= kept) {
        return;
    }
    uint token = tokens - kept + number;
    uint rows = push.before + 1;
    uint own = (sequence * push.n + token) * push.d + channel;
    uint head = WEFT_QUOTIENT(channel, width);
    uint at = sequence * 2 * rows * push.d + (head * rows + token % rows) * push.width + WEFT_REMAINDER(channel, width);
    state[at] = weft_flush(k[own]);
    state[at + rows * push.d] = weft_flush(v[own]);
}
