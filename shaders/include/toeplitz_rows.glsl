// SPDX-License-Identifier: MIT
//
// Products with a Toeplitz matrix by their definition. An invocation makes TILE_ROWS elements of a result, from `first` on,
// and goes through x in blocks of TILE_ROWS elements, which share 2 TILE_ROWS - 1 coefficients. Products are added in order of
// j into a partial sum, which is added to the total where the next one of 64 terms begins. What is left in it at the end is at
// least one term: an empty partial sum would make +0 of a total of -0.

#ifndef WEFT_INCLUDE_TOEPLITZ_ROWS_GLSL
#define WEFT_INCLUDE_TOEPLITZ_ROWS_GLSL

#include "multiply_add.glsl"

#define CHUNK 64 // a multiple of TILE_ROWS

layout(constant_id = 16) const uint TILE_ROWS = 8;

float total[TILE_ROWS];
float sum[TILE_ROWS];
float element[TILE_ROWS];              // of the block: x_j …
float coefficient[2 * TILE_ROWS - 1]; // of the lags first - j - (TILE_ROWS - 1) …

void begin_rows()
{
    for (uint r = 0; r < TILE_ROWS; r++) {
        total[r] = 0.0;
        sum[r] = 0.0;
    }
}

// Adds the block from j on, of n elements in all; causal rows take those up to their own place.
void add_block(uint first, uint j, uint n, bool causal)
{
    if (j % CHUNK == 0) {
        for (uint r = 0; r < TILE_ROWS; r++) {
            total[r] = total[r] + sum[r];
            sum[r] = 0.0;
        }
    }
    if (j + TILE_ROWS <= n && (!causal || j < first)) {
        for (uint u = 0; u < TILE_ROWS; u++) {
            for (uint r = 0; r < TILE_ROWS; r++) {
                sum[r] = weft_multiply_add(coefficient[r + (TILE_ROWS - 1) - u], element[u], sum[r]);
            }
        }
    } else {
        for (uint u = 0; u < TILE_ROWS; u++) {
            for (uint r = 0; r < TILE_ROWS; r++) {
                if (j + u < n && (!causal || j + u <= first + r)) {
                    sum[r] = weft_multiply_add(coefficient[r + (TILE_ROWS - 1) - u], element[u], sum[r]);
                }
            }
        }
    }
}

#endif
