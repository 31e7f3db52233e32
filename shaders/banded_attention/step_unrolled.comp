#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// form step_unrolled
// form half_step_unrolled WEFT_HALVES
//
// Banded attention of one query (step.glsl) on GPUs: sixteen channels, four keys and all of a chunk at
// once.

#include "step.glsl"

#include "largest.glsl"

shared vec4 weights[BLOCK / 4];
shared uvec4 rows[BLOCK / 4];
shared uvec4 largest_keys[CHUNKS / 4]; // of weft_order_key

void keep_weight(uint key, float weight)
{
    weights[key / 4][key % 4] = weight;
}

float weight_of(uint key)
{
    return weights[key / 4][key % 4];
}

void keep_row(uint key, uint row)
{
    rows[key / 4][key % 4] = row;
}

// name(own, key): the product of the query with the key of which `four` and `one` read channels.
#define MULTIPLY_KEY(name, four, one)                                  \
    float name##_four(uint own, uint key, uint c, float sum)           \
    {                                                                  \
        vec4 y = four(key, c);                                         \
        sum = weft_multiply_add(q[own + c], y.x, sum);                 \
        sum = weft_multiply_add(q[own + c + 1], y.y, sum);             \
        sum = weft_multiply_add(q[own + c + 2], y.z, sum);             \
        return weft_multiply_add(q[own + c + 3], y.w, sum);            \
    }                                                                  \
    float name(uint own, uint key)                                     \
    {                                                                  \
        float total = 0.0;                                             \
        for (uint block = 0; block < push.width; block += CHANNELS) {  \
            uint end = min(block + CHANNELS, push.width);              \
            float sum = 0.0;                                           \
            uint c = block;                                            \
            for (; c + 16 <= end; c += 16) {                           \
                [[unroll]] for (uint i = 0; i < 16; i += 4)            \
                {                                                      \
                    sum = name##_four(own, key, c + i, sum);           \
                }                                                      \
            }                                                          \
            for (; c + 4 <= end; c += 4) {                             \
                sum = name##_four(own, key, c, sum);                   \
            }                                                          \
            for (; c < end; c++) {                                     \
                sum = weft_multiply_add(q[own + c], one(key, c), sum); \
            }                                                          \
            total = total + sum;                                       \
        }                                                              \
        return total;                                                  \
    }

MULTIPLY_KEY(multiply_key, load_key, load_key_channel)
MULTIPLY_KEY(multiply_own_key, load_own_key, load_own_key_channel)

void find_chunk_largest(uint chunk)
{
    weft_largest largest = weft_largest_of_none();
    [[unroll]] for (uint i = 0; i < WEFT_KEYS / 4; i++)
    {
        vec4 four = weights[chunk * (WEFT_KEYS / 4) + i];
        weft_note(largest, four.x);
        weft_note(largest, four.y);
        weft_note(largest, four.z);
        weft_note(largest, four.w);
    }
    largest_keys[chunk / 4][chunk % 4] = weft_largest_key(largest);
}

// All chunks are there: those without keys of the band have -inf.
void find_largest(uint chunks, inout float largest, out float before, out float with_chunk)
{
    uint own = gl_LocalInvocationID.x / WEFT_KEYS;
    uint key = weft_order_key(largest);
    uint key_before = key;
    uint key_with = key;
    [[unroll]] for (uint i = 0; i < CHUNKS; i++)
    {
        key_before = i == own ? key : key_before;
        key = max(key, largest_keys[i / 4][i % 4]);
        key_with = i == own ? key : key_with;
    }
    largest = weft_from_order_key(key);
    before = weft_from_order_key(key_before);
    with_chunk = weft_from_order_key(key_with);
}

float chunk_sum(uint chunk)
{
    float sum = 0.0;
    [[unroll]] for (uint i = 0; i < WEFT_KEYS / 4; i++)
    {
        vec4 four = weights[chunk * (WEFT_KEYS / 4) + i];
        sum = (((sum + four.x) + four.y) + four.z) + four.w;
    }
    return sum;
}

vec4 sum_keys(uint first, uint end, uint four)
{
    vec4 sum = vec4(0.0);
    uint j = first;
    for (; j % 4 != 0 && j < end; j++) {
        sum = weft_multiply_add(weight_of(j), load_value(rows[j / 4][j % 4], four), sum);
    }
    for (; j + 4 <= end; j += 4) {
        vec4 own = weights[j / 4];
        uvec4 at = rows[j / 4];
        vec4 values[4] = vec4[](load_value(at.x, four), load_value(at.y, four),
                                load_value(at.z, four), load_value(at.w, four));
        [[unroll]] for (uint i = 0; i < 4; i++)
        {
            sum = weft_multiply_add(own[i], values[i], sum);
        }
    }
    for (; j < end; j++) {
        sum = weft_multiply_add(weight_of(j), load_value(rows[j / 4][j % 4], four), sum);
    }
    return sum;
}
