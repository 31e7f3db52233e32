#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What a query reads from the weighted sums of products [batch, tokens, features, values + 1, heads]:
// Σ_f q_f sums[f, t] / Σ_f q_f sums[f, values], for the tokens from `first` on. An invocation makes one
// element.

#include "index.glsl"
#include "math.glsl"
#include "guard.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Queries { float queries[]; }; // [batch, n, heads, features]
layout(std430, binding = 1) readonly buffer Sums { float sums[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; }; // [batch, n, heads, values]

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint heads;
    uint features;
    uint values;
    uint tokens; // of a sequence in sums, of its n
    uint n;
    uint first;
    float epsilon;
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint column = index % push.values;
    uint head = index / push.values % push.heads;
    uint made = index / push.values / push.heads; // token of all that are made
    uint rest = push.tokens - push.first;
    uint token = push.first + made % rest;
    uint row = (made / rest * push.n + token) * push.heads + head;
    uint columns = push.values + 1;
    uint base = (made / rest * push.tokens + token) * push.features * columns * push.heads + head;
    weft_partial numerator = weft_partial_zero();
    weft_partial denominator = weft_partial_zero();
    for (uint f = 0; f < push.features; f++) {
        float query = queries[row * push.features + f];
        uint at = base + f * columns * push.heads;
        numerator = weft_partial_add_product(numerator, query, sums[at + column * push.heads]);
        denominator = weft_partial_add_product(denominator, query, sums[at + push.values * push.heads]);
    }
    float guarded = weft_guarded(weft_partial_sum(denominator), push.epsilon);
    result[row * push.values + column] = weft_flush(weft_div(weft_partial_sum(numerator), guarded));
}
