// SPDX-License-Identifier: MIT
//
// Banded attention of one query, with the sums that band.glsl describes: its band are its own key and
// those of the `before` tokens in front of it, which lie in a ring of before + 1 rows for each head, token j in row
// j % (before + 1). A workgroup of 128 has a head and takes a block of 128 keys at a time. What is
// done for each channel and each key is in step.comp and step_unrolled.comp.

#ifndef WEFT_BANDED_ATTENTION_STEP_GLSL
#define WEFT_BANDED_ATTENTION_STEP_GLSL

#extension GL_EXT_control_flow_attributes : require

#include "band_chunks.glsl"
#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"
#include "reduce.glsl"

#define CHANNELS 64 // of a partial sum of a score
#define BLOCK    128 // keys
#define CHUNKS   (BLOCK / WEFT_KEYS)
#define LANES    16 // of a chunk when values are summed
#define TILE     64 // channels that they sum

layout(local_size_x = 128) in;
layout(constant_id = 0) const uint VECTOR = 0; // whole, aligned fours in every head
layout(constant_id = 1) const uint HAS_SINKS = 0;

layout(std430, binding = 0) readonly buffer Q { float q[]; };
layout(std430, binding = 1) readonly buffer K { float k[]; };
layout(std430, binding = 2) readonly buffer V { float v[]; };
layout(std430, binding = 3) readonly buffer Position { int position[]; };
// Of each sequence [heads of k, before + 1, width] keys, then as many values.
layout(std430, binding = 4) buffer State { float state[]; };
layout(std430, binding = 4) buffer StateVector { vec4 state4[]; };
layout(std430, binding = 5) buffer Result { float result[]; };
layout(std430, binding = 6) readonly buffer Sinks { float sinks[]; }; // of each head

layout(push_constant) uniform Push
{
    uint groups; // heads of all batches
    uint width; // channels of a head
    uint groups_x;
    uint heads;
    uint group; // heads of q that read one head of k and v
    uint before;
    float scale;
} push;

shared float exchange[CHUNKS]; // what the chunks tell each other
shared float factors[CHUNKS]; // for what there was before the chunk
shared vec4 sums[CHUNKS][LANES]; // over the values of the chunks' keys

// The product of the query with a key in the ring, and with the token's own.
float multiply_key(uint own, uint key);
float multiply_own_key(uint own, uint key);

// Of the block's keys: their weights, scores at first, and where their values are in the ring.
void keep_weight(uint key, float weight);
float weight_of(uint key);
void keep_row(uint key, uint row);

// The largest score of a chunk of the block, for find_largest. Keys outside the band have the score -inf and the
// weight 0: neither changes what is found.
void find_chunk_largest(uint chunk);

// The largest score of the chunks before the block and then of the block's too; before a lane's chunk; with that.
void find_largest(uint chunks, inout float largest, out float before, out float with_chunk);

float chunk_sum(uint chunk);

// Four channels, 4 four ... 4 four + 3, of the sum over the block's keys first ... end - 1, which are in the ring.
vec4 sum_keys(uint first, uint end, uint four);

// Where a token's row is in the ring.
uint ring_row(uint token)
{
    return token % (push.before + 1) * push.width;
}

vec4 load_key(uint index)
{
    if (VECTOR != 0) {
        return state4[index / 4];
    }
    return vec4(state[index], state[index + 1], state[index + 2], state[index + 3]);
}

vec4 load_own_key(uint index)
{
    return vec4(k[index], k[index + 1], k[index + 2], k[index + 3]);
}

// How many of the block's chunks have keys of the band: the first ones.
uint count_chunks(weft_band band, uint block)
{
    return min((band.end - block + WEFT_KEYS - 1) / WEFT_KEYS, CHUNKS);
}

// From scores to weights, with a chunk's factor. `largest` is that of the chunks before the block and
// then of the block's too.
void make_weights(weft_band band, uint block, inout float largest)
{
    uint lane = gl_LocalInvocationID.x;
    float before;
    float with_chunk;
    find_largest(count_chunks(band, block), largest, before, with_chunk);
    float shift = weft_band_shift(with_chunk);
    float weight = weft_causal_unit(band) * weft_exp(weight_of(lane) - shift);
    keep_weight(lane, weft_band_has(band, block + lane) ? weight : 0.0);
    if (lane % WEFT_KEYS == 0) {
        factors[lane / WEFT_KEYS] = weft_exp(before - shift);
    }
}

// By the number of the four channels, which counts up from lane to lane whatever the row is.
vec4 load_value(uint row, uint four)
{
    if (VECTOR != 0) {
        return state4[row / 4 + four];
    }
    uvec4 at = row + min(4 * four + uvec4(0, 1, 2, 3), push.width - 1);
    return vec4(state[at.x], state[at.y], state[at.z], state[at.w]);
}

vec4 load_own_value(uint own_key, uint channel)
{
    uvec4 at = own_key + min(channel + uvec4(0, 1, 2, 3), push.width - 1);
    return vec4(v[at.x], v[at.y], v[at.z], v[at.w]);
}

// Four channels of the sum over the keys of the lane's chunk that are within the band.
void sum_values(weft_band band, uint block, uint own_key, uint tile)
{
    uint lane = gl_LocalInvocationID.x % LANES;
    uint number = gl_LocalInvocationID.x / LANES;
    uint chunk = block + number * WEFT_KEYS;
    uint four = tile / 4 + lane;
    if (!weft_band_meets(band, chunk) || 4 * four >= push.width) {
        return;
    }
    bool has_own = weft_band_ends(band, chunk);
    uint first = max(band.begin, chunk) - block;
    uint end = has_own ? band.end - 1 - block : (number + 1) * WEFT_KEYS;
    vec4 sum = sum_keys(first, end, four);
    if (has_own) {
        sum = weft_multiply_add(weight_of(end), load_own_value(own_key, 4 * four), sum);
    }
    sums[number][lane] = sum;
}

// A channel of what the block adds to the result.
void add_sums(weft_band band, uint block, uint own, uint tile, float inverse)
{
    uint lane = gl_LocalInvocationID.x;
    uint channel = tile + lane;
    if (lane >= TILE || channel >= push.width) {
        return;
    }
    float value = 0.0;
    if (!weft_band_starts(band, block)) {
        value = result[own + channel];
    }
    uint chunks = count_chunks(band, block);
    for (uint i = 0; i < chunks; i++) {
        uint chunk = block + i * WEFT_KEYS;
        float sum = sums[i][lane / 4][lane % 4];
        value = weft_band_starts(band, chunk) ? sum : weft_multiply_add(factors[i], value, sum);
        value = weft_flush(weft_band_ends(band, chunk) ? inverse * value : value);
    }
    result[own + channel] = value;
}

void add_block(weft_band band, uint block, uint own, uint own_key, uint keys, uint values,
               inout float largest, inout float total)
{
    uint lane = gl_LocalInvocationID.x;
    uint key = block + lane;
    keep_weight(lane, uintBitsToFloat(0xff800000u)); // -inf
    // Keys in front of the band stand for its first one: so the lanes of a processor's vector part at its end alone, and need no mask
    // before that.
    if (key + 1 < band.end) {
        uint row = ring_row(max(key, band.begin));
        float score = push.scale * multiply_key(own, keys + row);
        keep_row(lane, values + row);
        if (key >= band.begin) {
            keep_weight(lane, score);
        }
    }
    if (key + 1 == band.end) {
        keep_weight(lane, push.scale * multiply_own_key(own, own_key));
    }
    barrier();
    if (lane < CHUNKS) {
        find_chunk_largest(lane);
    }
    barrier();
    make_weights(band, block, largest);
    barrier();
    if (lane < CHUNKS) {
        exchange[lane] = chunk_sum(lane);
    }
    barrier();
    uint chunks = count_chunks(band, block);
    for (uint i = 0; i < chunks; i++) {
        bool starts = weft_band_starts(band, block + i * WEFT_KEYS);
        total = starts ? exchange[i] : weft_multiply_add(factors[i], total, exchange[i]);
    }
    float all = total; // of use behind the last block
    if (HAS_SINKS != 0) {
        all = weft_band_total(total, sinks[own / push.width % push.heads], weft_band_shift(largest), weft_causal_unit(band));
    }
    float inverse = weft_rcp(all);
    for (uint tile = 0; tile < push.width; tile += TILE) {
        sum_values(band, block, own_key, tile);
        barrier();
        add_sums(band, block, own, tile, inverse);
        barrier();
    }
}

void main()
{
    uint head = weft_group_index(push.groups_x);
    if (head >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint lane = gl_LocalInvocationID.x;
    uint sequence = head / push.heads;
    uint kv_heads = push.heads / push.group;
    uint kv_head = head % push.heads / push.group;
    uint ring_size = (push.before + 1) * push.width;
    uint keys = (sequence * 2 * kv_heads + kv_head) * ring_size;
    uint values = keys + kv_heads * ring_size;
    uint own = head * push.width;
    uint own_key = (sequence * kv_heads + kv_head) * push.width;
    uint place = uint(position[sequence]);
    weft_band band = weft_band(place - min(place, push.before), place + 1);
    float largest = uintBitsToFloat(0xff800000u); // -inf
    float total = 0.0;
    for (uint block = band.begin / WEFT_KEYS * WEFT_KEYS; block < band.end; block += BLOCK) {
        add_block(band, block, own, own_key, keys, values, largest, total);
    }
    // No band has both this token and the one whose row it takes. Of the heads that read it the first one stores it.
    uint row = ring_row(place);
    uint stored = head % push.group == 0 ? push.width : 0;
    for (uint channel = lane; channel < stored; channel += BLOCK) {
        state[keys + row + channel] = weft_flush(k[own_key + channel]);
        state[values + row + channel] = weft_flush(v[own_key + channel]);
    }
}

#endif
