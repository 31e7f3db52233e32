#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Σ_j w(i - j) (q_i · k_j) v_j / Σ_j w(i - j) (q_i · k_j) by its definition. A workgroup makes FIXED_QUERIES rows of
// a head and FIXED_COLUMNS columns of its values, from blocks of KEYS keys whose weighted scores are in shared memory.
// Sums are those of blocks, of WEFT_TERMS features or of KEYS keys, added up in order.

#include "index.glsl"
#include "linear_attention.glsl"
#include "guard.glsl"

#define KEYS 32
#define SCORE_TILE 4 // 4 × 4 scores for each of the 128 invocations
#define FOURS (FIXED_COLUMNS / 4)

layout(local_size_x = 128) in;

#include "direct.glsl"

shared float scores[FIXED_QUERIES * KEYS];
shared float denominators[FIXED_QUERIES];

float weighted(float score, uint head, uint query, uint key)
{
    bool there = query < push.n && key < push.n && (CAUSAL == 0 || key <= query);
    uint lag = there ? push.zero + query - key : 0u;
    float product = score * weights[head * push.lags + lag];
    return there ? product : -0.0; // changes no sum
}

void make_scores(uint first_row, uint head, uint first_query, uint first_key)
{
    uint row = gl_LocalInvocationID.x / (KEYS / SCORE_TILE) * SCORE_TILE;
    uint column = gl_LocalInvocationID.x % (KEYS / SCORE_TILE) * SCORE_TILE;
    uint query[SCORE_TILE];
    uint key[SCORE_TILE];
    vec4 total[SCORE_TILE];
    for (uint i = 0; i < SCORE_TILE; i++) {
        query[i] = token_row(first_row, first_query + row + i) * push.features;
        key[i] = token_row(first_row, first_key + column + i) * push.features;
        total[i] = vec4(0.0);
    }
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        vec4 sum[SCORE_TILE];
        for (uint i = 0; i < SCORE_TILE; i++) {
            sum[i] = vec4(0.0);
        }
        uint whole = VECTOR_FEATURES != 0 ? end : block;
        for (uint f = block; f < whole; f += 4) {
            vec4 k0 = keys4[(key[0] + f) / 4];
            vec4 k1 = keys4[(key[1] + f) / 4];
            vec4 k2 = keys4[(key[2] + f) / 4];
            vec4 k3 = keys4[(key[3] + f) / 4];
            for (uint i = 0; i < SCORE_TILE; i++) {
                vec4 q = queries4[(query[i] + f) / 4];
                sum[i] = weft_multiply_add(q.x, vec4(k0.x, k1.x, k2.x, k3.x), sum[i]);
                sum[i] = weft_multiply_add(q.y, vec4(k0.y, k1.y, k2.y, k3.y), sum[i]);
                sum[i] = weft_multiply_add(q.z, vec4(k0.z, k1.z, k2.z, k3.z), sum[i]);
                sum[i] = weft_multiply_add(q.w, vec4(k0.w, k1.w, k2.w, k3.w), sum[i]);
            }
        }
        for (uint f = whole; f < end; f++) {
            vec4 k = vec4(keys[key[0] + f], keys[key[1] + f], keys[key[2] + f], keys[key[3] + f]);
            for (uint i = 0; i < SCORE_TILE; i++) {
                sum[i] = weft_multiply_add(queries[query[i] + f], k, sum[i]);
            }
        }
        for (uint i = 0; i < SCORE_TILE; i++) {
            total[i] = total[i] + sum[i];
        }
    }
    for (uint i = 0; i < SCORE_TILE; i++) {
        for (uint j = 0; j < SCORE_TILE; j++) {
            scores[(row + i) * KEYS + column + j] =
                weighted(total[i][j], head, first_query + row + i, first_key + column + j);
        }
    }
}

vec4 load_value(uint base, uint column)
{
    if (VECTOR_VALUES != 0) {
        return values4[(base + column) / 4];
    }
    uvec4 index = base + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(values[index.x], values[index.y], values[index.z], values[index.w]);
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint lane = gl_LocalInvocationID.x;
    uint row_blocks = (push.rows + FIXED_QUERIES - 1) / FIXED_QUERIES;
    uint first = group / push.column_blocks % row_blocks * FIXED_QUERIES;
    uint head = group / (push.column_blocks * row_blocks); // of all batches
    uint count = min(push.rows - first, FIXED_QUERIES);
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    uint stop = CAUSAL != 0 ? first + count : push.n;

    uint row = lane / FOURS * WEFT_TILE_ROWS;
    uint column = (group % push.column_blocks * FOURS + lane % FOURS) * 4;
    if (lane < FIXED_QUERIES) {
        denominators[lane] = 0.0; // not in a register: an invocation has none left on Intel's GPUs
    }
    vec4 total[WEFT_TILE_ROWS];
    for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        total[i] = vec4(0.0);
    }
    for (uint first_key = 0; first_key < stop; first_key += KEYS) {
        make_scores(first_row, head % push.heads, first, first_key);
        barrier();
        uint end = min(uint(KEYS), stop - first_key);
        if (lane < FIXED_QUERIES) {
            float sum = 0.0;
            for (uint j = 0; j < end; j++) {
                sum = sum + scores[lane * KEYS + j];
            }
            denominators[lane] = denominators[lane] + sum;
        }
        if (column < push.values) {
            vec4 sum[WEFT_TILE_ROWS];
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                sum[i] = vec4(0.0);
            }
            for (uint j = 0; j < end; j++) {
                vec4 v = load_value(token_row(first_row, first_key + j) * push.values, column);
                for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                    // Later values are left out, not multiplied by 0: that would let their NaN through.
                    if (CAUSAL == 0 || first_key + j <= first + row + i) {
                        sum[i] = weft_multiply_add(scores[(row + i) * KEYS + j], v, sum[i]);
                    }
                }
            }
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                total[i] = total[i] + sum[i];
            }
        }
        barrier();
    }
    if (lane < FIXED_QUERIES) {
        denominators[lane] = weft_guarded(denominators[lane], push.epsilon);
    }
    barrier();
    for (uint i = 0; i < WEFT_TILE_ROWS && row + i < count; i++) {
        uint base = token_row(first_row, first + row + i) * push.values;
        for (uint t = column; t < min(column + 4, push.values); t++) {
            result[base + t] = weft_flush(weft_div(total[i][t - column], denominators[row + i]));
        }
    }
}
