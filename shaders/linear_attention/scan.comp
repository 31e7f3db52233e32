#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Sums of the chunks' states, in place: with PREFIX, every chunk's becomes the sum of those before it;
// otherwise the first chunk's becomes the sum of all. An invocation has one element of a head's state.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint PREFIX = 0;

layout(std430, binding = 0) buffer State { float state[]; };

layout(push_constant) uniform Push
{
    uint count; // elements of all heads
    uint groups_x;
    uint size; // of a state
    uint chunks;
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint first = item / push.size * push.chunks * push.size + item % push.size;
    weft_partial partial = weft_partial_zero();
    for (uint chunk = 0; chunk < push.chunks; chunk++) {
        uint index = first + chunk * push.size;
        float own = state[index];
        if (PREFIX != 0) {
            state[index] = weft_flush(weft_partial_sum(partial));
        }
        partial = weft_partial_add(partial, own);
    }
    if (PREFIX == 0) {
        state[first] = weft_flush(weft_partial_sum(partial));
    }
}
