#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Banded attention straight from memory: for CPUs, whose caches do what shared memory does on a GPU.
// An invocation has QUERIES queries that follow one another, and takes a chunk of keys at a time.

#include "band.glsl"

layout(constant_id = 16) const uint TILE_QUERIES = 64; // of a workgroup: a multiple of 16

const uint QUERIES = TILE_QUERIES / 16;

layout(local_size_x = 16) in;

// Of the invocation's queries.
weft_band band[QUERIES];
float largest[QUERIES];
float total[QUERIES];
float factor[QUERIES];            // for what there was before the chunk
float inverse[QUERIES];           // of the total, after the last chunk
float weight[QUERIES][WEFT_KEYS]; // of the chunk's keys: scores at first

uint key_offset[WEFT_KEYS]; // of the chunk's keys; those outside the sequence are its last one
uint query_offset[QUERIES];

vec4 load_q(uint offset, uint channel)
{
    if (VECTOR != 0) {
        return q4[(offset + channel) / 4];
    }
    uvec4 at = offset + min(channel + uvec4(0, 1, 2, 3), uvec4(push.width - 1));
    return vec4(q[at.x], q[at.y], q[at.z], q[at.w]);
}

vec4 load_k(uint offset, uint channel)
{
    if (VECTOR != 0) {
        return k4[(offset + channel) / 4];
    }
    uvec4 at = offset + min(channel + uvec4(0, 1, 2, 3), uvec4(push.width - 1));
    return vec4(k[at.x], k[at.y], k[at.z], k[at.w]);
}

vec4 load_v(uint offset, uint channel)
{
    if (VECTOR != 0) {
        return v4[(offset + channel) / 4];
    }
    uvec4 at = offset + min(channel + uvec4(0, 1, 2, 3), uvec4(push.width - 1));
    return vec4(v[at.x], v[at.y], v[at.z], v[at.w]);
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

// Adds the channels first … end - 1 of the products of queries and keys to `weight`.
void add_products(uint first, uint end)
{
    float sum[QUERIES][WEFT_KEYS];
    for (uint i = 0; i < QUERIES; i++) {
        for (uint j = 0; j < WEFT_KEYS; j++) {
            sum[i][j] = 0.0;
        }
    }
    uint whole = first + (end - first) / 4 * 4;
    for (uint channel = first; channel < whole; channel += 4) {
        vec4 x[QUERIES];
        for (uint i = 0; i < QUERIES; i++) {
            x[i] = load_q(query_offset[i], channel);
        }
        for (uint j = 0; j < WEFT_KEYS; j++) {
            vec4 y = load_k(key_offset[j], channel);
            for (uint i = 0; i < QUERIES; i++) {
                float s = weft_multiply_add(x[i].x, y.x, sum[i][j]);
                s = weft_multiply_add(x[i].y, y.y, s);
                s = weft_multiply_add(x[i].z, y.z, s);
                sum[i][j] = weft_multiply_add(x[i].w, y.w, s);
            }
        }
    }
    for (uint channel = whole; channel < end; channel++) {
        for (uint j = 0; j < WEFT_KEYS; j++) {
            float y = k[key_offset[j] + channel];
            for (uint i = 0; i < QUERIES; i++) {
                sum[i][j] = weft_multiply_add(q[query_offset[i] + channel], y, sum[i][j]);
            }
        }
    }
    for (uint i = 0; i < QUERIES; i++) {
        for (uint j = 0; j < WEFT_KEYS; j++) {
            weight[i][j] = weight[i][j] + sum[i][j];
        }
    }
}

void make_scores()
{
    for (uint i = 0; i < QUERIES; i++) {
        for (uint j = 0; j < WEFT_KEYS; j++) {
            weight[i][j] = 0.0;
        }
    }
    for (uint channel = 0; channel < push.width; channel += WEFT_CHUNK) {
        add_products(channel, min(channel + WEFT_CHUNK, push.width));
    }
}

// From scores to weights: of query i, whose band has keys in the chunk.
void make_weights(uint i, uint chunk)
{
    uint top = weft_order_key(largest[i]);
    for (uint j = 0; j < WEFT_KEYS; j++) {
        weight[i][j] = push.scale * weight[i][j];
        uint order = weft_order_key(weight[i][j]);
        top = weft_band_has(band[i], chunk + j) ? max(top, order) : top;
    }
    float before = largest[i];
    largest[i] = weft_from_order_key(top);
    float shift = weft_band_shift(largest[i]);
    float unit = weft_band_unit(band[i]);
    float sum = 0.0;
    for (uint j = 0; j < WEFT_KEYS; j++) {
        weight[i][j] = unit * weft_exp(weight[i][j] - shift);
        sum = weft_band_has(band[i], chunk + j) ? sum + weight[i][j] : sum;
    }
    factor[i] = weft_exp(before - shift);
    total[i] = weft_band_starts(band[i], chunk) ? sum : weft_multiply_add(factor[i], total[i], sum);
    if (weft_band_ends(band[i], chunk)) {
        inverse[i] = weft_band_inverse(band[i], total[i], largest[i]);
    }
}

void add_values(uint chunk, uint channel)
{
    vec4 sum[QUERIES];
    for (uint i = 0; i < QUERIES; i++) {
        sum[i] = vec4(0.0);
    }
    for (uint j = 0; j < WEFT_KEYS; j++) {
        vec4 y = load_v(key_offset[j], channel);
        for (uint i = 0; i < QUERIES; i++) {
            float w = weight[i][j];
            vec4 more = vec4(weft_multiply_add(w, y.x, sum[i].x), weft_multiply_add(w, y.y, sum[i].y),
                             weft_multiply_add(w, y.z, sum[i].z), weft_multiply_add(w, y.w, sum[i].w));
            sum[i] = weft_band_has(band[i], chunk + j) ? more : sum[i];
        }
    }
    for (uint i = 0; i < QUERIES; i++) {
        if (!weft_band_meets(band[i], chunk)) {
            continue;
        }
        vec4 value = sum[i];
        if (!weft_band_starts(band[i], chunk)) {
            value = weft_multiply_add(factor[i], load_result(query_offset[i], channel), value);
        }
        if (weft_band_ends(band[i], chunk)) {
            value = inverse[i] * value;
        }
        store_result(query_offset[i], channel, value);
    }
}

void add_chunk(uint keys_head, uint chunk)
{
    for (uint j = 0; j < WEFT_KEYS; j++) {
        key_offset[j] = keys_head + min(chunk + j, push.n - 1) * push.kv_d;
    }
    make_scores();
    for (uint i = 0; i < QUERIES; i++) {
        if (weft_band_meets(band[i], chunk)) {
            make_weights(i, chunk);
        }
    }
    for (uint channel = 0; channel < push.width; channel += 4) {
        add_values(chunk, channel);
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint tiles = (push.n - 1) / TILE_QUERIES + 1;
    if (group >= push.sequences * tiles) {
        return;
    }
    uint first = (group % tiles * 16 + gl_LocalInvocationID.x) * QUERIES;
    if (first >= push.n) {
        return;
    }
    weft_band_open(group / tiles);
    uint head = weft_band_head(group / tiles);
    uint keys_head = weft_band_keys_head(group / tiles);
    uint end = 0;
    for (uint i = 0; i < QUERIES; i++) {
        band[i] = weft_band_of(first + i);
        end = max(end, band[i].end);
        query_offset[i] = head + min(first + i, push.n - 1) * push.d;
        largest[i] = uintBitsToFloat(0xff800000u); // -inf
        total[i] = 0.0;
        factor[i] = 0.0;
        inverse[i] = 0.0;
    }
    for (uint chunk = band[0].begin / WEFT_KEYS * WEFT_KEYS; chunk < end; chunk += WEFT_KEYS) {
        add_chunk(keys_head, chunk);
    }
}
