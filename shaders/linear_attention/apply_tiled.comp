#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// What apply.comp computes, in the same order, through tiles in shared memory: for GPUs. A workgroup makes the rows of a chunk
// and 64 columns of a head's values.

#include "index.glsl"

#define WEFT_DEPTH 8 // with the scores in 16 KiB

layout(local_size_x = 128) in;

#define WEFT_TILED
#include "apply.glsl"

#include "chunk_row_tiles.glsl"

// The denominator of row `lane`, as far as the state makes it: with 1 for every value.
float denominator;
float denominator_sum;
uint ones_base; // in the state

void add_ones(uint f)
{
    uint lane = gl_LocalInvocationID.x;
    if (NORMALIZE == 0 || lane >= WEFT_CHUNK) {
        return;
    }
    if (f + WEFT_DEPTH <= push.features) {
        [[unroll]] for (uint t = 0; t < WEFT_DEPTH; t++) {
            float x = weft_tile_rows[t * WEFT_TILE_PITCH + lane / 4][lane % 4];
            denominator_sum = weft_multiply_add(x, state[ones_base + f + t], denominator_sum);
        }
    } else {
        for (uint t = 0; f + t < push.features; t++) {
            float x = weft_tile_rows[t * WEFT_TILE_PITCH + lane / 4][lane % 4];
            denominator_sum = weft_multiply_add(x, state[ones_base + f + t], denominator_sum);
        }
    }
    if ((f + WEFT_DEPTH) % WEFT_TERMS == 0 || f + WEFT_DEPTH >= push.features) {
        denominator = denominator + denominator_sum;
        denominator_sum = 0.0;
    }
}

#define WEFT_EACH_TILE(f) add_ones(f)

#include "chunk_score_tiles.glsl"
#include "chunk_state_tiles.glsl"
#include "guard.glsl"

shared float denominators[WEFT_CHUNK];

// And as far as the scores do.
void make_denominators()
{
    uint row = gl_LocalInvocationID.x;
    if (row >= WEFT_CHUNK) {
        return;
    }
    float sum = 0.0;
    if (CAUSAL != 0) {
        uint tile_row = row / WEFT_TILE_ROWS;
        for (uint key = 0; key <= row; key += WEFT_TILE_ROWS) {
            [[unroll]] for (uint j = 0; j < WEFT_TILE_ROWS; j++) {
                uint at = weft_score_place(tile_row, key) + 2 * j + row / 4 % 2;
                float next = sum + weft_score_fours[at][row % 4];
                sum = key + j <= row ? next : sum;
            }
        }
        denominator = denominator + sum;
    }
    denominators[row] = weft_guarded(denominator, push.epsilon);
}

vec4 load_value(uint base, uint column)
{
    if (VECTOR_VALUES != 0) {
        return values4[(base + min(column, push.values - 4)) / 4];
    }
    uvec4 index = base + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(values[index.x], values[index.y], values[index.z], values[index.w]);
}

// The values of the tile's eight keys, from `key` of the chunk's on, by the scores of row tile `tile_row`.
void add_values(inout vec4 sum[WEFT_TILE_ROWS], uint tile_row, uint key)
{
    uint at = weft_score_place(tile_row, key);
    uint column = gl_LocalInvocationID.x % WEFT_TILE_FOURS;
    [[unroll]] for (uint j = 0; j < WEFT_TILE_ROWS; j++) {
        vec4 low = weft_score_fours[at + 2 * j];
        vec4 high = weft_score_fours[at + 2 * j + 1];
        vec4 v = weft_tile_columns[j * WEFT_TILE_PITCH + column];
        [[unroll]] for (uint i = 0; i < 4; i++) {
            sum[i] = weft_multiply_add(low[i], v, sum[i]);
            sum[i + 4] = weft_multiply_add(high[i], v, sum[i + 4]);
        }
    }
}

// The same for the row tile's own keys, whose values come from memory, so that all row tiles do it at once. Later tokens' values
// are left out, not multiplied by 0: that would let their NaN through.
void add_own_values(inout vec4 sum[WEFT_TILE_ROWS], uint tile_row, uint first_row, uint first, uint column)
{
    uint at = weft_score_place(tile_row, tile_row * WEFT_TILE_ROWS);
    [[unroll]] for (uint from = 0; from < WEFT_TILE_ROWS; from += 4) {
        vec4 v[4]; // half of them, for want of registers
        [[unroll]] for (uint j = 0; j < 4; j++) {
            v[j] = load_value(weft_token_row(first_row, first + tile_row * WEFT_TILE_ROWS + from + j) * push.values, column);
        }
        [[unroll]] for (uint j = 0; j < 4; j++) {
            vec4 low = weft_score_fours[at + 2 * (from + j)];
            vec4 high = weft_score_fours[at + 2 * (from + j) + 1];
            [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                if (i >= from + j) {
                    sum[i] = weft_multiply_add(i < 4 ? low[i % 4] : high[i % 4], v[j], sum[i]);
                }
            }
        }
    }
}

// Of the chunk's own tokens, eight at a time those before a row tile's, and then its own.
void add_chunk(inout vec4 total[WEFT_TILE_ROWS], uint first_row, uint first, uint count, uint first_column)
{
    vec4 sum[WEFT_TILE_ROWS];
    weft_begin_tile(sum);
    uint tile_row = gl_LocalInvocationID.x / WEFT_TILE_FOURS;
    uint column = first_column + weft_own_column();
    for (uint key = 0; key + WEFT_DEPTH < count; key += WEFT_DEPTH) {
        vec4 x[WEFT_TILE_LOADS];
        x[0] = load_value(weft_token_row(first_row, first + key + weft_along_term(0)) * push.values, column);
        weft_put_columns_along(x);
        barrier();
        if (key < tile_row * WEFT_TILE_ROWS) {
            add_values(sum, tile_row, key);
        }
        barrier();
    }
    add_own_values(sum, tile_row, first_row, first, column);
    [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        total[i] = total[i] + sum[i];
    }
}

vec4 finish(vec4 sum, vec4 before, uint row)
{
    vec4 value;
    [[unroll]] for (uint t = 0; t < 4; t++) {
        float x = sum[t];
        if (NORMALIZE != 0) {
            x = weft_div(x, denominators[row]);
        }
        x = push.weight * x;
        if (ACCUMULATE != 0) {
            x = before[t] + x;
        }
        value[t] = weft_flush(x);
    }
    return value;
}

void store(uint base, uint row, uint column, vec4 sum)
{
    vec4 before = vec4(0.0);
    if (VECTOR_VALUES != 0) {
        if (ACCUMULATE != 0) {
            before = result4[(base + column) / 4];
        }
        result4[(base + column) / 4] = finish(sum, before, row);
        return;
    }
    [[unroll]] for (uint t = 0; t < 4; t++) {
        if (ACCUMULATE != 0 && column + t < push.values) {
            before[t] = result[base + column + t];
        }
    }
    vec4 value = finish(sum, before, row);
    [[unroll]] for (uint t = 0; t < 4; t++) {
        if (column + t < push.values) {
            result[base + column + t] = value[t];
        }
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint chunks = (push.n + WEFT_CHUNK - 1) / WEFT_CHUNK;
    uint chunk = group / push.column_blocks % chunks;
    uint head = group / (push.column_blocks * chunks); // of all batches
    uint first = chunk * WEFT_CHUNK;
    uint count = min(push.n - first, uint(WEFT_CHUNK));
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    uint first_column = group % push.column_blocks * FIXED_COLUMNS;
    bool has_state = HAS_STATE != 0 && (CAUSAL == 0 || chunk > 0);
    uint state_base = head * push.state_chunks + (CAUSAL != 0 ? chunk : 0);
    state_base = state_base * (push.features * (push.values + NORMALIZE));
    ones_base = state_base + push.features * push.values;
    denominator = 0.0;
    denominator_sum = 0.0;

    if (CAUSAL != 0) {
        weft_make_scores(first_row, first);
        barrier();
    }
    vec4 total[WEFT_TILE_ROWS];
    weft_begin_tile(total);
    if (has_state) {
        weft_add_state(total, first_row, first, state_base, first_column);
    }
    if (CAUSAL != 0) {
        add_chunk(total, first_row, first, count, first_column);
    }
    if (NORMALIZE != 0) {
        make_denominators();
        barrier();
    }
    uint row = weft_own_row();
    uint column = first_column + weft_own_column();
    if (column >= push.values) {
        return;
    }
    [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        if (row + i < count) {
            store(weft_token_row(first_row, first + row + i) * push.values, row + i, column, total[i]);
        }
    }
}
