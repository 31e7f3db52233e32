#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The r × r Toeplitz matrix times the projected sequence, per channel: v_k = Σ_l a_{k-l} z_l. An
// invocation makes TILE_ROWS points of its channels. From one l to the next the coefficients that they
// need move by one, so TILE_ROWS of them stay in registers and each step loads one. Products are
// added in order of l, and every CHUNK of them to the total.
//
// Forms: channels four by four in an invocation; on processors, along the lanes.
// form apply
// form apply_lanes WEFT_SKI_LANES

#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"

#define CHUNK 64 // a multiple of TILE_ROWS

layout(constant_id = 0) const uint VECTOR = 0; // d is a multiple of four
layout(constant_id = 16) const uint TILE_ROWS = 4;

layout(std430, binding = 0) readonly buffer A { float a[]; }; // [2r - 1, d]: row r - 1 is lag 0
layout(std430, binding = 0) readonly buffer AFours { vec4 a4[]; };
layout(std430, binding = 1) readonly buffer Z { float z[]; }; // [B, r, d]
layout(std430, binding = 1) readonly buffer ZFours { vec4 z4[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint d;
    uint points;
} push;

#include "channels.glsl"

WEFT_SKI_LOADER(load_a_row, a, a4)
WEFT_SKI_LOADER(load_z, z, z4)
WEFT_SKI_STORER(store, result)

// Rows past the last belong to points past the last, which are not stored.
WEFT_SKI_VALUE load_a(uint row, uint channel)
{
    return load_a_row(min(row, 2 * push.points - 2), channel);
}

void weft_ski_make(weft_ski_item item)
{
    uint channel = item.channel;
    uint point = item.block * TILE_ROWS;
    uint sequence = item.sequence * push.points;
    uint lag_row = point + push.points - 1; // of a, for the first point and l = 0

    WEFT_SKI_VALUE total[TILE_ROWS];
    WEFT_SKI_VALUE sum[TILE_ROWS];
    WEFT_SKI_VALUE window[TILE_ROWS]; // at step l, point i's coefficient is in (i - l) mod TILE_ROWS
    for (uint i = 0; i < TILE_ROWS; i++) {
        total[i] = WEFT_SKI_VALUE(0.0);
        sum[i] = WEFT_SKI_VALUE(0.0);
        window[i] = load_a(lag_row + i, channel);
    }
    uint whole = push.points / TILE_ROWS * TILE_ROWS;
    for (uint l = 0; l < whole; l += TILE_ROWS) {
        for (uint step = 0; step < TILE_ROWS; step++) {
            window[(TILE_ROWS - step) % TILE_ROWS] = load_a(lag_row - l - step, channel);
            WEFT_SKI_VALUE value = load_z(sequence + l + step, channel);
            for (uint i = 0; i < TILE_ROWS; i++) {
                sum[i] = weft_multiply_add(window[(i + TILE_ROWS - step) % TILE_ROWS], value, sum[i]);
            }
        }
        if ((l + TILE_ROWS) % CHUNK == 0) {
            for (uint i = 0; i < TILE_ROWS; i++) {
                total[i] = total[i] + sum[i];
                sum[i] = WEFT_SKI_VALUE(0.0);
            }
        }
    }
    for (uint l = whole; l < push.points; l++) {
        WEFT_SKI_VALUE value = load_z(sequence + l, channel);
        for (uint i = 0; i < TILE_ROWS; i++) {
            sum[i] = weft_multiply_add(load_a(lag_row - l + i, channel), value, sum[i]);
        }
    }
    for (uint i = 0; i < TILE_ROWS && point + i < push.points; i++) {
        store(sequence + point + i, channel, total[i] + sum[i]);
    }
}

#define WEFT_SKI_ROWS TILE_ROWS
WEFT_SKI_MAIN(push.points)
