#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// What direct.comp computes, in the same order, through tiles in shared memory: for GPUs. What an invocation loads it loads
// at once, and blocks of keys that all of a workgroup's queries have ask nothing of their elements.

#include "index.glsl"
#include "linear_attention.glsl"
#include "guard.glsl"

#define KEYS    32 // of a block
#define DEPTH   16 // features of a tile of queries and keys; divides WEFT_TERMS
#define QUERIES 64
#define FOURS   16 // of columns
#define Q_PITCH (QUERIES / 4 + 1) // in fours; the padding spreads the transposed stores over the banks
#define K_PITCH (KEYS / 4 + 1)

layout(local_size_x = 128) in;

#define WEFT_TILED
#include "direct.glsl"

shared vec4 scores[KEYS * QUERIES / 4]; // a row for each key
shared vec4 tile_q[DEPTH * Q_PITCH]; // a row for each feature; later a row of values for each of DEPTH keys
shared vec4 tile_k[DEPTH * K_PITCH];
shared float denominators[QUERIES];

// Four features from f on, zeros behind the last: -0 of a query and +0 of a key, whose product -0 changes no sum.
vec4 load_query(uint base, uint f)
{
    vec4 x = vec4(-0.0);
    if (VECTOR_FEATURES != 0) {
        if (f < push.features) {
            x = queries4[(base + f) / 4];
        }
        return x;
    }
    for (uint j = 0; j < 4; j++) {
        if (f + j < push.features) {
            x[j] = queries[base + f + j];
        }
    }
    return x;
}

vec4 load_key(uint base, uint f)
{
    vec4 x = vec4(0.0);
    if (VECTOR_FEATURES != 0) {
        if (f < push.features) {
            x = keys4[(base + f) / 4];
        }
        return x;
    }
    for (uint j = 0; j < 4; j++) {
        if (f + j < push.features) {
            x[j] = keys[base + f + j];
        }
    }
    return x;
}

// An invocation loads four features of two queries, 32 apart, and of a key.
void load_tiles(uvec3 rows, uint f)
{
    uint row = gl_LocalInvocationID.x / (DEPTH / 4);
    uint part = gl_LocalInvocationID.x % (DEPTH / 4) * 4;
    vec4 low = load_query(rows.x, f + part);
    vec4 high = load_query(rows.y, f + part);
    vec4 key = load_key(rows.z, f + part);
    uint at_q = part * Q_PITCH + row / 4;
    uint at_k = part * K_PITCH + row / 4;
    [[unroll]] for (uint j = 0; j < 4; j++) {
        tile_q[at_q + j * Q_PITCH][row % 4] = low[j];
        tile_q[at_q + j * Q_PITCH + 8][row % 4] = high[j];
        tile_k[at_k + j * K_PITCH][row % 4] = key[j];
    }
}

// Of an invocation's 4 × 4 scores; a query and a key that are there have a weight, the others' scores are -0.
void store_weighted(vec4 total[4], uint head, uint query, uint key, bool whole)
{
    uint lag = push.zero + query - key;
    uint base = head * push.lags;
    float weight[7]; // of the lags from lag - 3 on
    [[unroll]] for (uint i = 0; i < 7; i++) {
        uint own = lag + i - 3;
        weight[i] = weights[base + (own < push.lags ? own : 0u)];
    }
    uint at = (key % KEYS) * (QUERIES / 4) + query % QUERIES / 4;
    [[unroll]] for (uint j = 0; j < 4; j++) {
        vec4 column;
        [[unroll]] for (uint i = 0; i < 4; i++) {
            column[i] = total[i][j] * weight[i + 3 - j];
            if (!whole) {
                bool there = query + i < push.n && key + j < push.n && (CAUSAL == 0 || key + j <= query + i);
                column[i] = there ? column[i] : -0.0;
            }
        }
        scores[at + j * (QUERIES / 4)] = column;
    }
}

// An invocation makes the scores of four queries with four keys.
void make_scores(uint first_row, uint head, uint first_query, uint first_key, bool whole)
{
    uint own = gl_LocalInvocationID.x / (DEPTH / 4);
    uvec3 rows = push.features * uvec3(token_row(first_row, first_query + own), token_row(first_row, first_query + own + 32),
                                       token_row(first_row, first_key + own));
    uint row = gl_LocalInvocationID.x / (KEYS / 4);
    uint column = gl_LocalInvocationID.x % (KEYS / 4);
    vec4 total[4];
    vec4 sum[4];
    [[unroll]] for (uint i = 0; i < 4; i++) {
        total[i] = vec4(0.0);
        sum[i] = vec4(0.0);
    }
    for (uint f = 0; f < push.features; f += DEPTH) {
        load_tiles(rows, f);
        barrier();
        [[unroll]] for (uint t = 0; t < DEPTH; t++) {
            vec4 q = tile_q[t * Q_PITCH + row];
            vec4 k = tile_k[t * K_PITCH + column];
            [[unroll]] for (uint i = 0; i < 4; i++) {
                sum[i] = weft_multiply_add(q[i], k, sum[i]);
            }
        }
        if ((f + DEPTH) % WEFT_TERMS == 0 || f + DEPTH >= push.features) {
            [[unroll]] for (uint i = 0; i < 4; i++) {
                total[i] = total[i] + sum[i];
                sum[i] = vec4(0.0);
            }
        }
        barrier();
    }
    store_weighted(total, head, first_query + row * 4, first_key + column * 4, whole);
}

// Four columns; past the last one, others.
vec4 load_value(uint base, uint column)
{
    if (VECTOR_VALUES != 0) {
        return values4[(base + min(column, push.values - 4)) / 4];
    }
    uvec4 index = base + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(values[index.x], values[index.y], values[index.z], values[index.w]);
}

// The values of DEPTH keys, in the place of the queries' features.
void load_values(uint first_row, uint first_key, uint column)
{
    vec4 x[DEPTH / 8];
    uint own = gl_LocalInvocationID.x / FOURS;
    [[unroll]] for (uint i = 0; i < DEPTH / 8; i++) {
        x[i] = load_value(token_row(first_row, first_key + own + 8 * i) * push.values, column);
    }
    [[unroll]] for (uint i = 0; i < DEPTH / 8; i++) {
        tile_q[(own + 8 * i) * FOURS + gl_LocalInvocationID.x % FOURS] = x[i];
    }
}

void add_whole_keys(inout vec4 sum[WEFT_TILE_ROWS], uint from)
{
    uint row = gl_LocalInvocationID.x / FOURS * (WEFT_TILE_ROWS / 4);
    [[unroll]] for (uint j = 0; j < DEPTH; j++) {
        vec4 low = scores[(from + j) * (QUERIES / 4) + row];
        vec4 high = scores[(from + j) * (QUERIES / 4) + row + 1];
        vec4 v = tile_q[j * FOURS + gl_LocalInvocationID.x % FOURS];
        [[unroll]] for (uint i = 0; i < 4; i++) {
            sum[i] = weft_multiply_add(low[i], v, sum[i]);
            sum[i + 4] = weft_multiply_add(high[i], v, sum[i + 4]);
        }
    }
}

// Row i has `there` + i of the keys where they are causal. Later values are left out, not multiplied by 0: that would let
// their NaN through.
void add_some_keys(inout vec4 sum[WEFT_TILE_ROWS], uint from, uint end, int there)
{
    uint row = gl_LocalInvocationID.x / FOURS * (WEFT_TILE_ROWS / 4);
    for (uint j = 0; j < end; j++) {
        vec4 low = scores[(from + j) * (QUERIES / 4) + row];
        vec4 high = scores[(from + j) * (QUERIES / 4) + row + 1];
        vec4 v = tile_q[j * FOURS + gl_LocalInvocationID.x % FOURS];
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            vec4 next = weft_multiply_add(i < 4 ? low[i % 4] : high[i % 4], v, sum[i]);
            sum[i] = CAUSAL == 0 || int(j) < there + int(i) ? next : sum[i];
        }
    }
}

// Of query `lane`. Scores that are not there are -0, which changes no sum.
float add_scores()
{
    float sum = 0.0;
    [[unroll]] for (uint j = 0; j < KEYS; j++) {
        sum = sum + scores[j * (QUERIES / 4) + gl_LocalInvocationID.x / 4][gl_LocalInvocationID.x % 4];
    }
    return sum;
}

void store(uint base, uint column, vec4 total, float denominator)
{
    vec4 x;
    [[unroll]] for (uint t = 0; t < 4; t++) {
        x[t] = weft_flush(weft_div(total[t], denominator));
    }
    if (VECTOR_VALUES != 0) {
        result4[(base + column) / 4] = x;
        return;
    }
    [[unroll]] for (uint t = 0; t < 4; t++) {
        if (column + t < push.values) {
            result[base + column + t] = x[t];
        }
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint lane = gl_LocalInvocationID.x;
    uint row_blocks = (push.rows + QUERIES - 1) / QUERIES;
    uint first = group / push.column_blocks % row_blocks * QUERIES;
    uint head = group / (push.column_blocks * row_blocks); // of all batches
    uint count = min(push.rows - first, uint(QUERIES));
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    uint stop = CAUSAL != 0 ? first + count : push.n;

    uint row = lane / FOURS * WEFT_TILE_ROWS;
    uint column = (group % push.column_blocks * FOURS + lane % FOURS) * 4;
    float denominator = 0.0; // of row `lane`
    vec4 total[WEFT_TILE_ROWS];
    [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        total[i] = vec4(0.0);
    }
    for (uint first_key = 0; first_key < stop; first_key += KEYS) {
        bool whole = first + QUERIES <= push.n && first_key + KEYS <= (CAUSAL != 0 ? first + 1 : push.n);
        make_scores(first_row, head % push.heads, first, first_key, whole);
        vec4 sum[WEFT_TILE_ROWS];
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            sum[i] = vec4(0.0);
        }
        for (uint from = 0; from < KEYS; from += DEPTH) {
            load_values(first_row, first_key + from, column);
            barrier();
            if (whole) {
                add_whole_keys(sum, from);
            } else {
                uint key = first_key + from;
                add_some_keys(sum, from, min(stop - min(stop, key), uint(DEPTH)), int(first + row + 1) - int(key));
            }
            if (from == 0 && lane < QUERIES) {
                denominator = denominator + add_scores();
            }
            barrier();
        }
        [[unroll]] for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            total[i] = total[i] + sum[i];
        }
    }
    if (lane < QUERIES) {
        denominators[lane] = weft_guarded(denominator, push.epsilon);
    }
    barrier();
    if (column >= push.values) {
        return;
    }
    for (uint i = 0; i < WEFT_TILE_ROWS && row + i < count; i++) {
        store(token_row(first_row, first + row + i) * push.values, column, total[i], denominators[row + i]);
    }
}
