#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// A convolution for processors. Padding, strides and dilations are the planes' (planes.comp) and the offsets': term t of the window
// at place p is x[p + offsets[t]], where places go on from one row of windows to the next as the planes' lines do; those between
// the rows are computed and not stored. So windows side by side always read words side by side, and no lane is idle at the end of
// a row. An invocation makes OUTPUTS channels of the result at four places, COLUMNS / 4 apart; places lie along the lanes.
// Terms are added as products add them (matmul.glsl): in the order of a window's elements, zeros of the padding included, in
// sums of 64.

#include "divide.glsl"
#include "finish.glsl"
#include "index.glsl"
#include "multiply_add.glsl"

layout(constant_id = 2) const uint OUTPUTS = 6;         // of an invocation: 1 to MOST_OUTPUTS
layout(constant_id = 3) const uint DENSE = 0;           // each place is a window's
layout(constant_id = 64) const uint FIXED_COLUMNS = 64; // of a workgroup: COLUMNS
layout(constant_id = 65) const uint FIXED_OUTPUTS = 6;  // MOST_OUTPUTS

#define MOST_OUTPUTS 6
#define COLUMNS      64
#define QUARTER      (COLUMNS / 4)

layout(local_size_x = 16, local_size_y = 16) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) readonly buffer Offsets { uint offsets[]; };
layout(std430, binding = 4) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint pairs;   // of a batch and a group
    uint groups;  // of channels
    uint terms;   // of a sum
    uint outputs; // channels of the result, in a group
    uint words;   // of x, for a pair
    uint places;  // from the first window to the last
    uint pitch;   // from one row of windows to the next
    uint first;   // window of the result that the first place is
    uint columns; // of windows
    uint windows; // of a channel
    WEFT_INVERSE(pitch)
} push;

const uint CHUNK = 64; // WEFT_CHUNK

#define OUTPUT(i)                                                      \
    if (i < OUTPUTS) {                                                 \
        sum[i] = weft_multiply_add(weight[at[i] + t], values, sum[i]); \
    }

// Adds a chunk of terms, the first of which is `begin`, to the totals of the places from `x_place` on.
void add_chunk(inout vec4 total[MOST_OUTPUTS], uint rows[MOST_OUTPUTS], uint x_place, uint begin, uint depth)
{
    uint lane = gl_LocalInvocationID.x;
    uint at[MOST_OUTPUTS];
    vec4 sum[MOST_OUTPUTS];
    for (uint i = 0; i < MOST_OUTPUTS; i++) {
        at[i] = rows[i] + begin;
        sum[i] = vec4(0.0);
    }
    for (uint t = 0; t < depth; t++) {
        uint place = x_place + offsets[begin + t] + lane;
        vec4 values = vec4(x[place], x[place + QUARTER], x[place + 2 * QUARTER], x[place + 3 * QUARTER]);
        OUTPUT(0)
        OUTPUT(1)
        OUTPUT(2)
        OUTPUT(3)
        OUTPUT(4)
        OUTPUT(5)
    }
    for (uint i = 0; i < OUTPUTS; i++) {
        total[i] = total[i] + sum[i];
    }
}

// What an invocation makes: some channels at the places from `begin` on, of which those before `first` are another workgroup's.
struct Tile
{
    uint begin, first;
    uint outputs; // that are there
    uint channel; // of the result, the first
    uint bias;
};

// Stores the sums of a quarter, of which the places of a row of windows lie side by side in the result.
void store_quarter(vec4 total[MOST_OUTPUTS], uint j, Tile tile)
{
    uint begin = tile.begin + j * QUARTER;
    uint place = begin + gl_LocalInvocationID.x;
    float made[MOST_OUTPUTS];
    for (uint i = 0; i < OUTPUTS; i++) {
        float bias_value = HAS_BIAS != 0 ? bias[tile.bias + min(i, tile.outputs - 1)] : 0.0;
        made[i] = weft_conv_finish(total[i][j], bias_value);
    }
    uint last = DENSE != 0 ? 0 : WEFT_QUOTIENT(begin + QUARTER - 1, pitch);
    for (uint row = DENSE != 0 ? 0 : WEFT_QUOTIENT(begin, pitch); row <= last; row++) {
        uint from = max(tile.first, row * push.pitch);
        uint end = DENSE != 0 ? push.places : min(push.places, row * push.pitch + push.columns);
        uint at = push.first + begin - row * (push.pitch - push.columns);
        if (place >= from && place < end) {
            for (uint i = 0; i < OUTPUTS; i++) {
                if (i < tile.outputs) {
                    result[(tile.channel + i) * push.windows + at + gl_LocalInvocationID.x] = made[i];
                }
            }
        }
    }
}

void main()
{
    uint blocks = (push.places - 1) / COLUMNS + 1;
    uint shares = (push.outputs - 1) / (gl_WorkGroupSize.y * OUTPUTS) + 1;
    uint group = weft_group_index(push.groups_x);
    uint first = group % blocks * COLUMNS;
    uint share = group / blocks % shares;
    uint pair = group / blocks / shares;
    uint output0 = (share * gl_WorkGroupSize.y + gl_LocalInvocationID.y) * OUTPUTS;
    if (pair >= push.pairs || output0 >= push.outputs) {
        return;
    }
    Tile tile;
    // The last block begins earlier rather than read behind the planes, if there are that many places.
    tile.begin = push.places > COLUMNS ? min(first, push.places - COLUMNS) : 0;
    tile.first = first;
    tile.outputs = push.outputs - output0;
    tile.channel = pair * push.outputs + output0;
    tile.bias = pair % push.groups * push.outputs + output0;

    // Channels past the last one are that one again; their sums are not stored.
    uint rows[MOST_OUTPUTS];
    vec4 total[MOST_OUTPUTS];
    for (uint i = 0; i < MOST_OUTPUTS; i++) {
        rows[i] = (tile.bias + min(i, tile.outputs - 1)) * push.terms;
        total[i] = vec4(0.0);
    }
    for (uint k = 0; k < push.terms; k += CHUNK) {
        add_chunk(total, rows, pair * push.words + tile.begin, k, min(CHUNK, push.terms - k));
    }
    for (uint j = 0; j < 4; j++) {
        store_quarter(total, j, tile);
    }
}
