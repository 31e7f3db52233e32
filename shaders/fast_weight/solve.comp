#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// The delta rule within a chunk. With A_ij = β_i k_i · k_j below the diagonal, (I + A) W = diag(β) K and
// (I + A) U = diag(β) V, so that the values that a state S at the chunk's start makes the tokens write are
// U - W S. Row by row, in blocks of 8 rows: a workgroup has a chunk, an invocation four columns of W or U.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = 128) in;

#include "solve.glsl"

float weft_key(uint index)
{
    return weft_query(index);
}

vec4 weft_key_four(uint index)
{
    return weft_query_four(index);
}

#include "chunk_scores.glsl"

// Four columns of K and W, or of V and U; past the last one of them, that one again.
struct Columns
{
    bool of_keys;
    uint width; // of a row
    uvec4 index;
};

vec4 load_source(uint row, Columns c)
{
    uvec4 i = row * c.width + c.index;
    if (c.of_keys) {
        return vec4(keys[i.x], keys[i.y], keys[i.z], keys[i.w]);
    }
    return vec4(values[i.x], values[i.y], values[i.z], values[i.w]);
}

vec4 load_result(uint row, Columns c)
{
    uvec4 i = row * c.width + c.index;
    if (c.of_keys) {
        return vec4(w[i.x], w[i.y], w[i.z], w[i.w]);
    }
    return vec4(u[i.x], u[i.y], u[i.z], u[i.w]);
}

void store_result(uint row, Columns c, vec4 x)
{
    uvec4 i = row * c.width + c.index;
    for (uint j = 0; j < 4; j++) {
        if (c.of_keys) {
            w[i[j]] = x[j];
        } else {
            u[i[j]] = x[j];
        }
    }
}

// An invocation reads back only elements that it wrote itself.
void solve_columns(uint first_row, uint first, uint count, Columns c)
{
    for (uint block = 0; block < count; block += WEFT_TILE_ROWS) {
        vec4 sum[WEFT_TILE_ROWS];
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            sum[i] = vec4(0.0);
        }
        // Rows past the end have no scores; what they sum up is not used.
        uint last = count - 1;
        for (uint j = 0; j < block; j++) {
            vec4 x = load_result(weft_token_row(first_row, first + j), c);
            for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
                float score = weft_scores[weft_score_row(min(block + i, last)) + j];
                sum[i] = weft_multiply_add(score, x, sum[i]);
            }
        }
        for (uint i = 0; i < WEFT_TILE_ROWS; i++) {
            if (block + i < count) {
                uint row = weft_token_row(first_row, first + block + i);
                vec4 x = beta[row] * (load_source(row, c) - sum[i]);
                x = vec4(weft_flush(x.x), weft_flush(x.y), weft_flush(x.z), weft_flush(x.w));
                store_result(row, c, x);
                for (uint r = i + 1; r < WEFT_TILE_ROWS; r++) {
                    uint later = min(block + r, last);
                    float score = weft_scores[weft_score_row(later) + min(block + i, later)];
                    sum[r] = weft_multiply_add(score, x, sum[r]);
                }
            }
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
    uint head = group / chunks; // of all batches
    uint first = group % chunks * WEFT_CHUNK;
    uint count = min(push.n - first, uint(WEFT_CHUNK));
    uint first_row = head / push.heads * push.n * push.heads + head % push.heads;
    weft_make_scores(first_row, first, count);
    barrier();
    uint key_tiles = (push.features + 3) / 4;
    uint tiles = key_tiles + (push.values + 3) / 4;
    for (uint tile = gl_LocalInvocationID.x; tile < tiles; tile += 128) {
        bool of_keys = tile < key_tiles;
        uint width = of_keys ? push.features : push.values;
        uint column = (of_keys ? tile : tile - key_tiles) * 4;
        uvec4 index = min(column + uvec4(0, 1, 2, 3), uvec4(width - 1));
        solve_columns(first_row, first, count, Columns(of_keys, width, index));
    }
}
