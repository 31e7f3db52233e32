// SPDX-License-Identifier: MIT
//
// What the banded attention kernels share: operands, bands, and the order of every sum.
//
// A score is scale q·k, the product over the channels added up as matmul.glsl does: in order into a
// partial sum, which every WEFT_CHUNK channels is added to the total. The keys come in chunks of
// WEFT_KEYS, the first at a multiple of WEFT_KEYS. For each query the chunks that its band meets
// follow one another: with m the largest score so far, and m' that and the chunk's,
//
//   f = exp(m - m'),  w_j = unit exp(s_j - m'),  total = f total + Σ w_j,  out = f out + Σ w_j v_j,
//
// both sums over the chunk's keys within the band, in order; at the end out is divided by total.
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018, by chunks.) Neither the
// queries nor the keys or channels that a kernel works on at a time have a part in that, so all give
// the same bits. `unit` is a power of two of at most 1 / (keys in a band, if that is causal in the
// query's own): no sum can exceed the largest |v|, and overflow, on the way.
//
// With sinks (Xiao et al., "Efficient streaming language models with attention sinks", 2023; gpt-oss learns one for each head) the
// total is at last that and unit exp(sink - m).
//
// The sums of `out` that are not complete lie in the result, so that a head may have any number of
// channels. An invocation reads back only elements that it wrote itself.

#ifndef WEFT_INCLUDE_BAND_GLSL
#define WEFT_INCLUDE_BAND_GLSL

#include "band_chunks.glsl"
#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"
#include "reduce.glsl"

#define WEFT_CHUNK 64 // channels

layout(constant_id = 0) const uint VECTOR = 0; // channels of a head, and of all: multiples of four
layout(constant_id = 1) const uint HAS_LENGTHS = 0;
layout(constant_id = 2) const uint HAS_SINKS = 0;

layout(std430, binding = 0) readonly buffer Q { float q[]; };
layout(std430, binding = 0) readonly buffer QVector { vec4 q4[]; };
layout(std430, binding = 1) readonly buffer K { float k[]; };
layout(std430, binding = 1) readonly buffer KVector { vec4 k4[]; };
layout(std430, binding = 2) readonly buffer V { float v[]; };
layout(std430, binding = 2) readonly buffer VVector { vec4 v4[]; };
layout(std430, binding = 3) buffer Result { float result[]; };
layout(std430, binding = 3) buffer ResultVector { vec4 result4[]; };
layout(std430, binding = 4) readonly buffer Lengths { int lengths[]; }; // keys of each sequence
layout(std430, binding = 5) readonly buffer Sinks { float sinks[]; }; // of each head

layout(push_constant) uniform Push
{
    uint sequences; // heads of all batches
    uint width; // channels of a head
    uint groups_x;
    uint n;
    uint d;
    uint heads;
    uint kv_d;  // channels of a token of k and v
    uint group; // heads of q that read one head of k and v
    uint before; // keys of a band in front of the query's own place
    uint after;  // and behind it
    float scale;
    float unit;
} push;

uint weft_band_keys; // of the workgroup's sequence, where there are lengths
float weft_band_sink; // of its head, where there are sinks

// Before any band of a workgroup.
void weft_band_open(uint sequence_and_head)
{
    if (HAS_LENGTHS != 0) {
        weft_band_keys = uint(clamp(lengths[sequence_and_head / push.heads], 1, int(push.n)));
    }
    if (HAS_SINKS != 0) {
        weft_band_sink = sinks[sequence_and_head % push.heads];
    }
}

// The band of a query; queries from n on have an empty one. One that has no key before the sequence's length has the last.
weft_band weft_band_of(uint query)
{
    uint begin = query - min(query, push.before);
    uint end = push.n - 1 - min(push.n - 1, query) < push.after ? push.n : query + push.after + 1;
    if (HAS_LENGTHS != 0) {
        end = min(end, weft_band_keys);
        begin = min(begin, end - 1);
    }
    return query < push.n ? weft_band(begin, end) : weft_band(0, 0);
}

// Of weights: of causal bands by the keys that a query has, with lengths by those that the sequence alone would have.
float weft_band_unit(weft_band band)
{
    if (HAS_LENGTHS != 0 && push.after != 0) {
        return weft_unit_of_keys(min(push.before + push.after + 1, weft_band_keys));
    }
    return push.after == 0 && band.end > band.begin ? weft_causal_unit(band) : push.unit;
}

// 1 / what a query's weights are divided by: `largest` is the score that they are relative to.
float weft_band_inverse(weft_band band, float total, float largest)
{
    if (HAS_SINKS != 0) {
        total = weft_band_total(total, weft_band_sink, weft_band_shift(largest), weft_band_unit(band));
    }
    return weft_rcp(total);
}

// Where channel 0 of a group's head is in the first token of its sequence.
uint weft_band_head(uint sequence_and_head)
{
    return sequence_and_head / push.heads * push.n * push.d +
           sequence_and_head % push.heads * push.width;
}

// The same of the head's keys and values.
uint weft_band_keys_head(uint sequence_and_head)
{
    return sequence_and_head / push.heads * push.n * push.kv_d +
           sequence_and_head % push.heads / push.group * push.width;
}

#endif
