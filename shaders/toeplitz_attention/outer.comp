#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// For each token and head the products of every feature of its key with every element of its value,
// and with 1, for the first tokens of a sequence: [batch, tokens, features, values + 1, heads]. Heads come
// last, so that the head of a channel is its number modulo the heads.

#include "divide.glsl"
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
    WEFT_INVERSE(heads)
    WEFT_INVERSE(columns)
    WEFT_INVERSE(features)
    WEFT_INVERSE(tokens)
} push;

void main()
{
    uint index = weft_item_index(push.groups_x);
    if (index >= push.count) {
        return;
    }
    uint columns = push.values + 1;
    uint head = WEFT_REMAINDER(index, heads);
    uint pair = WEFT_QUOTIENT(index, heads);
    uint rest = WEFT_QUOTIENT(pair, columns);
    uint column = pair - rest * columns;
    uint feature = WEFT_REMAINDER(rest, features);
    uint token = WEFT_QUOTIENT(rest, features); // of all sequences
    token = WEFT_QUOTIENT(token, tokens) * push.n + WEFT_REMAINDER(token, tokens);
    uint row = token * push.heads + head;
    float key = keys[row * push.features + feature];
    float value = column < push.values
                      ? values[row * push.values + min(column, push.values - 1)]
                      : 1.0;
    result[index] = weft_flush(key * value);
}
