// SPDX-License-Identifier: MIT
//
// y[b, i, c] = Σ_j t[i - j, c] x[b, j, c] by its definition: an invocation makes TILE_ROWS elements of a column.

#ifndef WEFT_TOEPLITZ_DIRECT_GLSL
#define WEFT_TOEPLITZ_DIRECT_GLSL

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

#endif
