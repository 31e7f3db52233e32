#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// The state of the delta rule after the first tokens, of which a sequence's position is the last, of what the whole sequence's
// dispatches made. Before fast_weight/update: their last chunk's rows of K, W and U0, and the sums G and N over it, as
// fast_weight/step_sums adds them up. UPDATED, behind it: the state S at that chunk's start, and the rows of U. An invocation has a
// sum, or a column of the rows.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint UPDATED = 0;
layout(constant_id = 1) const uint HAS_STARTS = 0; // there are chunks behind the first

layout(std430, binding = 0) readonly buffer K { float k[]; };
layout(std430, binding = 1) readonly buffer W { float w[]; };
layout(std430, binding = 2) readonly buffer U { float u[]; };
layout(std430, binding = 3) readonly buffer Starts { float starts[]; }; // of all chunks: S
layout(std430, binding = 4) readonly buffer Position { int position[]; };
layout(std430, binding = 5) writeonly buffer State { float state[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint n;
    uint heads;
    uint features;
    uint values;
    uint stride;
    uint chunks;
} push;

#include "fast_weight_state.glsl"

uint token_row(uint head, uint token)
{
    return (head / push.heads * push.n + token) * push.heads + head % push.heads;
}

uint tokens_of(uint head)
{
    return min(uint(position[head / push.heads]) + 1, push.n);
}

// Σ over the chunk's tokens of W[i, f'] K[i, f], or of K[i, f] U0[i, t].
float add_up(uint head, uint first, bool of_g, uint x, uint y)
{
    uint tokens = tokens_of(head);
    float sum = 0.0;
    for (uint token = first; token < tokens; token++) {
        uint row = token_row(head, token);
        uint key = row * push.features;
        float a = of_g ? w[key + x] : weft_flush(k[key + x]);
        float b = of_g ? weft_flush(k[key + y]) : u[row * push.values + y];
        sum = weft_flush(weft_multiply_add(a, b, sum));
    }
    return sum;
}

void keep_sums(weft_rule_state at, uint head, uint first, uint element)
{
    uint squares = push.features * push.features;
    bool of_g = element < squares;
    uint own = of_g ? element : element - squares;
    uint width = of_g ? push.features : push.values;
    state[at.g + element] = add_up(head, first, of_g, own / width, own % width);
}

void keep_columns(weft_rule_state at, uint head, uint first, uint column)
{
    uint tokens = tokens_of(head);
    for (uint token = first; token < tokens; token++) {
        uint row = token_row(head, token);
        uint i = token - first;
        if (column < push.features) {
            state[at.k + i * push.features + column] = weft_flush(k[row * push.features + column]);
            state[at.w + i * push.features + column] = w[row * push.features + column];
        } else {
            uint t = column - push.features;
            state[at.u0 + i * push.values + t] = u[row * push.values + t];
        }
    }
}

void keep_updated(weft_rule_state at, uint head, uint first, uint element)
{
    uint products = push.features * push.values;
    if (element < products) {
        float start = 0.0;
        if (HAS_STARTS != 0 && first > 0) {
            start = starts[(head * push.chunks + first / WEFT_CHUNK) * products + element];
        }
        state[at.s + element] = start;
        return;
    }
    uint t = element - products;
    uint tokens = tokens_of(head);
    for (uint token = first; token < tokens; token++) {
        state[at.u + (token - first) * push.values + t] = u[token_row(head, token) * push.values + t];
    }
}

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint products = push.features * push.values;
    uint sums = push.features * push.features + products;
    uint size = UPDATED != 0 ? products + push.values : sums + push.features + push.values;
    uint head = item / size;
    uint element = item % size;
    uint first = (tokens_of(head) - 1) / WEFT_CHUNK * WEFT_CHUNK;
    weft_rule_state at = weft_state_of(head);
    if (UPDATED != 0) {
        keep_updated(at, head, first, element);
    } else if (element < sums) {
        keep_sums(at, head, first, element);
    } else {
        keep_columns(at, head, first, element - sums);
    }
}
