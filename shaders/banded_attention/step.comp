#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// form step
// form half_step WEFT_HALVES
//
// Banded attention of one query (step.glsl), in short loops: software drivers execute what is unrolled
// for lanes that have nothing to do, too.

#include "step.glsl"

shared float weights[BLOCK];
shared uint rows[BLOCK];

void keep_weight(uint key, float weight)
{
    weights[key] = weight;
}

float weight_of(uint key)
{
    return weights[key];
}

void keep_row(uint key, uint row)
{
    rows[key] = row;
}

// name(own, key): the product of the query with the key of which `four` and `one` read channels.
#define MULTIPLY_KEY(name, four, one)                                  \
    float name(uint own, uint key)                                     \
    {                                                                  \
        float total = 0.0;                                             \
        for (uint block = 0; block < push.width; block += CHANNELS) {  \
            uint end = min(block + CHANNELS, push.width);              \
            uint whole = block + (end - block) / 4 * 4;                \
            float sum = 0.0;                                           \
            for (uint c = block; c < whole; c += 4) {                  \
                vec4 y = four(key, c);                                 \
                sum = weft_multiply_add(q[own + c], y.x, sum);         \
                sum = weft_multiply_add(q[own + c + 1], y.y, sum);     \
                sum = weft_multiply_add(q[own + c + 2], y.z, sum);     \
                sum = weft_multiply_add(q[own + c + 3], y.w, sum);     \
            }                                                          \
            for (uint c = whole; c < end; c++) {                       \
                sum = weft_multiply_add(q[own + c], one(key, c), sum); \
            }                                                          \
            total = total + sum;                                       \
        }                                                              \
        return total;                                                  \
    }

// A key in the ring, and the token's own.
MULTIPLY_KEY(multiply_key, load_key, load_key_channel)
MULTIPLY_KEY(multiply_own_key, load_own_key, load_own_key_channel)

void find_chunk_largest(uint chunk)
{
    uint found = WEFT_LEAST_KEY;
    [[dont_unroll]] for (uint j = 0; j < WEFT_KEYS; j++)
    {
        found = max(found, weft_order_key(weights[chunk * WEFT_KEYS + j]));
    }
    exchange[chunk] = weft_from_order_key(found);
}

void find_largest(uint chunks, inout float largest, out float before, out float with_chunk)
{
    uint own = gl_LocalInvocationID.x / WEFT_KEYS;
    before = largest;
    with_chunk = largest;
    for (uint i = 0; i < chunks; i++) {
        before = i == own ? largest : before;
        largest = weft_larger(largest, exchange[i]);
        with_chunk = i == own ? largest : with_chunk;
    }
}

float chunk_sum(uint chunk)
{
    float sum = 0.0;
    [[dont_unroll]] for (uint j = 0; j < WEFT_KEYS; j++)
    {
        sum = sum + weights[chunk * WEFT_KEYS + j];
    }
    return sum;
}

vec4 sum_keys(uint first, uint end, uint four)
{
    vec4 sum = vec4(0.0);
    for (uint j = first; j < end; j++) {
        sum = weft_multiply_add(weights[j], load_value(rows[j], four), sum);
    }
    return sum;
}
