#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Banded attention of one query, with the sums that band.glsl describes: its band are its own key and
// those of the `before` tokens in front of it, which lie in a ring of before + 1 rows, token j in row
// j % (before + 1). A workgroup of 128 has a head and takes a block of 128 keys at a time.

#include "band_chunks.glsl"
#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"
#include "reduce.glsl"

#define CHANNELS 64 // of a partial sum of a score
#define BLOCK    128 // keys
#define CHUNKS   (BLOCK / WEFT_KEYS)

layout(local_size_x = 128) in;
layout(constant_id = 0) const uint VECTOR = 0; // whole, aligned fours in every head

layout(std430, binding = 0) readonly buffer Q { float q[]; };
layout(std430, binding = 1) readonly buffer K { float k[]; };
layout(std430, binding = 2) readonly buffer V { float v[]; };
layout(std430, binding = 3) readonly buffer Position { int position[]; };
// Of each sequence [before + 1, d] keys, then as many values.
layout(std430, binding = 4) buffer State { float state[]; };
layout(std430, binding = 4) buffer StateVector { vec4 state4[]; };
layout(std430, binding = 5) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint groups; // heads of all batches
    uint width; // channels of a head
    uint groups_x;
    uint heads;
    uint before;
    float scale;
} push;

shared float weights[BLOCK]; // scores at first
shared uint rows[BLOCK]; // where the keys' values are in the ring
shared float exchange[CHUNKS]; // what the chunks tell each other
shared float factors[CHUNKS]; // for what there was before the chunk

// Where the head's channels of a token are in the ring.
uint ring_row(uint base, uint token)
{
    return base + token % (push.before + 1) * (push.heads * push.width);
}

vec4 load_key(uint index)
{
    if (VECTOR != 0) {
        return state4[index / 4];
    }
    return vec4(state[index], state[index + 1], state[index + 2], state[index + 3]);
}

// The product of the query with a key in the ring.
float multiply_key(uint own, uint key)
{
    float total = 0.0;
    for (uint block = 0; block < push.width; block += CHANNELS) {
        uint end = min(block + CHANNELS, push.width);
        uint whole = block + (end - block) / 4 * 4;
        float sum = 0.0;
        for (uint c = block; c < whole; c += 4) {
            vec4 y = load_key(key + c);
            sum = weft_multiply_add(q[own + c], y.x, sum);
            sum = weft_multiply_add(q[own + c + 1], y.y, sum);
            sum = weft_multiply_add(q[own + c + 2], y.z, sum);
            sum = weft_multiply_add(q[own + c + 3], y.w, sum);
        }
        for (uint c = whole; c < end; c++) {
            sum = weft_multiply_add(q[own + c], state[key + c], sum);
        }
        total = total + sum;
    }
    return total;
}

// The same with the token's own key.
float multiply_own_key(uint own)
{
    float total = 0.0;
    for (uint block = 0; block < push.width; block += CHANNELS) {
        uint end = min(block + CHANNELS, push.width);
        float sum = 0.0;
        for (uint c = block; c < end; c++) {
            sum = weft_multiply_add(q[own + c], k[own + c], sum);
        }
        total = total + sum;
    }
    return total;
}

float chunk_largest(weft_band band, uint block, uint chunk)
{
    float found = uintBitsToFloat(0xff800000u); // -inf
    for (uint j = chunk * WEFT_KEYS; j < (chunk + 1) * WEFT_KEYS; j++) {
        if (weft_band_has(band, block + j)) {
            found = weft_larger(found, weights[j]);
        }
    }
    return found;
}

float chunk_sum(weft_band band, uint block, uint chunk)
{
    float sum = 0.0;
    for (uint j = chunk * WEFT_KEYS; j < (chunk + 1) * WEFT_KEYS; j++) {
        if (weft_band_has(band, block + j)) {
            sum = sum + weights[j];
        }
    }
    return sum;
}

// From scores to weights, with a chunk's factor. `largest` is that of the chunks before the block and
// then of the block's too.
void make_weights(weft_band band, uint block, inout float largest)
{
    uint lane = gl_LocalInvocationID.x;
    float before = largest;
    float with_chunk = largest;
    for (uint i = 0; i < CHUNKS; i++) {
        before = i == lane / WEFT_KEYS ? largest : before;
        if (weft_band_meets(band, block + i * WEFT_KEYS)) {
            largest = weft_larger(largest, exchange[i]);
        }
        with_chunk = i == lane / WEFT_KEYS ? largest : with_chunk;
    }
    float shift = weft_band_shift(with_chunk);
    weights[lane] = weft_causal_unit(band) * weft_exp(weights[lane] - shift);
    if (lane % WEFT_KEYS == 0) {
        factors[lane / WEFT_KEYS] = weft_exp(before - shift);
    }
}

// A channel of what the block adds to the result.
void add_values(weft_band band, uint block, uint own, uint channel, float inverse)
{
    for (uint i = 0; i < CHUNKS; i++) {
        uint chunk = block + i * WEFT_KEYS;
        if (!weft_band_meets(band, chunk)) {
            continue;
        }
        bool has_own = weft_band_ends(band, chunk);
        uint end = has_own ? band.end - 1 : chunk + WEFT_KEYS;
        float sum = 0.0;
        for (uint j = max(band.begin, chunk); j < end; j++) {
            sum = weft_multiply_add(weights[j - block], state[rows[j - block] + channel], sum);
        }
        if (has_own) {
            sum = weft_multiply_add(weights[end - block], v[own + channel], sum);
        }
        float value = sum;
        if (!weft_band_starts(band, chunk)) {
            value = factors[i] * result[own + channel] + value;
        }
        if (has_own) {
            value = inverse * value;
        }
        result[own + channel] = weft_flush(value);
    }
}

void add_block(weft_band band, uint block, uint own, uint keys, uint values, inout float largest,
               inout float total)
{
    uint lane = gl_LocalInvocationID.x;
    uint key = block + lane;
    if (key + 1 == band.end) {
        weights[lane] = push.scale * multiply_own_key(own);
    } else if (weft_band_has(band, key)) {
        weights[lane] = push.scale * multiply_key(own, ring_row(keys, key));
        rows[lane] = ring_row(values, key);
    }
    barrier();
    if (lane < CHUNKS) {
        exchange[lane] = chunk_largest(band, block, lane);
    }
    barrier();
    make_weights(band, block, largest);
    barrier();
    if (lane < CHUNKS) {
        exchange[lane] = chunk_sum(band, block, lane);
    }
    barrier();
    for (uint i = 0; i < CHUNKS; i++) {
        uint chunk = block + i * WEFT_KEYS;
        if (weft_band_meets(band, chunk)) {
            total = weft_band_starts(band, chunk) ? exchange[i] : factors[i] * total + exchange[i];
        }
    }
    float inverse = weft_rcp(total); // of use behind the last block
    for (uint channel = lane; channel < push.width; channel += BLOCK) {
        add_values(band, block, own, channel, inverse);
    }
    barrier();
}

void main()
{
    uint head = weft_group_index(push.groups_x);
    if (head >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint lane = gl_LocalInvocationID.x;
    uint sequence = head / push.heads;
    uint ring_size = (push.before + 1) * (push.heads * push.width);
    uint keys = sequence * 2 * ring_size + head % push.heads * push.width;
    uint values = keys + ring_size;
    uint own = head * push.width;
    uint place = uint(position[sequence]);
    weft_band band = weft_band(place - min(place, push.before), place + 1);
    float largest = uintBitsToFloat(0xff800000u); // -inf
    float total = 0.0;
    for (uint block = band.begin / WEFT_KEYS * WEFT_KEYS; block < band.end; block += BLOCK) {
        add_block(band, block, own, keys, values, largest, total);
    }
    // No band has both this token and the one whose row it takes.
    for (uint channel = lane; channel < push.width; channel += BLOCK) {
        state[ring_row(keys, place) + channel] = weft_flush(k[own + channel]);
        state[ring_row(values, place) + channel] = weft_flush(v[own + channel]);
    }
}
