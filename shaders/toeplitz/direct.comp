#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// y[b, i, c] = Σ_j t[i - j, c] x[b, j, c] by its definition. An invocation makes TILE_ROWS elements of a
// column, i … i + TILE_ROWS - 1, from blocks of TILE_ROWS elements of x, which share 2 TILE_ROWS - 1 coefficients.
// Products are added in order of j into a partial sum, which every 64 terms is added to the total.

#include "index.glsl"
#include "math.glsl"

#define CHUNK 64 // a multiple of TILE_ROWS

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint CAUSAL = 0;
layout(constant_id = 16) const uint TILE_ROWS = 8;

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

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint tiles = (push.sequence_length + TILE_ROWS - 1) / TILE_ROWS;
    uint channel = item % push.channels;
    uint first = item / push.channels % tiles * TILE_ROWS;
    uint base = item / push.channels / tiles * push.sequence_length * push.channels + channel;
    uint n = push.sequence_length;
    uint stop = CAUSAL != 0 ? min(n, first + TILE_ROWS) : n;

    // Lags outside of the table belong to elements that are not stored or terms that are left out.
    int largest = int(push.sequence_length) - 1;
    int smallest = CAUSAL != 0 ? 0 : -largest;

    float total[TILE_ROWS];
    float sum[TILE_ROWS];
    for (uint r = 0; r < TILE_ROWS; r++) {
        total[r] = 0.0;
        sum[r] = 0.0;
    }
    for (uint j = 0; j < stop; j += TILE_ROWS) {
        float element[TILE_ROWS];
        for (uint u = 0; u < TILE_ROWS; u++) {
            element[u] = x[base + min(j + u, push.sequence_length - 1) * push.channels];
        }
        float coefficient[2 * TILE_ROWS - 1]; // of the lags first - j - (TILE_ROWS - 1) …
        for (uint v = 0; v < 2 * TILE_ROWS - 1; v++) {
            int lag = clamp(int(first) - int(j) + int(v) - int(TILE_ROWS - 1), smallest, largest);
            coefficient[v] = t[uint(int(push.lag_zero) + lag) * push.channels + channel];
        }
        if (j + TILE_ROWS <= push.sequence_length && (CAUSAL == 0 || j < first)) {
            for (uint u = 0; u < TILE_ROWS; u++) {
                for (uint r = 0; r < TILE_ROWS; r++) {
                    sum[r] = sum[r] + coefficient[r + (TILE_ROWS - 1) - u] * element[u];
                }
            }
        } else {
            for (uint u = 0; u < TILE_ROWS; u++) {
                for (uint r = 0; r < TILE_ROWS; r++) {
                    if (j + u < push.sequence_length && (CAUSAL == 0 || j + u <= first + r)) {
                        sum[r] = sum[r] + coefficient[r + (TILE_ROWS - 1) - u] * element[u];
                    }
                }
            }
        }
        if ((j + TILE_ROWS) % CHUNK == 0) {
            for (uint r = 0; r < TILE_ROWS; r++) {
                total[r] = total[r] + sum[r];
                sum[r] = 0.0;
            }
        }
    }
    for (uint r = 0; r < TILE_ROWS; r++) {
        if (first + r < push.sequence_length) {
            y[base + (first + r) * push.channels] = weft_flush(total[r] + sum[r]);
        }
    }
}
