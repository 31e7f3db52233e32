#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Adds what a token's rows of K, W and U0 give to the sums G and N over its chunk. An invocation has
// an element of either. On processors it has a column of some of their rows, and workgroups lie in rows: BY_ROWS.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint BY_ROWS = 0;
layout(constant_id = 66) const uint FIXED_ROW_FEATURES = 16; // of a workgroup then

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
    WEFT_INVERSE(features)
    WEFT_INVERSE(values)
    WEFT_INVERSE(size) // what divides by the items of a head
} push;

#include "fast_weight_state.glsl"

void add_product(uint at, bool starts, float x, float y)
{
    float sum = starts ? 0.0 : state[at];
    state[at] = weft_flush(weft_multiply_add(x, y, sum));
}

void add_item(uint item)
{
    uint squares = push.features * push.features;
    uint size = squares + push.features * push.values;
    uint head = WEFT_QUOTIENT(item, size);
    uint element = item - head * size;
    weft_rule_state at = weft_state_of(head);
    uint row = uint(position[head / push.heads]) % WEFT_CHUNK;
    uint keys = at.k + row * push.features;
    uint x = at.w + row * push.features + WEFT_QUOTIENT(element, features);
    uint y = keys + WEFT_REMAINDER(element, features);
    if (element >= squares) {
        x = keys + WEFT_QUOTIENT(element - squares, values);
        y = at.u0 + row * push.values + WEFT_REMAINDER(element - squares, values);
    }
    add_product(at.g + element, row == 0, state[x], state[y]);
}

// Of features from `first` on a column of G's rows and of N's.
void add_rows(uint head, uint first, uint column)
{
    weft_rule_state at = weft_state_of(head);
    uint row = uint(position[head / push.heads]) % WEFT_CHUNK;
    uint keys = at.k + row * push.features;
    uint w = at.w + row * push.features;
    uint end = min(first + FIXED_ROW_FEATURES, push.features);
    if (column < push.features) {
        float key = state[keys + column];
        for (uint f = first; f < end; f++) {
            add_product(at.g + f * push.features + column, row == 0, state[w + f], key);
        }
    }
    if (column < push.values) {
        float u = state[at.u0 + row * push.values + column];
        for (uint f = first; f < end; f++) {
            add_product(at.n + f * push.values + column, row == 0, state[keys + f], u);
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
        uvec2 place = weft_row_item(push.groups_x, max(push.features, push.values));
        uint blocks = (push.features - 1) / FIXED_ROW_FEATURES + 1;
        if (place.y < push.count) {
            add_rows(place.y / blocks, place.y % blocks * FIXED_ROW_FEATURES, place.x);
        }
    }
}
