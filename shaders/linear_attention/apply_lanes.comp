#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What apply.comp computes, for processors: lanes along the columns of the values, which are contiguous, and an element of
// the queries, or a score, is one scalar for all of them. A workgroup is one subgroup, which makes a chunk of queries; the
// scores, which have the keys along the lanes, are made once and not for each block of columns.

#include "index.glsl"
#include "lanes_tile.glsl"
#include "linear_attention.glsl"

#define WEFT_LANES
#include "apply.glsl"

#include "guard.glsl"
#include "lanes_scores.glsl"
#include "lanes_state.glsl"

// A chunk, and the state before it.
struct Chunk
{
    uint first_row, first, count;
    uint state_base;
    bool has_state;
};

// What eight rows have from the state for their denominators. A row's sum waits for itself at each step: eight at once fill that time.
void read_ones(Chunk chunk, uvec4 upper, uvec4 lower, out vec4 over, out vec4 under)
{
    uint ones = chunk.state_base + push.features * push.values;
    over = vec4(0.0);
    under = vec4(0.0);
    for (uint block = 0; chunk.has_state && block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        vec4 upper_sum = vec4(0.0), lower_sum = vec4(0.0);
        for (uint f = block; f < end; f++) {
            upper_sum = weft_multiply_add(state[ones + f], weft_queries(upper, f), upper_sum);
            lower_sum = weft_multiply_add(state[ones + f], weft_queries(lower, f), lower_sum);
        }
        over = over + upper_sum;
        under = under + lower_sum;
    }
}

// What the rows from `row` on are divided by.
vec4 make_denominators(uint row, vec4 total)
{
    if (CAUSAL != 0) {
        vec4 sum = vec4(0.0);
        for (uint j = 0; j < row; j++) {
            sum = sum + weft_score_rows(row, j);
        }
        for (uint j = 0; j < WEFT_LANES_ROWS; j++) {
            sum = weft_lanes_from(j, sum, sum + weft_score_rows(row, row + j));
        }
        total = total + sum;
    }
    for (uint i = 0; i < WEFT_LANES_ROWS; i++) {
        total[i] = weft_guarded(total[i], push.epsilon);
    }
    return total;
}

weft_lanes_tile read_chunk(Chunk chunk, uint row, uint column, bool two)
{
    weft_lanes_tile sum = weft_lanes_zero();
    for (uint j = 0; j < row; j++) {
        uint at = weft_token_row(chunk.first_row, chunk.first + j) * push.values + column;
        weft_lanes_step(sum, weft_score_rows(row, j), values[at],
                        two ? values[at + TILE_LANES] : 0.0, two);
    }
    // Later tokens' values are left out, not multiplied by 0: that would let their NaN through.
    for (uint j = 0; j < WEFT_LANES_ROWS; j++) {
        uint at = weft_token_row(chunk.first_row, chunk.first + row + j) * push.values + column;
        weft_lanes_step_from(sum, j, weft_score_rows(row, row + j), values[at],
                             two ? values[at + TILE_LANES] : 0.0, two);
    }
    return sum;
}

void store(uint at, float value, float denominator)
{
    if (NORMALIZE != 0) {
        value = weft_div(value, denominator);
    }
    value = push.weight * value;
    if (ACCUMULATE != 0) {
        value = result[at] + value;
    }
    result[at] = weft_flush(value);
}

// Divides and stores four rows of the column, where it is `own`, and, if there are two, of the one TILE_LANES further.
void store_tile(Chunk chunk, uint row, weft_lanes_tile total, vec4 denominators, uint column, bool two, bool own)
{
    for (uint i = 0; i < WEFT_LANES_ROWS && row + i < chunk.count; i++) {
        uint at = weft_token_row(chunk.first_row, chunk.first + row + i) * push.values + column;
        if (own) {
            store(at, total.low[i], denominators[i]);
        }
        if (two) {
            store(at + TILE_LANES, total.high[i], denominators[i]);
        }
    }
}

void make_tile(Chunk chunk, uint row, uvec4 query, vec4 denominators, uint column, bool two, bool own)
{
    weft_lanes_tile total = weft_lanes_zero();
    if (chunk.has_state) {
        total = weft_read_state(chunk.state_base, query, column, two);
    }
    if (CAUSAL != 0) {
        total = weft_lanes_add(total, read_chunk(chunk, row, column, two));
    }
    store_tile(chunk, row, total, denominators, column, two, own);
}

// The same of four columns.
void make_tiles(Chunk chunk, uint row, uvec4 query, vec4 denominators, uint column)
{
    weft_lanes_pair total = weft_lanes_zeros();
    if (chunk.has_state) {
        total = weft_read_states(chunk.state_base, query, column);
    }
    if (CAUSAL != 0) {
        total.left = weft_lanes_add(total.left, read_chunk(chunk, row, column, true));
        total.right = weft_lanes_add(total.right, read_chunk(chunk, row, column + 2 * TILE_LANES, true));
    }
    store_tile(chunk, row, total.left, denominators, column, true, true);
    store_tile(chunk, row, total.right, denominators, column + 2 * TILE_LANES, true, true);
}

// Four of them. `total`: what their denominators have from the state.
void make_rows(Chunk chunk, uint row, uvec4 query, vec4 total)
{
    uint lane = gl_LocalInvocationIndex;
    vec4 denominators = NORMALIZE != 0 ? make_denominators(row, total) : total;
    uint column = 0;
    for (; WEFT_LANES_WIDE && column + 4 * TILE_LANES <= push.values; column += 4 * TILE_LANES) {
        make_tiles(chunk, row, query, denominators, column + lane);
    }
    for (; column + 2 * TILE_LANES <= push.values; column += 2 * TILE_LANES) {
        make_tile(chunk, row, query, denominators, column + lane, true, true);
    }
    if (push.values < TILE_LANES) {
        if (lane < push.values) {
            make_tile(chunk, row, query, denominators, lane, false, true);
        }
        return;
    }
    // All lanes run also where the columns end: some make columns again that have been made.
    for (; column < push.values; column += TILE_LANES) {
        uint last = min(column, push.values - TILE_LANES);
        make_tile(chunk, row, query, denominators, last + lane, false, last + lane >= column);
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups / push.column_blocks) {
        return; // the whole group: no barrier is missed
    }
    uint chunks = (push.n + WEFT_CHUNK - 1) / WEFT_CHUNK;
    uint number = group % chunks;
    uint head = group / chunks; // of all batches
    Chunk chunk;
    chunk.first_row = head / push.heads * push.n * push.heads + head % push.heads;
    chunk.first = number * WEFT_CHUNK;
    chunk.count = min(push.n - chunk.first, uint(WEFT_CHUNK));
    chunk.has_state = HAS_STATE != 0 && (CAUSAL == 0 || number > 0);
    chunk.state_base = (head * push.state_chunks + (CAUSAL != 0 ? number : 0)) *
                       (push.features * (push.values + NORMALIZE));
    if (CAUSAL != 0) {
        weft_make_scores(chunk.first_row, chunk.first, chunk.count);
    }
    for (uint first = 0; first < chunk.count; first += 2 * WEFT_LANES_ROWS) {
        uint token = chunk.first + first;
        uvec4 query = weft_token_rows(chunk.first_row, token) * push.features;
        uvec4 lower = weft_token_rows(chunk.first_row, token + WEFT_LANES_ROWS) * push.features;
        vec4 total = vec4(0.0), under = vec4(0.0);
        if (NORMALIZE != 0) {
            read_ones(chunk, query, lower, total, under);
        }
        uint end = min(first + 2 * WEFT_LANES_ROWS, chunk.count);
        for (uint row = first; row < end; row += WEFT_LANES_ROWS) {
            make_rows(chunk, row, query, total);
            query = lower;
            total = under;
        }
    }
}
