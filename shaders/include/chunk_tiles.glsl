// SPDX-License-Identifier: MIT
//
// Products of the rows of a chunk through tiles in shared memory: for GPUs. A workgroup of 128 has 64 rows of one factor and
// 64 columns of the other, and takes WEFT_DEPTH terms of their sums at a time; an invocation makes WEFT_TILE_ROWS × 4
// elements. It loads a four of each factor, and where there are no more terms zeros of both, -0 for the rows and +0 for the
// columns: their product is -0, which changes no sum. The order is that of linear_attention.glsl.

#ifndef WEFT_INCLUDE_CHUNK_TILES_GLSL
#define WEFT_INCLUDE_CHUNK_TILES_GLSL

#include "linear_attention.glsl"

#ifndef WEFT_DEPTH
#define WEFT_DEPTH 16 // 8 or 16
#endif
#define WEFT_TILE_FOURS (WEFT_CHUNK / 4) // of rows, and of columns
#define WEFT_TILE_PITCH (WEFT_TILE_FOURS + 1) // spreads the stores of weft_put_…_across over the banks
#define WEFT_TILE_LOADS (WEFT_DEPTH / 8) // fours of each factor that an invocation loads

shared vec4 weft_tile_rows[WEFT_DEPTH * WEFT_TILE_PITCH]; // for each term fours of rows
shared vec4 weft_tile_columns[WEFT_DEPTH * WEFT_TILE_PITCH];

// The first row and column of what an invocation makes.
uint weft_own_row()
{
    return gl_LocalInvocationID.x / WEFT_TILE_FOURS * WEFT_TILE_ROWS;
}

uint weft_own_column()
{
    return gl_LocalInvocationID.x % WEFT_TILE_FOURS * 4;
}

// What it loads at a time where terms follow one another in memory: four terms, from weft_across_term() on, of this row or
// column.
uint weft_across_row(uint load)
{
    return gl_LocalInvocationID.x / (WEFT_DEPTH / 4) + load * (WEFT_CHUNK / WEFT_TILE_LOADS);
}

uint weft_across_term()
{
    return gl_LocalInvocationID.x % (WEFT_DEPTH / 4) * 4;
}

void weft_put_rows_across(vec4 x[WEFT_TILE_LOADS])
{
    uint at = weft_across_term() * WEFT_TILE_PITCH + weft_across_row(0) / 4;
    [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
        [[unroll]] for (uint j = 0; j < 4; j++) {
            weft_tile_rows[at + i * (WEFT_TILE_FOURS / WEFT_TILE_LOADS) + j * WEFT_TILE_PITCH][weft_across_row(0) % 4] = x[i][j];
        }
    }
}

void weft_put_columns_across(vec4 x[WEFT_TILE_LOADS])
{
    uint at = weft_across_term() * WEFT_TILE_PITCH + weft_across_row(0) / 4;
    [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
        [[unroll]] for (uint j = 0; j < 4; j++) {
            weft_tile_columns[at + i * (WEFT_TILE_FOURS / WEFT_TILE_LOADS) + j * WEFT_TILE_PITCH][weft_across_row(0) % 4] = x[i][j];
        }
    }
}

// And where rows or columns do: four of them, weft_own_column() … + 3, for this term.
uint weft_along_term(uint load)
{
    return gl_LocalInvocationID.x / WEFT_TILE_FOURS + load * 8;
}

void weft_put_rows_along(vec4 x[WEFT_TILE_LOADS])
{
    uint at = weft_along_term(0) * WEFT_TILE_PITCH + gl_LocalInvocationID.x % WEFT_TILE_FOURS;
    [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
        weft_tile_rows[at + i * 8 * WEFT_TILE_PITCH] = x[i];
    }
}

void weft_put_columns_along(vec4 x[WEFT_TILE_LOADS])
{
    uint at = weft_along_term(0) * WEFT_TILE_PITCH + gl_LocalInvocationID.x % WEFT_TILE_FOURS;
    [[unroll]] for (uint i = 0; i < WEFT_TILE_LOADS; i++) {
        weft_tile_columns[at + i * 8 * WEFT_TILE_PITCH] = x[i];
    }
}

// Adds the terms of the tiles to the elements from that row and column on, both multiples of four.
void weft_add_tiles(inout vec4 sum[WEFT_TILE_ROWS], uint row, uint column)
{
    [[unroll]] for (uint t = 0; t < WEFT_DEPTH; t++) {
        vec4 low = weft_tile_rows[t * WEFT_TILE_PITCH + row / 4];
        vec4 high = weft_tile_rows[t * WEFT_TILE_PITCH + row / 4 + 1];
        vec4 y = weft_tile_columns[t * WEFT_TILE_PITCH + column / 4];
        [[unroll]] for (uint i = 0; i < 4; i++) {
            sum[i] = weft_multiply_add(low[i], y, sum[i]);
            sum[i + 4] = weft_multiply_add(high[i], y, sum[i + 4]);
        }
    }
}

void weft_begin_tile(out vec4 sum[WEFT_TILE_ROWS])
{
    [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        sum[i] = vec4(0.0);
    }
}

// Once `done` of `terms` are in the sums: where a partial sum ends they go to the totals.
void weft_end_tile(inout vec4 total[WEFT_TILE_ROWS], inout vec4 sum[WEFT_TILE_ROWS], uint done, uint terms)
{
    if (done % WEFT_TERMS == 0 || done >= terms) {
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            total[i] = total[i] + sum[i];
            sum[i] = vec4(0.0);
        }
    }
}

#endif
