#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Adds a token to the state of linear attention. At a chunk's start the sums of the last chunk go to
// those before it, in the order of linear_attention/scan; at position 0 there is nothing before. An
// invocation has one sum, or one channel of the token's key or value.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Keys { float keys[]; };
layout(std430, binding = 1) readonly buffer Values { float values[]; };
layout(std430, binding = 2) readonly buffer Position { int position[]; };
layout(std430, binding = 3) buffer State { float state[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint heads;
    uint features;
    uint values;
    uint stride;
    uint offset;
} push;

#include "linear_attention_chunk.glsl"

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint sums = weft_state_sums();
    uint size = sums + push.features + push.values;
    uint head = item / size;
    uint element = item % size;
    uint base = weft_state_base(head);
    uint place = uint(position[head / push.heads]);
    uint row = place % WEFT_CHUNK;
    if (element >= sums) {
        uint channel = element - sums;
        if (channel < push.features) {
            state[weft_state_keys(base) + row * push.features + channel] =
                weft_flush(keys[head * push.features + channel]);
        } else {
            channel = channel - push.features;
            state[weft_state_values(base) + row * push.values + channel] =
                weft_flush(values[head * push.values + channel]);
        }
        return;
    }
    uint products = push.features * push.values;
    uint feature = element < products ? element / push.values : element - products;
    float y = element < products ? values[head * push.values + element % push.values] : 1.0;
    float sum = 0.0;
    if (row == 0) {
        weft_start_chunk(base, element, sums, place / WEFT_CHUNK);
    } else {
        sum = state[base + element];
    }
    state[base + element] =
        weft_flush(weft_multiply_add(keys[head * push.features + feature], y, sum));
}
