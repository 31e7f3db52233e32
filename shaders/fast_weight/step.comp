#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// A token of the delta rule, given the state at the start of its chunk: its rows of K, W and U, as
// fast_weight/solve and fast_weight/update make them, and what its query reads, as
// linear_attention/apply adds it up. A workgroup has a head.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer Queries { float queries[]; };
layout(std430, binding = 1) readonly buffer Keys { float keys[]; };
layout(std430, binding = 2) readonly buffer Values { float values[]; };
layout(std430, binding = 3) readonly buffer Beta { float beta[]; };
layout(std430, binding = 4) readonly buffer Position { int position[]; };
layout(std430, binding = 5) buffer State { float state[]; };
layout(std430, binding = 6) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint groups; // heads of all batches
    uint features; // at most WEFT_MAX_FEATURES
    uint groups_x;
    uint heads;
    uint values;
    uint stride;
} push;

#include "fast_weight.glsl"
#include "fast_weight_state.glsl"

shared float key_scores[WEFT_CHUNK]; // of the token's key with the chunk's keys before it
shared float query_scores[WEFT_CHUNK]; // of its query with these and its own
shared float own_w[WEFT_MAX_FEATURES];

// The products of the chunk's keys before this token's, and its own, with its key or its query.
float score(bool of_query, uint head, uint key_row, bool own)
{
    uint at = head * push.features;
    float total = 0.0;
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        float sum = 0.0;
        for (uint f = block; f < end; f++) {
            float x = of_query ? queries[at + f] : keys[at + f];
            float y = own ? keys[at + f] : state[key_row + f];
            sum = weft_multiply_add(x, y, sum);
        }
        total = total + sum;
    }
    return total;
}

void make_scores(uint head, weft_rule_state at, uint last)
{
    uint lane = gl_LocalInvocationID.x;
    uint j = lane % WEFT_CHUNK;
    bool of_query = lane >= WEFT_CHUNK;
    if (j < last || (of_query && j == last)) {
        float product = score(of_query, head, at.k + j * push.features, j == last);
        if (of_query) {
            query_scores[j] = product;
        } else {
            key_scores[j] = product;
        }
    }
}

// β (x - Σ_j scores_j rows_j), a column of it.
float solve(float x, float factor, uint rows, uint width, uint last)
{
    float sum = 0.0;
    for (uint j = 0; j < last; j++) {
        sum = weft_multiply_add(key_scores[j], state[rows + j * width], sum);
    }
    return weft_flush(factor * (x - sum));
}

void make_w(uint head, weft_rule_state at, uint last)
{
    for (uint f = gl_LocalInvocationID.x; f < push.features; f += 128) {
        float key = keys[head * push.features + f];
        own_w[f] = solve(key, beta[head], at.w + f, push.features, last);
        state[at.w + last * push.features + f] = own_w[f];
        state[at.k + last * push.features + f] = weft_flush(key);
    }
}

// A column of S times the token's row of W, or its query.
float read_state(bool with_query, uint head, uint column)
{
    float total = 0.0;
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        float sum = 0.0;
        for (uint f = block; f < end; f++) {
            float x = with_query ? queries[head * push.features + f] : own_w[f];
            sum = weft_multiply_add(x, state[column + f * push.values], sum);
        }
        total = total + sum;
    }
    return total;
}

void make_column(uint head, weft_rule_state at, uint place, uint t)
{
    uint last = place % WEFT_CHUNK;
    uint index = head * push.values + t;
    float u = solve(values[index], beta[head], at.u0 + t, push.values, last);
    float total = 0.0;
    state[at.u0 + last * push.values + t] = u;
    if (place >= WEFT_CHUNK) {
        u = weft_flush(u - read_state(false, head, at.s + t));
        total = read_state(true, head, at.s + t);
    }
    state[at.u + last * push.values + t] = u;
    float sum = 0.0;
    for (uint j = 0; j < last; j++) {
        sum = weft_multiply_add(query_scores[j], state[at.u + j * push.values + t], sum);
    }
    sum = weft_multiply_add(query_scores[last], u, sum);
    result[index] = weft_flush(total + sum);
}

void main()
{
    uint head = weft_group_index(push.groups_x);
    if (head >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    weft_rule_state at = weft_state_of(head);
    uint place = uint(position[head / push.heads]);
    make_scores(head, at, place % WEFT_CHUNK);
    barrier();
    make_w(head, at, place % WEFT_CHUNK);
    barrier();
    for (uint t = gl_LocalInvocationID.x; t < push.values; t += 128) {
        make_column(head, at, place, t);
    }
}
