#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What solve.comp computes, for processors: lanes along the columns of W and U. A workgroup is one subgroup, which has a
// chunk, and makes four rows of two registers at a time.

#include "index.glsl"
#include "lanes_tile.glsl"
#include "math.glsl"

#include "solve.glsl"

float weft_key(uint index)
{
    return keys[index];
}

#include "lanes_scores.glsl"

struct Chunk
{
    uint first_row, first, count;
};

float load_source(uint at, bool of_keys)
{
    return of_keys ? keys[at] : values[at];
}

float load_result(uint at, bool of_keys)
{
    return of_keys ? w[at] : u[at];
}

float solve(uint row, uint at, float sum, bool of_keys)
{
    float x = weft_flush(beta[row] * (load_source(at, of_keys) - sum));
    if (of_keys) {
        w[at] = x;
    } else {
        u[at] = x;
    }
    return x;
}

// A token's new elements, with `own` of what was summed up for it; adds to the sums of the tokens behind it.
void solve_row(inout weft_lanes_tile sum, Chunk chunk, uint block, uint i, vec2 own, uint column,
               bool of_keys, bool two)
{
    if (block + i >= chunk.count) {
        return;
    }
    uint row = weft_token_row(chunk.first_row, chunk.first + block + i);
    uint at = row * (of_keys ? push.features : push.values) + column;
    float low = solve(row, at, own.x, of_keys);
    float high = two ? solve(row, at + TILE_LANES, own.y, of_keys) : 0.0;
    weft_lanes_step_from(sum, i + 1, weft_score_rows(block, block + i), low, high, two);
}

// One column of W or U and, if there are two, the one TILE_LANES further. An invocation reads back only elements that it
// wrote itself.
void solve_columns(Chunk chunk, uint column, bool of_keys, bool two)
{
    uint width = of_keys ? push.features : push.values;
    for (uint block = 0; block < chunk.count; block += WEFT_LANES_ROWS) {
        weft_lanes_tile sum = weft_lanes_zero();
        for (uint j = 0; j < block; j++) {
            uint at = weft_token_row(chunk.first_row, chunk.first + j) * width + column;
            weft_lanes_step(sum, weft_score_rows(block, j), load_result(at, of_keys),
                            two ? load_result(at + TILE_LANES, of_keys) : 0.0, two);
        }
        solve_row(sum, chunk, block, 0, vec2(sum.low.x, sum.high.x), column, of_keys, two);
        solve_row(sum, chunk, block, 1, vec2(sum.low.y, sum.high.y), column, of_keys, two);
        solve_row(sum, chunk, block, 2, vec2(sum.low.z, sum.high.z), column, of_keys, two);
        solve_row(sum, chunk, block, 3, vec2(sum.low.w, sum.high.w), column, of_keys, two);
    }
}

void solve_all(Chunk chunk, bool of_keys)
{
    uint lane = gl_LocalInvocationIndex;
    uint width = of_keys ? push.features : push.values;
    uint column = 0;
    for (; column + 2 * TILE_LANES <= width; column += 2 * TILE_LANES) {
        solve_columns(chunk, column + lane, of_keys, true);
    }
    for (; column < width; column += TILE_LANES) {
        if (column + lane < width) {
            solve_columns(chunk, column + lane, of_keys, false);
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
    Chunk chunk;
    chunk.first_row = head / push.heads * push.n * push.heads + head % push.heads;
    chunk.first = group % chunks * WEFT_CHUNK;
    chunk.count = min(push.n - chunk.first, uint(WEFT_CHUNK));
    weft_make_scores(chunk.first_row, chunk.first, chunk.count);
    solve_all(chunk, true);
    solve_all(chunk, false);
}
