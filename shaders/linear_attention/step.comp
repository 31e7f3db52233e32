#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What a query reads from the state of linear attention, with the sums of linear_attention/apply: its
// products with the sums before the chunk and, in the chunk, with the keys up to its own. A workgroup
// has COLUMNS of a head's values, an invocation one.

#include "index.glsl"
#include "math.glsl"

#define COLUMNS 128

layout(local_size_x = COLUMNS) in;
layout(constant_id = 0) const uint ACCUMULATE = 0; // add to the result

layout(std430, binding = 0) readonly buffer Queries { float queries[]; };
layout(std430, binding = 1) readonly buffer Position { int position[]; };
layout(std430, binding = 2) readonly buffer State { float state[]; };
layout(std430, binding = 3) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint groups; // heads of all batches, times column blocks
    uint column_blocks;
    uint groups_x;
    uint heads;
    uint features;
    uint values;
    uint stride;
    uint offset;
    float epsilon; // least magnitude of a denominator
    float weight; // factor on the result
} push;

#include "guard.glsl"
#include "linear_attention_state.glsl"

shared float scores[WEFT_CHUNK];
shared float before_chunk; // of the denominator

// The product of the query with a row, or a column, of the state: its elements are `step` apart.
float multiply(uint query, uint first, uint step)
{
    float total = 0.0;
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        float sum = 0.0;
        for (uint f = block; f < end; f++) {
            sum = weft_multiply_add(queries[query + f], state[first + f * step], sum);
        }
        total = total + sum;
    }
    return total;
}

float make_denominator(uint last)
{
    float sum = 0.0;
    for (uint j = 0; j <= last; j++) {
        sum = sum + scores[j];
    }
    return weft_guarded(before_chunk + sum, push.epsilon);
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint lane = gl_LocalInvocationID.x;
    uint head = group / push.column_blocks;
    uint base = weft_state_base(head);
    uint start = base + weft_state_sums(); // of the sums before the chunk
    uint place = uint(position[head / push.heads]);
    uint last = place % WEFT_CHUNK;
    uint query = head * push.features;
    if (lane <= last) {
        scores[lane] = multiply(query, weft_state_keys(base) + lane * push.features, 1);
    }
    if (lane == WEFT_CHUNK) {
        before_chunk = 0.0;
        if (place >= WEFT_CHUNK) {
            before_chunk = multiply(query, start + push.features * push.values, 1);
        }
    }
    barrier();
    uint column = group % push.column_blocks * COLUMNS + lane;
    if (column >= push.values) {
        return;
    }
    float total = 0.0;
    if (place >= WEFT_CHUNK) {
        total = multiply(query, start + column, push.values);
    }
    float sum = 0.0;
    uint value_at = weft_state_values(base) + column;
    for (uint j = 0; j <= last; j++) {
        sum = weft_multiply_add(scores[j], state[value_at + j * push.values], sum);
    }
    float value = push.weight * weft_div(total + sum, make_denominator(last));
    uint at = head * push.values + column;
    if (ACCUMULATE != 0) {
        value = result[at] + value;
    }
    result[at] = weft_flush(value);
}
