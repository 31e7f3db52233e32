#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Adds a token to the state of linear attention. At a chunk's start the sums of the last chunk go to
// those before it, in the order of linear_attention/scan; at position 0 there is nothing before. An
// invocation has one sum, or one channel of the token's key or value. On processors it has a column of the
// products of some features, and workgroups lie in rows: BY_ROWS.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint BY_ROWS = 0;
layout(constant_id = 66) const uint FIXED_ROW_FEATURES = 16; // of a workgroup then

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
    WEFT_INVERSE(values)
    WEFT_INVERSE(size) // what divides by the items of a head
} push;

#include "linear_attention_chunk.glsl"

struct Token
{
    uint head, base, sums;
    uint place;
};

Token token_of(uint head)
{
    return Token(head, weft_state_base(head), weft_state_sums(), uint(position[head / push.heads]));
}

void add_sum(Token t, uint element, float key, float y)
{
    uint at = t.base + element;
    float sum = 0.0;
    if (t.place % WEFT_CHUNK == 0) {
        weft_start_chunk(t.base, element, t.sums, t.place / WEFT_CHUNK);
    } else {
        sum = state[at];
    }
    state[at] = weft_flush(weft_multiply_add(key, y, sum));
}

void keep_key(Token t, uint channel)
{
    uint row = weft_state_keys(t.base) + t.place % WEFT_CHUNK * push.features;
    state[row + channel] = weft_flush(keys[t.head * push.features + channel]);
}

void keep_value(Token t, uint channel)
{
    uint row = weft_state_values(t.base) + t.place % WEFT_CHUNK * push.values;
    state[row + channel] = weft_flush(values[t.head * push.values + channel]);
}

void add_item(uint item)
{
    uint sums = weft_state_sums();
    uint size = sums + push.features + push.values;
    uint head = WEFT_QUOTIENT(item, size);
    Token t = token_of(head);
    uint element = item - head * size;
    uint products = push.features * push.values;
    if (element >= sums + push.features) {
        keep_value(t, element - sums - push.features);
    } else if (element >= sums) {
        keep_key(t, element - sums);
    } else {
        uint feature = element < products ? WEFT_QUOTIENT(element, values) : element - products;
        float y = element < products ? values[t.head * push.values + WEFT_REMAINDER(element, values)] : 1.0;
        add_sum(t, element, keys[t.head * push.features + feature], y);
    }
}

// What all features have in common: the sums of the denominator, and the token's own key and value.
void add_vectors(Token t, uvec2 place)
{
    uint products = push.features * push.values;
    uint apart = (push.values - 1) / WEFT_ITEMS_PER_GROUP * WEFT_ITEMS_PER_GROUP + WEFT_ITEMS_PER_GROUP;
    if (place.x < push.values) {
        keep_value(t, place.x);
    }
    for (uint first = place.x - gl_LocalInvocationID.x; first < push.features; first += apart) {
        uint feature = first + gl_LocalInvocationID.x;
        if (feature < push.features) {
            add_sum(t, products + feature, keys[t.head * push.features + feature], 1.0);
            keep_key(t, feature);
        }
    }
}

void add_rows(Token t, uvec2 place, uint first)
{
    uint end = min(first + FIXED_ROW_FEATURES, push.features);
    if (place.x < push.values) {
        float value = values[t.head * push.values + place.x];
        for (uint feature = first; feature < end; feature++) {
            add_sum(t, feature * push.values + place.x, keys[t.head * push.features + feature], value);
        }
    }
}

void main()
{
    if (BY_ROWS == 0) {
        uint item = weft_item_index(push.groups_x);
        if (item < push.count) {
            add_item(item);
        }
    } else {
        uvec2 place = weft_row_item(push.groups_x, push.values);
        uint blocks = (push.features - 1) / FIXED_ROW_FEATURES + 2; // of features, and one of vectors
        uint block = place.y % blocks;
        if (place.y >= push.count) {
            return; // the whole group
        }
        Token t = token_of(place.y / blocks);
        if (block + 1 == blocks) {
            add_vectors(t, place);
        } else {
            add_rows(t, place, block * FIXED_ROW_FEATURES);
        }
    }
}
