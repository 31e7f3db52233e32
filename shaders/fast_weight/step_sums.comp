#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Adds what a token's rows of K, W and U0 give to the sums G and N over its chunk. An invocation has
// an element of either.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Position { int position[]; };
layout(std430, binding = 1) buffer State { float state[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint heads;
    uint features;
    uint values;
    uint stride;
} push;

#include "fast_weight_state.glsl"

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint squares = push.features * push.features;
    uint size = squares + push.features * push.values;
    uint head = item / size;
    uint element = item % size;
    weft_rule_state at = weft_state_of(head);
    uint row = uint(position[head / push.heads]) % WEFT_CHUNK;
    uint keys = at.k + row * push.features;
    uint x = at.w + row * push.features + element / push.features;
    uint y = keys + element % push.features;
    if (element >= squares) {
        x = keys + (element - squares) / push.values;
        y = at.u0 + row * push.values + (element - squares) % push.values;
    }
    float sum = row == 0 ? 0.0 : state[at.g + element];
    state[at.g + element] = weft_flush(weft_multiply_add(state[x], state[y], sum));
}
