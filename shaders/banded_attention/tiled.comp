#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// Banded attention through tiles in shared memory: for GPUs. A workgroup of 128 has QUERIES queries
// that follow one another and takes a block of four chunks of keys at a time. It makes the block's
// scores from tiles of 16 channels, turns each query's into weights with an invocation per chunk,
// and multiplies the values with them, CHANNELS channels at a time.

#include "band.glsl"

layout(constant_id = 64) const uint FIXED_QUERIES = 32;

#define QUERIES  FIXED_QUERIES
#define BLOCK    64 // keys
#define CHUNKS   4  // of a block
#define DEPTH    16 // channels of a tile of q and k; divides WEFT_CHUNK
#define CHANNELS 64 // of a tile of v

#define GROUP 128
#define PITCH 65               // of scores: odd, so that a column's elements are in different banks
#define Q_PITCH (QUERIES / 4)   // in fours of queries
#define K_PITCH (BLOCK / 4 + 1) // of k's tile, in fours of keys; v's has fewer elements

layout(local_size_x = 16, local_size_y = 8) in;

shared float scores[QUERIES * PITCH];  // of the block: scores, then weights
shared vec4 tile_q[DEPTH * Q_PITCH];    // a row per channel
shared vec4 tile[DEPTH * K_PITCH];      // of k, a row per channel, or of v, a row per key
shared float exchange[QUERIES * CHUNKS]; // what the chunks of a query tell each other
shared float factors[QUERIES * CHUNKS]; // for what there was before the chunk
shared float inverse[QUERIES];          // of the total, once it is complete

// Behind the sequence: the last token's, in products that are never added. Beyond the head's channels: zeros, -0 in q and +0 in k,
// whose product -0 leaves every sum as it is.
uvec4 tokens_at(uint token)
{
    return min(token + uvec4(0, 1, 2, 3), uvec4(push.n - 1));
}

vec4 load_v(uint keys_head, uint key, uint channel)
{
    if (key >= push.n || channel >= push.width) {
        return vec4(0.0);
    }
    uint offset = keys_head + key * push.kv_d;
    if (VECTOR != 0) {
        return v4[(offset + channel) / 4];
    }
    uvec4 at = offset + min(channel + uvec4(0, 1, 2, 3), uvec4(push.width - 1));
    return vec4(v[at.x], v[at.y], v[at.z], v[at.w]);
}

// Four channels of a token.
vec4 load_four(bool of_q, uint at)
{
    return of_q ? q4[at / 4] : k4[at / 4];
}

// Of an invocation: four tokens times four channels, of k by the first, of q by those behind them.
void load_tiles_by_fours(uint head, uint keys_head, uint first_query, uint block, uint channel)
{
    const uint of_k = BLOCK / 4 * (DEPTH / 4);
    const uint of_all = of_k + QUERIES / 4 * (DEPTH / 4);
    uint i = gl_LocalInvocationIndex;
    if (i >= of_all) {
        return;
    }
    bool of_q = i >= of_k;
    i -= of_q ? of_k : 0;
    uint row = i / (DEPTH / 4);
    uint first = i % (DEPTH / 4) * 4;
    bool there = channel + first < push.width;
    uvec4 tokens = tokens_at((of_q ? first_query : block) + row * 4);
    uvec4 at = (of_q ? head : keys_head) + tokens * (of_q ? push.d : push.kv_d) + (there ? channel + first : 0);
    mat4 block_of = mat4(load_four(of_q, at.x), load_four(of_q, at.y), load_four(of_q, at.z), load_four(of_q, at.w));
    [[unroll]] for (uint c = 0; c < 4; c++) {
        vec4 four = vec4(block_of[0][c], block_of[1][c], block_of[2][c], block_of[3][c]);
        four = there ? four : vec4(of_q ? -0.0 : 0.0);
        if (of_q) {
            tile_q[(first + c) * Q_PITCH + row] = four;
        } else {
            tile[(first + c) * K_PITCH + row] = four;
        }
    }
}

void load_tiles_one_by_one(uint head, uint keys_head, uint first_query, uint block, uint channel)
{
    for (uint i = gl_LocalInvocationIndex; i < QUERIES / 4 * DEPTH; i += GROUP) {
        uint own = channel + i % DEPTH;
        uvec4 at = head + tokens_at(first_query + i / DEPTH * 4) * push.d + min(own, push.width - 1);
        vec4 four = vec4(q[at.x], q[at.y], q[at.z], q[at.w]);
        tile_q[i % DEPTH * Q_PITCH + i / DEPTH] = own < push.width ? four : vec4(-0.0);
    }
    for (uint i = gl_LocalInvocationIndex; i < BLOCK / 4 * DEPTH; i += GROUP) {
        uint own = channel + i % DEPTH;
        uvec4 at = keys_head + tokens_at(block + i / DEPTH * 4) * push.kv_d + min(own, push.width - 1);
        vec4 four = vec4(k[at.x], k[at.y], k[at.z], k[at.w]);
        tile[i % DEPTH * K_PITCH + i / DEPTH] = own < push.width ? four : vec4(0.0);
    }
}

// An invocation makes the scores of four queries with four keys.
void make_scores(uint head, uint keys_head, uint first_query, uint block)
{
    uint query = gl_LocalInvocationID.y * 4;
    uint key = gl_LocalInvocationID.x * 4;
    vec4 total[4];
    vec4 sum[4];
    for (uint i = 0; i < 4; i++) {
        total[i] = vec4(0.0);
        sum[i] = vec4(0.0);
    }
    for (uint channel = 0; channel < push.width; channel += DEPTH) {
        if (VECTOR != 0) {
            load_tiles_by_fours(head, keys_head, first_query, block, channel);
        } else {
            load_tiles_one_by_one(head, keys_head, first_query, block, channel);
        }
        barrier();
        [[unroll]] for (uint t = 0; t < DEPTH; t++) {
            vec4 x = tile_q[t * Q_PITCH + query / 4];
            vec4 y = tile[t * K_PITCH + key / 4];
            [[unroll]] for (uint i = 0; i < 4; i++) {
                sum[i] = weft_multiply_add(x[i], y, sum[i]);
            }
        }
        if ((channel + DEPTH) % WEFT_CHUNK == 0 || channel + DEPTH >= push.width) {
            for (uint i = 0; i < 4; i++) {
                total[i] = total[i] + sum[i];
                sum[i] = vec4(0.0);
            }
        }
        barrier();
    }
    for (uint i = 0; i < 4; i++) {
        for (uint j = 0; j < 4; j++) {
            scores[(query + i) * PITCH + key + j] = push.scale * total[i][j];
        }
    }
    barrier();
}

// What is carried from block to block of a query; the invocations of its chunks have the same.
struct Running
{
    float largest;
    float total;
};

// The largest score before the chunk of this invocation and, in `with_chunk`, with it; it is told of
// the others through `exchange`. The largest of all goes to `largest`.
float find_largest(weft_band band, uint block, uint row, uint own, inout float largest, out float with_chunk)
{
    uint chunk = block + own * WEFT_KEYS;
    float found = uintBitsToFloat(0xff800000u); // -inf
    for (uint j = 0; j < WEFT_KEYS; j++) {
        if (weft_band_has(band, chunk + j)) {
            found = weft_larger(found, scores[row * PITCH + own * WEFT_KEYS + j]);
        }
    }
    exchange[row * CHUNKS + own] = found;
    barrier();
    float before = largest;
    with_chunk = largest;
    for (uint i = 0; i < CHUNKS; i++) {
        before = i == own ? largest : before;
        if (weft_band_meets(band, block + i * WEFT_KEYS)) {
            largest = weft_larger(largest, exchange[row * CHUNKS + i]);
        }
        with_chunk = i == own ? largest : with_chunk;
    }
    barrier();
    return before;
}

void make_weights(weft_band band, uint block, inout Running running)
{
    uint row = gl_LocalInvocationIndex / CHUNKS;
    uint own = gl_LocalInvocationIndex % CHUNKS;
    float with_chunk;
    float before = find_largest(band, block, row, own, running.largest, with_chunk);
    float shift = weft_band_shift(with_chunk);
    float unit = weft_band_unit(band);
    float sum = 0.0;
    for (uint j = 0; j < WEFT_KEYS; j++) {
        if (weft_band_has(band, block + own * WEFT_KEYS + j)) {
            uint at = row * PITCH + own * WEFT_KEYS + j;
            float weight = unit * weft_exp(scores[at] - shift);
            scores[at] = weight;
            sum = sum + weight;
        }
    }
    factors[row * CHUNKS + own] = weft_exp(before - shift);
    exchange[row * CHUNKS + own] = sum;
    barrier();
    for (uint i = 0; i < CHUNKS; i++) {
        uint chunk = block + i * WEFT_KEYS;
        if (weft_band_meets(band, chunk)) {
            float chunk_sum = exchange[row * CHUNKS + i];
            running.total = weft_band_starts(band, chunk)
                                ? chunk_sum
                                : weft_multiply_add(factors[row * CHUNKS + i], running.total, chunk_sum);
        }
    }
    if (own == 0 && weft_band_ends(band, block + BLOCK - WEFT_KEYS)) {
        inverse[row] = weft_band_inverse(band, running.total, running.largest);
    }
    barrier();
}

vec4 load_result(uint offset, uint channel)
{
    if (VECTOR != 0) {
        return result4[(offset + channel) / 4];
    }
    uvec4 at = offset + min(channel + uvec4(0, 1, 2, 3), uvec4(push.width - 1));
    return vec4(result[at.x], result[at.y], result[at.z], result[at.w]);
}

void store_result(uint offset, uint channel, vec4 value)
{
    vec4 flushed = vec4(weft_flush(value.x), weft_flush(value.y), weft_flush(value.z), weft_flush(value.w));
    if (VECTOR != 0) {
        result4[(offset + channel) / 4] = flushed;
        return;
    }
    for (uint i = 0; i < 4; i++) {
        if (channel + i < push.width) {
            result[offset + channel + i] = flushed[i];
        }
    }
}

// Σ w_j v_j over a chunk's keys within the band of the workgroup's query `row`.
vec4 sum_values(weft_band band, uint chunk, uint row, uint column)
{
    vec4 sum = vec4(0.0);
    uint begin = max(band.begin, chunk) - chunk;
    uint end = min(band.end, chunk + WEFT_KEYS) - chunk;
    uint weights = row * PITCH + chunk % BLOCK;
    for (uint j = begin; j < end; j++) {
        float w = scores[weights + j];
        vec4 y = tile[j * (CHANNELS / 4) + column];
        sum = weft_multiply_add(w, y, sum);
    }
    return sum;
}

void load_values(uint keys_head, uint chunk, uint channel)
{
    for (uint i = gl_LocalInvocationIndex; i < WEFT_KEYS * CHANNELS / 4; i += GROUP) {
        uint key = chunk + i / (CHANNELS / 4);
        tile[i] = load_v(keys_head, key, channel + i % (CHANNELS / 4) * 4);
    }
}

bool has_whole_chunk(uint first_query, uint chunk)
{
    bool whole = true;
    for (uint i = 0; i < 4; i++) {
        weft_band band = weft_band_of(first_query + i);
        whole = whole && band.begin <= chunk && band.end >= chunk + WEFT_KEYS;
    }
    return whole;
}

// The same sums for four queries whose bands have all of the chunk: each value is read once.
void sum_values_of_four(out vec4 sum[4], uint chunk, uint row, uint column)
{
    uint weights = row * PITCH + chunk % BLOCK;
    for (uint i = 0; i < 4; i++) {
        sum[i] = vec4(0.0);
    }
    [[unroll]] for (uint j = 0; j < WEFT_KEYS; j++) {
        vec4 y = tile[j * (CHANNELS / 4) + column];
        [[unroll]] for (uint i = 0; i < 4; i++) {
            sum[i] = weft_multiply_add(scores[weights + i * PITCH + j], y, sum[i]);
        }
    }
}

// An invocation has four queries and four channels. The chunks are those between begin and end,
// where the workgroup's bands are.
void add_values(uint head, uint keys_head, uint first_query, uint block, uint begin, uint end, uint first_channel)
{
    uint row = gl_LocalInvocationID.y * 4;
    uint column = gl_LocalInvocationID.x;
    uint channel = first_channel + column * 4;
    vec4 value[4];
    for (uint i = 0; i < 4; i++) {
        weft_band band = weft_band_of(first_query + row + i);
        bool has_begun = band.begin < block && band.end > block;
        value[i] = vec4(0.0);
        if (has_begun && channel < push.width) {
            value[i] = load_result(head + (first_query + row + i) * push.d, channel);
        }
    }
    for (uint chunk = begin; chunk < end; chunk += WEFT_KEYS) {
        load_values(keys_head, chunk, first_channel);
        barrier();
        vec4 sums[4];
        bool whole = has_whole_chunk(first_query + row, chunk);
        if (whole) {
            sum_values_of_four(sums, chunk, row, column);
        }
        for (uint i = 0; i < 4; i++) {
            weft_band band = weft_band_of(first_query + row + i);
            if (weft_band_meets(band, chunk)) {
                vec4 sum = whole ? sums[i] : sum_values(band, chunk, row + i, column);
                float factor = factors[(row + i) * CHUNKS + chunk % BLOCK / WEFT_KEYS];
                value[i] = weft_band_starts(band, chunk) ? sum : weft_multiply_add(factor, value[i], sum);
                value[i] = weft_band_ends(band, chunk) ? inverse[row + i] * value[i] : value[i];
            }
        }
        barrier();
    }
    for (uint i = 0; i < 4; i++) {
        weft_band band = weft_band_of(first_query + row + i);
        if (band.begin < block + BLOCK && band.end > block && channel < push.width) {
            store_result(head + (first_query + row + i) * push.d, channel, value[i]);
        }
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint tiles = (push.n - 1) / QUERIES + 1;
    if (group >= push.sequences * tiles) {
        return; // the whole group: no barrier is missed
    }
    uint first_query = group % tiles * QUERIES;
    weft_band_open(group / tiles);
    uint head = weft_band_head(group / tiles);
    uint keys_head = weft_band_keys_head(group / tiles);
    uint begin = weft_band_of(first_query).begin / WEFT_KEYS * WEFT_KEYS;
    uint end = weft_band_of(min(first_query + QUERIES, push.n) - 1).end;
    weft_band band = weft_band_of(first_query + gl_LocalInvocationIndex / CHUNKS);
    Running running = Running(uintBitsToFloat(0xff800000u), 0.0);
    for (uint block = begin / BLOCK * BLOCK; block < end; block += BLOCK) {
        make_scores(head, keys_head, first_query, block);
        make_weights(band, block, running);
        uint first_chunk = max(begin, block);
        uint last = min(end, block + BLOCK);
        for (uint channel = 0; channel < push.width; channel += CHANNELS) {
            add_values(head, keys_head, first_query, block, first_chunk, last, channel);
        }
    }
}
