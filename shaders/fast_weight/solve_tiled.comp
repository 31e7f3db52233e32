#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// What solve.comp computes, in the same order, for GPUs: scores through tiles in shared memory, and an invocation for each
// column of W or U, so that all of a workgroup have one where there are 128 of both.

#include "index.glsl"
#include "math.glsl"

#define WEFT_DEPTH 8 // with the scores in 16 KiB

layout(local_size_x = 128) in;

#define WEFT_TILED
#include "solve.glsl"

float weft_key(uint index)
{
    return keys[index];
}

vec4 weft_key_four(uint index)
{
    return keys4[index / 4];
}

#include "chunk_score_tiles.glsl"

// A column of K and W, or of V and U: where it is in the first row of them, and from row to row.
struct Column
{
    bool of_keys;
    uint first, step;
};

float[WEFT_TILE_ROWS] load_sources(Column c, uint rows[WEFT_TILE_ROWS])
{
    float x[WEFT_TILE_ROWS];
    if (c.of_keys) {
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            x[i] = keys[c.first + rows[i] * c.step];
        }
    } else {
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            x[i] = values[c.first + rows[i] * c.step];
        }
    }
    return x;
}

float[WEFT_TILE_ROWS] load_results(Column c, uint first)
{
    float x[WEFT_TILE_ROWS];
    uint at = c.first + first * c.step;
    uint next = push.heads * c.step;
    if (c.of_keys) {
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            x[i] = w[at];
            at += next;
        }
    } else {
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            x[i] = u[at];
            at += next;
        }
    }
    return x;
}

// 0, but a compiler does not know that it is so for all invocations. AMD's would bring scores that all read alike into scalar
// registers, with an instruction for each.
uint own_zero;

void make_own_zero()
{
    weft_tile_columns[gl_LocalInvocationID.x] = vec4(0.0);
    barrier();
    own_zero = floatBitsToUint(weft_tile_columns[gl_LocalInvocationID.x].x);
}

// A tile's rows, given those before: the score of a row with an earlier one of them is among its own.
void solve_tile(inout float sum[WEFT_TILE_ROWS], Column c, uint tile_row, uint count, uint rows[WEFT_TILE_ROWS])
{
    float source[WEFT_TILE_ROWS] = load_sources(c, rows);
    uint at = weft_score_place(tile_row, tile_row * WEFT_TILE_ROWS) + own_zero;
    [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        float x = weft_flush(beta[rows[i]] * (source[i] - sum[i]));
        vec4 low = weft_score_fours[at + 2 * i];
        vec4 high = weft_score_fours[at + 2 * i + 1];
        if (tile_row * WEFT_TILE_ROWS + i < count) {
            uint place = c.first + rows[i] * c.step;
            if (c.of_keys) {
                w[place] = x;
            } else {
                u[place] = x;
            }
        }
        [[unroll]] for (uint r = 1; r < WEFT_TILE_ROWS; r++) {
            if (r > i) {
                sum[r] = weft_multiply_add(r < 4 ? low[r % 4] : high[r % 4], x, sum[r]);
            }
        }
    }
}

// An invocation reads back only elements that it wrote itself.
void solve_column(uint first_row, uint first, uint count, Column c)
{
    for (uint tile_row = 0; tile_row * WEFT_TILE_ROWS < count; tile_row++) {
        float sum[WEFT_TILE_ROWS];
        uint rows[WEFT_TILE_ROWS];
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            sum[i] = 0.0;
            rows[i] = weft_token_row(first_row, first + tile_row * WEFT_TILE_ROWS + i);
        }
        for (uint key = 0; key < tile_row * WEFT_TILE_ROWS; key += WEFT_TILE_ROWS) {
            float x[WEFT_TILE_ROWS] = load_results(c, weft_token_row(first_row, first + key));
            uint at = weft_score_place(tile_row, key) + own_zero;
            [[unroll]] for (uint j = 0; j < WEFT_TILE_ROWS; j++) {
                vec4 low = weft_score_fours[at + 2 * j];
                vec4 high = weft_score_fours[at + 2 * j + 1];
                [[unroll]] for (uint i = 0; i < 4; i++) {
                    sum[i] = weft_multiply_add(low[i], x[j], sum[i]);
                    sum[i + 4] = weft_multiply_add(high[i], x[j], sum[i + 4]);
                }
            }
        }
        solve_tile(sum, c, tile_row, count, rows);
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint chunks = (push.n + WEFT_CHUNK - 1) / WEFT_CHUNK;
    uint head = group / chunks; // of all batches
    uint first = group % chunks * WEFT_CHUNK;
    uint count = min(push.n - first, uint(WEFT_CHUNK));
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    weft_make_scores(first_row, first);
    make_own_zero(); // and all scores are there
    for (uint column = gl_LocalInvocationID.x; column < push.features + push.values; column += 128) {
        bool of_keys = column < push.features;
        solve_column(first_row, first, count,
                     Column(of_keys, of_keys ? column : column - push.features, of_keys ? push.features : push.values));
    }
}
