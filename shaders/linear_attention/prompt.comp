#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The state of linear attention after the first tokens, of which a sequence's position is the last, as linear_attention/step_sums
// leaves it: an invocation has one sum, or one channel of the last chunk's keys or values, and goes through the tokens.

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
    uint n;
    uint heads;
    uint features;
    uint values;
    uint stride;
    uint offset;
} push;

#include "linear_attention_chunk.glsl"

uint token_row(uint head, uint token)
{
    return (head / push.heads * push.n + token) * push.heads + head % push.heads;
}

uint tokens_of(uint head)
{
    return min(uint(position[head / push.heads]) + 1, push.n);
}

void keep_channel(uint base, uint head, uint channel)
{
    uint tokens = tokens_of(head);
    uint first = (tokens - 1) / WEFT_CHUNK * WEFT_CHUNK;
    for (uint token = first; token < tokens; token++) {
        uint row = token_row(head, token);
        if (channel < push.features) {
            state[weft_state_keys(base) + (token - first) * push.features + channel] =
                weft_flush(keys[row * push.features + channel]);
        } else {
            uint own = channel - push.features;
            state[weft_state_values(base) + (token - first) * push.values + own] =
                weft_flush(values[row * push.values + own]);
        }
    }
}

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
    if (element >= sums) {
        keep_channel(base, head, element - sums);
        return;
    }
    uint products = push.features * push.values;
    bool is_product = element < products;
    uint feature = is_product ? element / push.values : element - products;
    uint column = is_product ? element % push.values : 0;
    uint tokens = tokens_of(head);
    for (uint first = 0; first < tokens; first += WEFT_CHUNK) {
        weft_start_chunk(base, element, sums, first / WEFT_CHUNK);
        uint end = min(first + WEFT_CHUNK, tokens);
        float sum = 0.0;
        for (uint token = first; token < end; token++) {
            uint row = token_row(head, token);
            float y = is_product ? values[row * push.values + column] : 1.0;
            sum = weft_flush(weft_multiply_add(keys[row * push.features + feature], y, sum));
        }
        state[base + element] = sum;
    }
}
