// SPDX-License-Identifier: MIT
//
// Banded attention of one query, with the sums that band.glsl describes: its band are its own key and
// those of the `before` tokens in front of it, which lie in a ring of before + 1 rows for each head, token j in row
// j % (before + 1). A workgroup of 128 has a head and takes a block of 128 keys at a time. What is
// done for each channel and each key is in step.comp and step_unrolled.comp. With WEFT_HALVES keys and values are rounded to f16,
// and lie in the ring as half_ring.glsl says.

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
#ifdef WEFT_HALVES
layout(std430, binding = 4) buffer State { uint state[]; };
#else
layout(std430, binding = 4) buffer State { float state[]; };
layout(std430, binding = 4) buffer StateVector { vec4 state4[]; };
#endif
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

#ifdef WEFT_HALVES
#include "half_ring.glsl"

// The four channels that an invocation has at a time: those of two words.
uvec4 channels_of(uint four)
{
    uint pairs = weft_half_pairs(push.width);
    return 2 * four + uvec4(0, 1, pairs, pairs + 1);
}

uint count_fours()
{
    return (weft_half_pairs(push.width) + 1) / 2;
}

// Element `index` of all these fours; one that is not below its end is none, or another word's.
uint channel_at(uint index)
{
    return index / 4 * 2 + index % 2 + (index % 4 < 2 ? 0 : weft_half_pairs(push.width));
}

uint end_of(uint index)
{
    return index % 4 < 2 ? weft_half_pairs(push.width) : push.width;
}

uint ring_size()
{
    return weft_half_rows(push.before) * weft_half_pairs(push.width);
}

uint key_row(uint token)
{
    return weft_half_key(token % weft_half_rows(push.before), push.width);
}

uint value_row(uint token)
{
    return token % weft_half_rows(push.before) * weft_half_pairs(push.width);
}

// Channels c to c + 3 of a key, and channel c.
vec4 load_key(uint key, uint c)
{
    uint at = key + c / 2 * WEFT_HALF_TILE;
    return vec4(weft_floats_of_any_f16(state[at]), weft_floats_of_any_f16(state[at + WEFT_HALF_TILE]));
}

float load_key_channel(uint key, uint c)
{
    return weft_float_of_any_f16(state[key + c / 2 * WEFT_HALF_TILE] >> (c % 2 * 16));
}

float rounded(float x)
{
    return weft_nearest_f16(x);
}

vec4 load_value(uint row, uint four)
{
    uvec2 at = row + min(2 * four + uvec2(0, 1), weft_half_pairs(push.width) - 1);
    vec2 first = weft_floats_of_any_f16(state[at.x]);
    vec2 second = weft_floats_of_any_f16(state[at.y]);
    return vec4(first.x, second.x, first.y, second.y);
}
#else
uvec4 channels_of(uint four)
{
    return 4 * four + uvec4(0, 1, 2, 3);
}

uint count_fours()
{
    return (push.width + 3) / 4;
}

uint channel_at(uint index)
{
    return index;
}

uint end_of(uint index)
{
    return push.width;
}

uint ring_size()
{
    return (push.before + 1) * push.width;
}

// Where a token's row is in the ring.
uint value_row(uint token)
{
    return token % (push.before + 1) * push.width;
}

uint key_row(uint token)
{
    return value_row(token);
}

vec4 load_key(uint key, uint c)
{
    uint index = key + c;
    if (VECTOR != 0) {
        return state4[index / 4];
    }
    return vec4(state[index], state[index + 1], state[index + 2], state[index + 3]);
}

float load_key_channel(uint key, uint c)
{
    return state[key + c];
}

float rounded(float x)
{
    return x;
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
#endif

float load_own_key_channel(uint key, uint c)
{
    return rounded(k[key + c]);
}

vec4 load_own_key(uint key, uint c)
{
    return vec4(load_own_key_channel(key, c), load_own_key_channel(key, c + 1), load_own_key_channel(key, c + 2),
                load_own_key_channel(key, c + 3));
}

vec4 load_own_value(uint own_key, uint four)
{
    uvec4 at = own_key + min(channels_of(four), push.width - 1);
    return vec4(rounded(v[at.x]), rounded(v[at.y]), rounded(v[at.z]), rounded(v[at.w]));
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

// Four channels of the sum over the keys of the lane's chunk that are within the band.
void sum_values(weft_band band, uint block, uint own_key, uint tile)
{
    uint lane = gl_LocalInvocationID.x % LANES;
    uint number = gl_LocalInvocationID.x / LANES;
    uint chunk = block + number * WEFT_KEYS;
    uint four = tile / 4 + lane;
    if (!weft_band_meets(band, chunk) || four >= count_fours()) {
        return;
    }
    bool has_own = weft_band_ends(band, chunk);
    uint first = max(band.begin, chunk) - block;
    uint end = has_own ? band.end - 1 - block : (number + 1) * WEFT_KEYS;
    vec4 sum = sum_keys(first, end, four);
    if (has_own) {
        sum = weft_multiply_add(weight_of(end), load_own_value(own_key, four), sum);
    }
    sums[number][lane] = sum;
}

// A channel of what the block adds to the result.
void add_sums(weft_band band, uint block, uint own, uint tile, float inverse)
{
    uint lane = gl_LocalInvocationID.x;
    uint channel = channel_at(tile + lane);
    if (lane >= TILE || channel >= end_of(tile + lane)) {
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
        uint token = max(key, band.begin);
        float score = push.scale * multiply_key(own, keys + key_row(token));
        keep_row(lane, values + value_row(token));
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
    uint fours = count_fours();
    for (uint tile = 0; tile < 4 * fours; tile += TILE) {
        sum_values(band, block, own_key, tile);
        barrier();
        add_sums(band, block, own, tile, inverse);
        barrier();
    }
}

#ifdef WEFT_HALVES
void keep_token(uint key, uint value, uint own_key)
{
    uint pairs = weft_half_pairs(push.width);
    for (uint pair = gl_LocalInvocationID.x; pair < pairs; pair += BLOCK) {
        state[key + pair * WEFT_HALF_TILE] = weft_key_word(own_key, pair, push.width);
        state[value + pair] = weft_value_word(own_key, pair, push.width);
    }
}
#else
void keep_token(uint key, uint value, uint own_key)
{
    for (uint channel = gl_LocalInvocationID.x; channel < push.width; channel += BLOCK) {
        state[key + channel] = weft_flush(k[own_key + channel]);
        state[value + channel] = weft_flush(v[own_key + channel]);
    }
}
#endif

void main()
{
    uint head = weft_group_index(push.groups_x);
    if (head >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint sequence = head / push.heads;
    uint kv_heads = push.heads / push.group;
    uint kv_head = head % push.heads / push.group;
    uint keys = (sequence * 2 * kv_heads + kv_head) * ring_size();
    uint values = keys + kv_heads * ring_size();
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
    if (head % push.group == 0) {
        keep_token(keys + key_row(place), values + value_row(place), own_key);
    }
}

#endif
