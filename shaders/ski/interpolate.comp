#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// y = T_sparse x + W v: each position reads the inducing points around it, and the m positions that
// the taps reach. An invocation makes TILE_POSITIONS positions of its channels. From one tap to the next
// the positions that they need move by one, so TILE_POSITIONS of them stay in registers and each step
// loads one. Products are added in order of the taps, and every CHUNK of them to the total.
//
// Forms: channels four by four in an invocation; on processors, along the lanes.
// form interpolate
// form interpolate_lanes WEFT_SKI_LANES

#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"

#define CHUNK 64 // a multiple of TILE_POSITIONS

layout(constant_id = 0) const uint DEGREE = 1;
layout(constant_id = 1) const uint VECTOR = 0; // d is a multiple of four
layout(constant_id = 2) const uint HAS_TAPS = 0;
layout(constant_id = 16) const uint TILE_POSITIONS = 4;

layout(std430, binding = 0) readonly buffer X { float x[]; }; // [B, n, d]
layout(std430, binding = 0) readonly buffer XFours { vec4 x4[]; };
layout(std430, binding = 1) readonly buffer V { float v[]; }; // [B, r, d]
layout(std430, binding = 1) readonly buffer VFours { vec4 v4[]; };
layout(std430, binding = 2) readonly buffer Taps { float taps[]; }; // [m, d]: row s is lag s - m / 2
layout(std430, binding = 2) readonly buffer TapsFours { vec4 taps4[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint d;
    uint n;
    uint points;
    uint tap_count;
    float inverse_span;
} push;

#include "channels.glsl"
#include "points.glsl"

WEFT_SKI_LOADER(load_x_row, x, x4)
WEFT_SKI_LOADER(load_v, v, v4)
WEFT_SKI_LOADER(load_tap, taps, taps4)
WEFT_SKI_STORER(store, result)

// 0 before the sequence (positions wrap around to large numbers) and behind it.
WEFT_SKI_VALUE load_x(uint sequence, uint position, uint channel)
{
    return position < push.n ? load_x_row(sequence * push.n + position, channel) : WEFT_SKI_VALUE(0.0);
}

void convolve(out WEFT_SKI_VALUE total[TILE_POSITIONS], uint sequence, uint first, uint channel)
{
    uint centre = first + push.tap_count / 2; // the position that tap 0 of the first one reads
    WEFT_SKI_VALUE sum[TILE_POSITIONS];
    WEFT_SKI_VALUE window[TILE_POSITIONS]; // at tap s, position i's element is in (i - s) mod TILE_POSITIONS
    for (uint i = 0; i < TILE_POSITIONS; i++) {
        total[i] = WEFT_SKI_VALUE(0.0);
        sum[i] = WEFT_SKI_VALUE(0.0);
        window[i] = load_x(sequence, centre + i, channel);
    }
    uint whole = push.tap_count / TILE_POSITIONS * TILE_POSITIONS;
    for (uint s = 0; s < whole; s += TILE_POSITIONS) {
        for (uint step = 0; step < TILE_POSITIONS; step++) {
            window[(TILE_POSITIONS - step) % TILE_POSITIONS] = load_x(sequence, centre - s - step, channel);
            WEFT_SKI_VALUE tap = load_tap(s + step, channel);
            for (uint i = 0; i < TILE_POSITIONS; i++) {
                sum[i] = weft_multiply_add(tap, window[(i + TILE_POSITIONS - step) % TILE_POSITIONS], sum[i]);
            }
        }
        if ((s + TILE_POSITIONS) % CHUNK == 0) {
            for (uint i = 0; i < TILE_POSITIONS; i++) {
                total[i] = total[i] + sum[i];
                sum[i] = WEFT_SKI_VALUE(0.0);
            }
        }
    }
    for (uint s = whole; s < push.tap_count; s++) {
        WEFT_SKI_VALUE tap = load_tap(s, channel);
        for (uint i = 0; i < TILE_POSITIONS; i++) {
            sum[i] = weft_multiply_add(tap, load_x(sequence, centre - s + i, channel), sum[i]);
        }
    }
    for (uint i = 0; i < TILE_POSITIONS; i++) {
        total[i] = total[i] + sum[i];
    }
}

WEFT_SKI_VALUE interpolate(uint sequence, weft_ski_place place, uint channel)
{
    uint first = weft_ski_first(place.point, push.points);
    uint row = sequence * push.points + first;
    vec4 weights = weft_ski_weights(place, first, push.inverse_span);
    WEFT_SKI_VALUE y = WEFT_SKI_VALUE(weights.x) * load_v(row, channel);
    if (DEGREE >= 1) {
        y = weft_multiply_add(weights.y, load_v(row + 1, channel), y);
    }
    if (DEGREE >= 2) {
        y = weft_multiply_add(weights.z, load_v(row + 2, channel), y);
    }
    if (DEGREE >= 3) {
        y = weft_multiply_add(weights.w, load_v(row + 3, channel), y);
    }
    return y;
}

void weft_ski_make(weft_ski_item item)
{
    uint channel = item.channel;
    uint first = item.block * TILE_POSITIONS;
    uint sequence = item.sequence;

    WEFT_SKI_VALUE sparse[TILE_POSITIONS];
    if (HAS_TAPS != 0) {
        convolve(sparse, sequence, first, channel);
    }
    weft_ski_place place = weft_ski_place_of(first, push.points, push.n - 1);
    for (uint i = 0; i < TILE_POSITIONS && first + i < push.n; i++) {
        WEFT_SKI_VALUE y = interpolate(sequence, place, channel);
        if (HAS_TAPS != 0) {
            y = sparse[i] + y;
        }
        store(sequence * push.n + first + i, channel, y);
        place = weft_ski_next(place, push.points, push.n - 1);
    }
}

#define WEFT_SKI_ROWS TILE_POSITIONS
WEFT_SKI_MAIN(push.n)
