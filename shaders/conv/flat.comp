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

// Stores the sums of a quarter, whose first place is `begin`; places before `first` are another workgroup's.
void store_quarter(vec4 total[MOST_OUTPUTS], uint j, uint begin, uint first, uint output0, uint channel)
{
    uint place = begin + gl_LocalInvocationID.x;
    uint window = place;
    bool is_window = place >= first && place < push.places;
    if (DENSE == 0) {
        uint row = begin / push.pitch;
        uint column = begin % push.pitch;
        if (column + QUARTER <= push.columns) {
            window = row * push.columns + column + gl_LocalInvocationID.x;
        } else {
            window = place / push.pitch * push.columns + place % push.pitch;
            is_window = is_window && place % push.pitch < push.columns;
        }
    }
    for (uint i = 0; i < OUTPUTS; i++) {
        if (is_window && output0 + i < push.outputs) {
            float bias_value = HAS_BIAS != 0 ? bias[channel % (push.groups * push.outputs) + i] : 0.0;
            result[(channel + i) * push.windows + push.first + window] = weft_conv_finish(total[i][j], bias_value);
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
    // The last block begins earlier rather than read behind the planes, if there are that many places.
    uint begin = push.places > COLUMNS ? min(first, push.places - COLUMNS) : 0;

    // Channels past the last one are that one again; their sums are not stored.
    uint rows[MOST_OUTPUTS];
    vec4 total[MOST_OUTPUTS];
    for (uint i = 0; i < MOST_OUTPUTS; i++) {
        rows[i] = (pair % push.groups * push.outputs + min(output0 + i, push.outputs - 1)) * push.terms;
        total[i] = vec4(0.0);
    }
    for (uint k = 0; k < push.terms; k += CHUNK) {
        add_chunk(total, rows, pair * push.words + begin, k, min(CHUNK, push.terms - k));
    }
    for (uint j = 0; j < 4; j++) {
        store_quarter(total, j, begin + j * QUARTER, first, output0, pair * push.outputs + output0);
    }
}
