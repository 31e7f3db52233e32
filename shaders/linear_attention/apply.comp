#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What a chunk of queries reads: q_i · state, and when CAUSAL also Σ_{j ≤ i} (q_i · k_j) v_j over its own
// chunk. With NORMALIZE both are divided by the same with ones for values, the denominator.
// A workgroup makes the rows of a chunk and COLUMNS columns of a head's values. An invocation has WEFT_TILE_ROWS of
// them, which the including file may define: there are so many invocations that all rows are made.
//
// Forms: workgroups that every device has; and twice as many invocations with half the sums, for GPUs that have few registers.
// form apply
// form apply_wide WEFT_TILE_ROWS=4

#include "index.glsl"
#include "linear_attention.glsl"

#define COLUMNS 64
#define LANES   (COLUMNS / 4) // of a row: an invocation has four columns

layout(local_size_x = WEFT_CHUNK / WEFT_TILE_ROWS * LANES) in;

#include "apply.glsl"

#include "chunk_scores.glsl"
#include "guard.glsl"

shared float denominators[WEFT_CHUNK];

vec4 load_value(uint base, uint column)
{
    if (VECTOR_VALUES != 0) {
        return values4[(base + column) / 4];
    }
    uvec4 index = base + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(values[index.x], values[index.y], values[index.z], values[index.w]);
}

vec4 load_state(uint base, uint feature, uint column)
{
    uint row = base + feature * push.values;
    if (VECTOR_VALUES != 0 && VECTOR_FEATURES != 0) {
        return state4[(row + column) / 4];
    }
    uvec4 index = row + min(column + uvec4(0, 1, 2, 3), uvec4(push.values - 1));
    return vec4(state[index.x], state[index.y], state[index.z], state[index.w]);
}

void make_denominators(uint first_row, uint first, uint count, uint ones_base, bool has_state)
{
    uint row = gl_LocalInvocationID.x;
    if (row >= count) {
        return;
    }
    float total = 0.0;
    uint query = weft_token_row(first_row, first + row) * push.features;
    for (uint block = 0; has_state && block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        float sum = 0.0;
        for (uint f = block; f < end; f++) {
            sum = weft_multiply_add(queries[query + f], state[ones_base + f], sum);
        }
        total = total + sum;
    }
    if (CAUSAL != 0) {
        float sum = 0.0;
        for (uint j = 0; j <= row; j++) {
            sum = sum + weft_scores[weft_score_row(row) + j];
        }
        total = total + sum;
    }
    denominators[row] = weft_guarded(total, push.epsilon);
}

void store(uint first_row, uint first, uint row, uint column, vec4 sum)
{
    uint base = weft_token_row(first_row, first + row) * push.values;
    uint end = min(column + 4, push.values);
    for (uint t = column; t < end; t++) {
        float value = sum[t - column];
        if (NORMALIZE != 0) {
            value = weft_div(value, denominators[row]);
        }
        value = push.weight * value;
        if (ACCUMULATE != 0) {
            value = result[base + t] + value;
        }
        result[base + t] = weft_flush(value);
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
    bool has_state = HAS_STATE != 0 && (CAUSAL == 0 || chunk > 0);
    uint state_base = head * push.state_chunks + (CAUSAL != 0 ? chunk : 0);
    state_base = state_base * (push.features * (push.values + NORMALIZE));

    if (CAUSAL != 0) {
        weft_make_scores(first_row, first, count);
        barrier();
    }
    if (NORMALIZE != 0) {
        make_denominators(first_row, first, count, state_base + push.features * push.values,
                          has_state);
        barrier();
    }

    uint row = gl_LocalInvocationID.x / LANES * WEFT_TILE_ROWS;
    uint column = (group % push.column_blocks * LANES + gl_LocalInvocationID.x % LANES) * 4;
    if (row >= count || column >= push.values) {
        return;
    }
    uint query[WEFT_TILE_ROWS];
    vec4 total[WEFT_TILE_ROWS];
    vec4 sum[WEFT_TILE_ROWS];
    for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
        query[i] = weft_token_row(first_row, first + row + i) * push.features;
        total[i] = vec4(0.0);
        sum[i] = vec4(0.0);
    }
    for (uint block = 0; has_state && block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        uint whole = block + (end - block) / 4 * 4;
        for (uint f = block; f < whole; f += 4) {
            vec4 s0 = load_state(state_base, f, column);
            vec4 s1 = load_state(state_base, f + 1, column);
            vec4 s2 = load_state(state_base, f + 2, column);
            vec4 s3 = load_state(state_base, f + 3, column);
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                vec4 q = weft_query_four(query[i] + f);
                sum[i] = weft_multiply_add(q.x, s0, sum[i]);
                sum[i] = weft_multiply_add(q.y, s1, sum[i]);
                sum[i] = weft_multiply_add(q.z, s2, sum[i]);
                sum[i] = weft_multiply_add(q.w, s3, sum[i]);
            }
        }
        for (uint f = whole; f < end; f++) {
            vec4 s = load_state(state_base, f, column);
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                sum[i] = weft_multiply_add(queries[query[i] + f], s, sum[i]);
            }
        }
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            total[i] = total[i] + sum[i];
            sum[i] = vec4(0.0);
        }
    }
    if (CAUSAL != 0) {
        uint score[WEFT_TILE_ROWS]; // where the rows' scores start; past the end, the last row's
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            score[i] = weft_score_row(min(row + i, count - 1));
        }
        for (uint j = 0; j < row; j++) {
            vec4 v = load_value(weft_token_row(first_row, first + j) * push.values, column);
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                sum[i] = weft_multiply_add(weft_scores[score[i] + j], v, sum[i]);
            }
        }
        // Later tokens' values are left out, not multiplied by 0: that would let their NaN through.
        uint end = min(row + WEFT_TILE_ROWS, count);
        for (uint j = row; j < end; j++) {
            vec4 v = load_value(weft_token_row(first_row, first + j) * push.values, column);
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                if (j <= row + i) {
                    sum[i] = weft_multiply_add(weft_scores[score[i] + j], v, sum[i]);
                }
            }
        }
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            total[i] = total[i] + sum[i];
        }
    }
    for (uint i = 0; i < WEFT_TILE_ROWS && row + i < count; i++) {
        store(first_row, first, row + i, column, total[i]);
    }
}
