#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What scan.comp computes, for processors: lanes along the columns of the states. A workgroup is one subgroup, which has as
// many columns as one of scan.comp, and makes four rows at a time. S lies in shared memory twice: as it is and as it becomes.

#include "fast_weight.glsl"
#include "index.glsl"
#include "lanes_tile.glsl"
#include "linear_attention.glsl"

layout(constant_id = 0) const uint COLUMN_TILES = 1; // features · COLUMN_TILES ≤ WEFT_MAX_FEATURES
layout(constant_id = 1) const uint VECTOR_FEATURES = 0;

const uint COLUMNS = 4 * COLUMN_TILES;

#include "scan.glsl"

// That of row f from f · COLUMNS on, and behind it what lanes past the last column read.
shared float current[2][4 * WEFT_MAX_FEATURES + 2 * TILE_LANES];

// Gᵀ S of four rows, of the column `x` of this workgroup and, if there are two, of the one TILE_LANES further.
weft_lanes_tile taken_by(uint g_base, uint row, uint x, uint now, bool two)
{
    weft_lanes_tile taken = weft_lanes_zero();
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        weft_lanes_tile sum = weft_lanes_zero();
        for (uint f = block; f < end; f++) {
            uint at = f * COLUMNS + x;
            weft_lanes_step(sum, load_g(g_base, f, row), current[now][at],
                            two ? current[now][at + TILE_LANES] : 0.0, two);
        }
        taken = weft_lanes_add(taken, sum);
    }
    return taken;
}

// Stores an element of S, and what it becomes in the chunk.
void move_on(uint at, uint place, uint now, float taken)
{
    float own = current[now][place];
    float written = state[at];
    state[at] = weft_flush(own);
    current[1 - now][place] = own + (written - taken);
}

// `whole`: all lanes have columns, so that nothing needs a mask.
void make_tile(uint part, uint row, uint x, uint column, uint now, bool two, bool whole)
{
    weft_lanes_tile taken = taken_by(part * (push.features * push.features), row, x, now, two);
    for (uint i = 0; i < WEFT_LANES_ROWS && row + i < push.features; i++) {
        uint at = (part * push.features + row + i) * push.values + column + x;
        uint place = (row + i) * COLUMNS + x;
        if (whole) {
            move_on(at, place, now, taken.low[i]);
        } else if (x < COLUMNS && column + x < push.values) {
            move_on(at, place, now, taken.low[i]);
        }
        if (two && whole) {
            move_on(at + TILE_LANES, place + TILE_LANES, now, taken.high[i]);
        } else if (two && column + x + TILE_LANES < push.values) {
            move_on(at + TILE_LANES, place + TILE_LANES, now, taken.high[i]);
        }
    }
}

void make_rows(uint part, uint row, uint column, uint now, bool whole)
{
    uint x = 0;
    for (; x + 2 * TILE_LANES <= COLUMNS; x += 2 * TILE_LANES) {
        make_tile(part, row, x + gl_LocalInvocationIndex, column, now, true, whole);
    }
    if (x < COLUMNS) {
        make_tile(part, row, x + gl_LocalInvocationIndex, column, now, false, whole);
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint head = group / push.column_blocks;
    uint column = group % push.column_blocks * COLUMNS;
    bool whole = COLUMNS % TILE_LANES == 0 && column + COLUMNS <= push.values;
    for (uint i = lane; i < 4 * WEFT_MAX_FEATURES; i += TILE_LANES) {
        current[0][i] = 0.0;
    }
    barrier();
    for (uint chunk = 0; chunk < push.chunks; chunk++) {
        uint part = head * push.chunks + chunk;
        for (uint row = 0; row < push.features; row += WEFT_LANES_ROWS) {
            if (whole) {
                make_rows(part, row, column, chunk % 2, true);
            } else {
                make_rows(part, row, column, chunk % 2, false);
            }
        }
        barrier();
    }
}
