#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// y[b, i, c] = Σ_j t[i - j, c] x[b, j, c] by its definition: an invocation makes TILE_ROWS elements of a column.
//
// Forms: channels follow one another over the invocations; on processors they lie along the lanes, and all of a workgroup have
// the same rows, so that loads are whole vectors.
// form direct
// form direct_lanes WEFT_LANES

#include "index.glsl"
#include "math.glsl"
#include "toeplitz_rows.glsl"

layout(constant_id = 0) const uint CAUSAL = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer T { float t[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint sequence_length;
    uint channels;
    uint lag_zero; // the row of lag 0 in t
} push;

// The rows from `first` on of a channel of a sequence.
void weft_make_rows(uint sequence, uint first, uint channel)
{
    uint base = sequence * push.sequence_length * push.channels + channel;
    uint n = push.sequence_length;
    uint stop = CAUSAL != 0 ? min(n, first + TILE_ROWS) : n;

    // Lags outside of the table belong to elements that are not stored or terms that are left out.
    int largest = int(push.sequence_length) - 1;
    int smallest = CAUSAL != 0 ? 0 : -largest;

    begin_rows();
    for (uint j = 0; j < stop; j += TILE_ROWS) {
        for (uint u = 0; u < TILE_ROWS; u++) {
            element[u] = x[base + min(j + u, push.sequence_length - 1) * push.channels];
        }
        for (uint v = 0; v < 2 * TILE_ROWS - 1; v++) {
            int lag = clamp(int(first) - int(j) + int(v) - int(TILE_ROWS - 1), smallest, largest);
            coefficient[v] = t[uint(int(push.lag_zero) + lag) * push.channels + channel];
        }
        add_block(first, j, n, CAUSAL != 0);
    }
    for (uint r = 0; r < TILE_ROWS; r++) {
        if (first + r < push.sequence_length) {
            y[base + (first + r) * push.channels] = weft_flush(total[r] + sum[r]);
        }
    }
}

#ifdef WEFT_LANES

layout(constant_id = 64) const uint FIXED_CHANNELS = 16; // of a workgroup

layout(local_size_x = 16) in;

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint pieces = (push.channels - 1) / FIXED_CHANNELS + 1;
    uint tile = group / pieces;
    if (tile * push.channels >= push.count) {
        return;
    }
    uint tiles = (push.sequence_length + TILE_ROWS - 1) / TILE_ROWS;
    uint first = group % pieces * FIXED_CHANNELS;
    uint channel = first + gl_LocalInvocationID.x;
    // Where all lanes have a channel, which is nearly everywhere, nothing is masked.
    if (first + FIXED_CHANNELS <= push.channels) {
        weft_make_rows(tile / tiles, tile % tiles * TILE_ROWS, channel);
    } else if (channel < push.channels) {
        weft_make_rows(tile / tiles, tile % tiles * TILE_ROWS, channel);
    }
}

#else

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint tiles = (push.sequence_length + TILE_ROWS - 1) / TILE_ROWS;
    weft_make_rows(item / push.channels / tiles, item / push.channels % tiles * TILE_ROWS,
                   item % push.channels);
}

#endif
