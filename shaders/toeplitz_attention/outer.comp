#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// For each token and head the products of every feature of its key with every element of its value,
// and with 1, for the first tokens of a sequence: [batch, tokens, features, values + 1, heads]. Heads come
// last, so that the head of a channel is its number modulo the heads.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Keys { float keys[]; }; // [batch, n, heads, features]
layout(std430, binding = 1) readonly buffer Values { float values[]; }; // [batch, n, heads, values]
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint heads;
    uint features;
    uint values;
    uint tokens; // of a sequence, of its n
    uint n;
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint columns = push.values + 1;
    uint head = index % push.heads;
    uint pair = index / push.heads;
    uint column = pair % columns;
    uint feature = pair / columns % push.features;
    uint token = pair / columns / push.features; // of all sequences
    token = token / push.tokens * push.n + token % push.tokens;
    uint row = token * push.heads + head;
    float key = keys[row * push.features + feature];
    float value = column < push.values
                      ? values[row * push.values + min(column, push.values - 1)]
                      : 1.0;
    result[index] = weft_flush(key * value);
}
