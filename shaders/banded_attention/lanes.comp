#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Banded attention for processors: a workgroup is one subgroup, has QUERIES queries that follow one another, and takes a
// block of four chunks of keys at a time. Queries lie along the lanes for scores and weights, so that a key's channels are
// the same for all lanes and no sum crosses lanes; channels do for the values, so that each query adds exactly the keys of
// its own band.

#include "band.glsl"

layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(constant_id = 64) const uint FIXED_QUERIES = 16;

#define BLOCK  64 // keys
#define CHUNKS 4  // of a block

// Twelve sums of scores, and as many of values as a head of 64 channels has or 16 registers hold.
const uint VECTORS = FIXED_QUERIES / TILE_LANES;
const uint KEYS = 12 / VECTORS;
const uint COLUMNS = TILE_LANES == 16 ? 4 : 8;

layout(local_size_x_id = 17) in;

shared float tile_q[WEFT_CHUNK][FIXED_QUERIES];
shared float weights[BLOCK + KEYS][FIXED_QUERIES]; // scores at first
shared float factors[CHUNKS][FIXED_QUERIES]; // for what there was before the chunk
shared float inverse[FIXED_QUERIES]; // of the total, once it is complete

// The workgroup's part of a block: keys that are in the band of one of its queries.
struct Part
{
    uint head;
    uint keys_head;
    uint query; // the first
    uint block;
    uint begin;
    uint end;
};

// Reading far apart takes half the time of writing so.
void pack_queries(Part part, uint channel, uint depth)
{
    for (uint i = gl_LocalInvocationID.x; i < FIXED_QUERIES; i += TILE_LANES) {
        uint row = part.head + min(part.query + i, push.n - 1) * push.d + channel;
        for (uint c = 0; c < depth; c++) {
            tile_q[c][i] = q[row + c];
        }
    }
}

// Adds the products of `depth` channels of KEYS keys, those past the sequence its last one.
void add_products(Part part, uint key, uint channel, uint depth)
{
    uint rows[KEYS];
    float sum[KEYS][VECTORS];
    for (uint i = 0; i < KEYS; i++) {
        rows[i] = part.keys_head + min(key + i, push.n - 1) * push.kv_d + channel;
        for (uint v = 0; v < VECTORS; v++) {
            sum[i][v] = 0.0;
        }
    }
    uint x = gl_LocalInvocationID.x;
    for (uint c = 0; c < depth; c++) {
        float own[VECTORS];
        for (uint v = 0; v < VECTORS; v++) {
            own[v] = tile_q[c][x + TILE_LANES * v];
        }
        for (uint i = 0; i < KEYS; i++) {
            float y = k[rows[i] + c];
            for (uint v = 0; v < VECTORS; v++) {
                sum[i][v] = weft_multiply_add(own[v], y, sum[i][v]);
            }
        }
    }
    for (uint i = 0; i < KEYS; i++) {
        for (uint v = 0; v < VECTORS; v++) {
            uint query = x + TILE_LANES * v;
            float before = channel == 0 ? 0.0 : weights[key - part.block + i][query];
            weights[key - part.block + i][query] = before + sum[i][v];
        }
    }
}

// A lane reads only scores that it wrote.
void make_scores(Part part)
{
    for (uint channel = 0; channel < push.width; channel += WEFT_CHUNK) {
        uint depth = min(WEFT_CHUNK, push.width - channel);
        if (push.width > WEFT_CHUNK || part.block <= weft_band_of(part.query).begin) {
            barrier();
            pack_queries(part, channel, depth);
            barrier();
        }
        for (uint key = part.begin; key < part.end; key += KEYS) {
            add_products(part, key, channel, depth);
        }
    }
}

// From scores to weights, of one query for each lane: keys begin … end - 1 of a chunk. `largest` is that of the chunks
// before, as weft_order_key, and then of this one too.
void make_chunk(Part part, uint chunk, uint query, inout uint largest, inout float total)
{
    weft_band band = weft_band_of(part.query + query);
    uint begin = max(part.begin, chunk) - part.block;
    uint end = min(part.end, chunk + WEFT_KEYS) - part.block;
    float before = weft_from_order_key(largest);
    for (uint j = begin; j < end; j++) {
        float score = push.scale * weights[j][query];
        weights[j][query] = score;
        largest = weft_band_has(band, part.block + j) ? max(largest, weft_order_key(score)) : largest;
    }
    float shift = weft_band_shift(weft_from_order_key(largest));
    float unit = weft_band_unit(band);
    float sum = 0.0;
    for (uint j = begin; j < end; j++) {
        float weight = unit * weft_exp(weights[j][query] - shift);
        weights[j][query] = weight;
        sum = weft_band_has(band, part.block + j) ? sum + weight : sum;
    }
    float factor = weft_exp(before - shift);
    factors[(chunk - part.block) / WEFT_KEYS][query] = factor;
    float with_chunk = weft_band_starts(band, chunk) ? sum : weft_multiply_add(factor, total, sum);
    total = weft_band_meets(band, chunk) ? with_chunk : total;
}

uint first_chunk(uint begin)
{
    return begin / WEFT_KEYS * WEFT_KEYS;
}

void make_weights(Part part, inout uint largest[VECTORS], inout float total[VECTORS])
{
    for (uint v = 0; v < VECTORS; v++) {
        uint query = gl_LocalInvocationID.x + TILE_LANES * v;
        for (uint chunk = first_chunk(part.begin); chunk < part.end; chunk += WEFT_KEYS) {
            make_chunk(part, chunk, query, largest[v], total[v]);
        }
        inverse[query] = weft_band_inverse(weft_band_of(part.query + query), total[v], weft_from_order_key(largest[v]));
    }
}

float finish_chunk(Part part, weft_band band, uint chunk, uint query, float value, float sum)
{
    float factor = factors[(chunk - part.block) / WEFT_KEYS][query];
    value = weft_band_starts(band, chunk) ? sum : weft_multiply_add(factor, value, sum);
    return weft_band_ends(band, chunk) ? inverse[query] * value : value;
}

// The sums of a query's values over its keys of the block, of TILE_LANES * COLUMNS channels.
void add_columns(Part part, weft_band band, uint query, uint offset)
{
    uint row = part.head + (part.query + query) * push.d + offset;
    float value[COLUMNS];
    for (uint i = 0; i < COLUMNS; i++) {
        value[i] = band.begin < part.block ? result[row + TILE_LANES * i] : 0.0;
    }
    uint last = min(band.end, part.block + BLOCK);
    for (uint chunk = first_chunk(max(band.begin, part.block)); chunk < last; chunk += WEFT_KEYS) {
        float sum[COLUMNS];
        for (uint i = 0; i < COLUMNS; i++) {
            sum[i] = 0.0;
        }
        uint end = min(last, chunk + WEFT_KEYS);
        for (uint j = max(band.begin, chunk); j < end; j++) {
            float w = weights[j - part.block][query];
            uint at = part.keys_head + j * push.kv_d + offset;
            for (uint i = 0; i < COLUMNS; i++) {
                sum[i] = weft_multiply_add(w, v[at + TILE_LANES * i], sum[i]);
            }
        }
        for (uint i = 0; i < COLUMNS; i++) {
            value[i] = finish_chunk(part, band, chunk, query, value[i], sum[i]);
        }
    }
    for (uint i = 0; i < COLUMNS; i++) {
        result[row + TILE_LANES * i] = weft_flush(value[i]);
    }
}

// The same of one channel for each lane.
void add_column(Part part, weft_band band, uint query, uint offset)
{
    uint row = part.head + (part.query + query) * push.d + offset;
    float value = band.begin < part.block ? result[row] : 0.0;
    uint last = min(band.end, part.block + BLOCK);
    for (uint chunk = first_chunk(max(band.begin, part.block)); chunk < last; chunk += WEFT_KEYS) {
        float sum = 0.0;
        uint end = min(last, chunk + WEFT_KEYS);
        for (uint j = max(band.begin, chunk); j < end; j++) {
            sum = weft_multiply_add(weights[j - part.block][query], v[part.keys_head + j * push.kv_d + offset], sum);
        }
        value = finish_chunk(part, band, chunk, query, value, sum);
    }
    result[row] = weft_flush(value);
}

void add_values(Part part)
{
    uint wide = push.width / (TILE_LANES * COLUMNS) * (TILE_LANES * COLUMNS);
    uint whole = push.width / TILE_LANES * TILE_LANES;
    uint x = gl_LocalInvocationID.x;
    for (uint query = 0; query < FIXED_QUERIES; query++) {
        weft_band band = weft_band_of(part.query + query);
        if (band.begin >= part.block + BLOCK || band.end <= part.block) {
            continue;
        }
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

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint tiles = (push.n - 1) / FIXED_QUERIES + 1;
    if (group >= push.sequences * tiles) {
        return; // the whole group: no barrier is missed
    }
    uint first = group % tiles * FIXED_QUERIES;
    weft_band_open(group / tiles);
    uint begin = weft_band_of(first).begin;
    uint end = weft_band_of(min(first + FIXED_QUERIES, push.n) - 1).end;
    uint largest[VECTORS];
    float total[VECTORS];
    for (uint v = 0; v < VECTORS; v++) {
        largest[v] = WEFT_LEAST_KEY;
        total[v] = 0.0;
    }
    for (uint block = begin / BLOCK * BLOCK; block < end; block += BLOCK) {
        Part part = Part(weft_band_head(group / tiles), weft_band_keys_head(group / tiles), first, block,
                         max(begin, block), min(end, block + BLOCK));
        make_scores(part);
        make_weights(part, largest, total);
        barrier();
        add_values(part);
        barrier();
    }
}
