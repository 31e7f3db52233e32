#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Banded attention of one query (step.glsl says of what), for processors: a workgroup is one subgroup and has the queries that read one head of
// keys and values, of which each lane has one for scores and weights. A channel of a key is then the same number for all lanes, and no sum
// crosses lanes. For the values channels lie along the lanes.

#include "band_chunks.glsl"
#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"
#include "reduce.glsl"

layout(constant_id = 0) const uint VECTOR = 0; // step.comp's
layout(constant_id = 1) const uint HAS_SINKS = 0;
layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector

layout(local_size_x_id = 17) in;

#define CHANNELS 64 // of a partial sum of a score
#define BLOCK    64 // keys
#define KEYS     8  // whose sums are in registers at once

const uint COLUMNS = TILE_LANES == 16 ? 4 : 8; // vectors of channels of values

layout(std430, binding = 0) readonly buffer Q { float q[]; };
layout(std430, binding = 1) readonly buffer K { float k[]; };
layout(std430, binding = 2) readonly buffer V { float v[]; };
layout(std430, binding = 3) readonly buffer Position { int position[]; };
layout(std430, binding = 4) buffer State { float state[]; };
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

shared float queries[CHANNELS][16];
shared float weights[BLOCK][16]; // scores at first
shared float factors[BLOCK / WEFT_KEYS][16]; // for what there was before the chunk
shared float inverse[16]; // of the total, once it is complete
shared uint places[BLOCK]; // of the block's keys, from the ring's first

// The workgroup's part of a block.
struct Part
{
    uint block;
    uint begin; // of the band
    uint end;   // of the block's keys in the ring
    bool has_own; // the next one is the token's own key
    uint keys;    // where the ring begins, of the head that is read
    uint values;
    uint own; // the head of k and v
    uint query; // the first lane's head of q: in q and in the result
    uint count; // queries
};

// Where an element is whose channels do not wrap around: see matmul/panels.comp.
const uint LAST_CHUNK = 0x40000000u - CHANNELS;

void pack_queries(Part part, uint channel, uint depth)
{
    uint own = min(gl_LocalInvocationID.x, part.count - 1);
    uint at = part.query + own * push.width + channel;
    for (uint c = 0; c < depth; c++) {
        queries[c][gl_LocalInvocationID.x] = q[at + c];
    }
}

void add_score(uint key, uint channel, float sum)
{
    uint x = gl_LocalInvocationID.x;
    weights[key][x] = (channel == 0 ? 0.0 : weights[key][x]) + sum;
}

// Adds the products of `depth` channels of KEYS keys of the block, those past the ring's its last one.
void add_products(Part part, uint key, uint channel, uint depth)
{
    uint at[KEYS];
    float sum[KEYS];
    for (uint i = 0; i < KEYS; i++) {
        at[i] = min(part.keys + places[min(key + i, part.end - 1) - part.block] + channel, LAST_CHUNK);
        sum[i] = 0.0;
    }
    for (uint c = 0; c < depth; c++) {
        float own = queries[c][gl_LocalInvocationID.x];
        for (uint i = 0; i < KEYS; i++) {
            sum[i] = weft_multiply_add(own, state[at[i] + c], sum[i]);
        }
    }
    for (uint i = 0; i < KEYS; i++) {
        if (key + i < part.end) {
            add_score(key - part.block + i, channel, sum[i]);
        }
    }
}

void add_own_product(Part part, uint channel, uint depth)
{
    float sum = 0.0;
    for (uint c = 0; c < depth; c++) {
        sum = weft_multiply_add(queries[c][gl_LocalInvocationID.x], k[part.own + channel + c], sum);
    }
    add_score(part.end - part.block, channel, sum);
}

// A lane reads only scores that it wrote.
void make_scores(Part part, bool first)
{
    for (uint channel = 0; channel < push.width; channel += CHANNELS) {
        uint depth = min(CHANNELS, push.width - channel);
        if (first || push.width > CHANNELS) {
            barrier();
            pack_queries(part, channel, depth);
            barrier();
        }
        for (uint key = part.begin; key < part.end; key += KEYS) {
            add_products(part, key, channel, depth);
        }
        if (part.has_own) {
            add_own_product(part, channel, depth);
        }
    }
}

// From scores to weights: keys begin … end - 1 of a chunk. `largest` is that of the chunks before, as weft_order_key, and then of this one too.
void make_chunk(Part part, weft_band band, uint chunk, inout uint largest, inout float total)
{
    uint x = gl_LocalInvocationID.x;
    uint begin = max(band.begin, chunk) - part.block;
    uint end = min(band.end, chunk + WEFT_KEYS) - part.block;
    float before = weft_from_order_key(largest);
    for (uint j = begin; j < end; j++) {
        float score = push.scale * weights[j][x];
        weights[j][x] = score;
        largest = max(largest, weft_order_key(score));
    }
    float shift = weft_band_shift(weft_from_order_key(largest));
    float unit = weft_causal_unit(band);
    float sum = 0.0;
    for (uint j = begin; j < end; j++) {
        float weight = unit * weft_exp(weights[j][x] - shift);
        weights[j][x] = weight;
        sum = sum + weight;
    }
    float factor = weft_exp(before - shift);
    factors[(chunk - part.block) / WEFT_KEYS][x] = factor;
    total = weft_band_starts(band, chunk) ? sum : weft_multiply_add(factor, total, sum);
}

float total_with_sink(Part part, weft_band band, uint largest, float total)
{
    if (HAS_SINKS != 0) {
        uint head = (part.query / push.width + min(gl_LocalInvocationID.x, part.count - 1)) % push.heads;
        float shift = weft_band_shift(weft_from_order_key(largest));
        total = weft_band_total(total, sinks[head], shift, weft_causal_unit(band));
    }
    return total;
}

// The sums of a query's values over its keys of the block, of TILE_LANES * COUNT channels from `offset` on.
#define ADD_VALUES(name, COUNT)                                                                                     \
    void name(Part part, weft_band band, uint query, uint offset)                                                   \
    {                                                                                                               \
        uint at = part.query + query * push.width + offset;                                                         \
        float value[COUNT];                                                                                         \
        for (uint i = 0; i < COUNT; i++) {                                                                          \
            value[i] = band.begin < part.block ? result[at + TILE_LANES * i] : 0.0;                                 \
        }                                                                                                           \
        uint last = part.has_own ? part.end + 1 : part.end;                                                         \
        for (uint chunk = part.begin / WEFT_KEYS * WEFT_KEYS; chunk < last; chunk += WEFT_KEYS) {                   \
            float sum[COUNT];                                                                                       \
            for (uint i = 0; i < COUNT; i++) {                                                                      \
                sum[i] = 0.0;                                                                                       \
            }                                                                                                       \
            uint end = min(part.end, chunk + WEFT_KEYS);                                                            \
            for (uint j = max(part.begin, chunk); j < end; j++) {                                                   \
                float w = weights[j - part.block][query];                                                           \
                uint row = part.values + places[j - part.block] + offset;                                           \
                for (uint i = 0; i < COUNT; i++) {                                                                  \
                    sum[i] = weft_multiply_add(w, state[row + TILE_LANES * i], sum[i]);                             \
                }                                                                                                   \
            }                                                                                                       \
            bool ends = weft_band_ends(band, chunk);                                                                \
            if (ends) {                                                                                             \
                float w = weights[part.end - part.block][query];                                                    \
                for (uint i = 0; i < COUNT; i++) {                                                                  \
                    sum[i] = weft_multiply_add(w, v[part.own + offset + TILE_LANES * i], sum[i]);                   \
                }                                                                                                   \
            }                                                                                                       \
            float factor = factors[(chunk - part.block) / WEFT_KEYS][query];                                        \
            bool starts = weft_band_starts(band, chunk);                                                            \
            for (uint i = 0; i < COUNT; i++) {                                                                      \
                value[i] = starts ? sum[i] : weft_multiply_add(factor, value[i], sum[i]);                           \
                value[i] = ends ? inverse[query] * value[i] : value[i];                                             \
            }                                                                                                       \
        }                                                                                                           \
        for (uint i = 0; i < COUNT; i++) {                                                                          \
            result[at + TILE_LANES * i] = weft_flush(value[i]);                                                     \
        }                                                                                                           \
    }

ADD_VALUES(add_columns, COLUMNS)
ADD_VALUES(add_column, 1)

void add_values(Part part, weft_band band)
{
    uint wide = push.width / (TILE_LANES * COLUMNS) * (TILE_LANES * COLUMNS);
    uint whole = push.width / TILE_LANES * TILE_LANES;
    uint x = gl_LocalInvocationID.x;
    for (uint query = 0; query < part.count; query++) {
        for (uint channel = 0; channel < wide; channel += TILE_LANES * COLUMNS) {
            add_columns(part, band, query, channel + x);
        }
        for (uint channel = wide; channel < whole; channel += TILE_LANES) {
            add_column(part, band, query, channel + x);
        }
        if (x < push.width - whole) {
            add_column(part, band, query, whole + x);
        }
    }
}

void find_places(uint block)
{
    for (uint i = gl_LocalInvocationID.x; i < BLOCK; i += TILE_LANES) {
        places[i] = (block + i) % (push.before + 1) * push.width;
    }
}

// Nothing but this workgroup reads or writes the head's rings; of those of a head the first one stores the token, whose row no band has.
void keep_token(Part part, uint row)
{
    for (uint channel = gl_LocalInvocationID.x; channel < push.width; channel += TILE_LANES) {
        state[part.keys + row + channel] = weft_flush(k[part.own + channel]);
        state[part.values + row + channel] = weft_flush(v[part.own + channel]);
    }
}

void main()
{
    uint number = weft_group_index(push.groups_x);
    uint tiles = (push.group - 1) / TILE_LANES + 1;
    uint kv_heads = push.heads / push.group;
    if (number >= push.groups / push.group * tiles) {
        return; // the whole group: no barrier is missed
    }
    uint tile = number % tiles * TILE_LANES;
    uint head = number / tiles; // of keys, of all sequences
    uint sequence = head / kv_heads;
    uint ring_size = (push.before + 1) * push.width;
    uint place = uint(position[sequence]);
    weft_band band = weft_band(place - min(place, push.before), place + 1);
    Part part;
    part.keys = (sequence * 2 * kv_heads + head % kv_heads) * ring_size;
    part.values = part.keys + kv_heads * ring_size;
    part.own = head * push.width;
    part.query = (head * push.group + tile) * push.width;
    part.count = min(TILE_LANES, push.group - tile);
    uint largest = WEFT_LEAST_KEY;
    float total = 0.0;
    uint first = band.begin / BLOCK * BLOCK;
    for (uint block = first; block < band.end; block += BLOCK) {
        part.block = block;
        part.begin = max(band.begin, block);
        part.end = min(place, block + BLOCK);
        part.has_own = place < block + BLOCK;
        barrier();
        find_places(block);
        barrier();
        make_scores(part, block == first);
        for (uint chunk = part.begin / WEFT_KEYS * WEFT_KEYS; chunk < min(band.end, block + BLOCK); chunk += WEFT_KEYS) {
            make_chunk(part, band, chunk, largest, total);
        }
        inverse[gl_LocalInvocationID.x] = weft_rcp(total_with_sink(part, band, largest, total)); // of use behind the last block
        barrier();
        add_values(part, band);
    }
    if (tile == 0) {
        keep_token(part, place % (push.before + 1) * push.width);
    }
}
