// SPDX-License-Identifier: MIT
//
// Matrix product through tiles in shared memory: for GPUs. A workgroup of 128 makes TILE_ROWS×TILE_COLUMNS elements from
// tiles of TILE_DEPTH along k; an invocation makes ROWS consecutive rows of FOURS times 4 columns, 64 apart.
//
// What an invocation loads of a tile it loads at once and without a question, so that one wait is for all of it. Rows and
// columns outside the matrices are the last ones again, and what they give is not stored. Only the last tile asks where
// k ends, and has zeros behind, -0 in a and +0 in b: their product is -0, which changes no sum. (+0 would make +0 of a sum that
// underflowed to -0.)
// Tiles of a chunk are a loop of their own, so that what happens once in a chunk costs the innermost loop nothing.
//
// How a's tile lies in shared memory, and how it is read there, is the including file's, which defines WEFT_FOURS_OF_TILE_A before.

#ifndef WEFT_INCLUDE_MATMUL_TILES_GLSL
#define WEFT_INCLUDE_MATMUL_TILES_GLSL

#include "matmul.glsl"
#include "plain_products.glsl"

layout(constant_id = 16) const uint TILE_ROWS = 64;    // a multiple of 32
layout(constant_id = 17) const uint TILE_COLUMNS = 64; // a multiple of 64
layout(constant_id = 18) const uint TILE_DEPTH = 16;   // a multiple of 4 that divides WEFT_CHUNK; with each of the others it
                                                       // makes a multiple of 512, four for each invocation
layout(constant_id = 19) const uint TILE_SUMS = 2;     // of an element in registers: 2 are a chunk's and the total; 1 is a sum
                                                       // of all of k, in half the registers and with bits of its own

const uint ROWS = TILE_ROWS / 8;
const uint FOURS = TILE_COLUMNS / 64;
const uint INVOCATIONS = 128;

// What an invocation loads of a tile, in fours: of a along k, of b along the columns.
const uint FOURS_OF_A = TILE_ROWS * TILE_DEPTH / 4 / INVOCATIONS;
const uint FOURS_OF_B = TILE_DEPTH * TILE_COLUMNS / 4 / INVOCATIONS;

// From one of them to the next: rows of a, steps of k in b.
const uint STEP_OF_A = INVOCATIONS * 4 / TILE_DEPTH;
const uint STEP_OF_B = INVOCATIONS * 4 / TILE_COLUMNS;

layout(local_size_x = 16, local_size_y = 8) in;

shared vec4 tile_a[WEFT_FOURS_OF_TILE_A];
shared vec4 tile_b[TILE_DEPTH * TILE_COLUMNS / 4];

// Which of the 16 fours of columns, and which of the 8 times ROWS rows an invocation makes.
uint column_lane();
uint row_lane();

// Where the fours of a that an invocation loads lie in the tile, which is found once; and keeping the i-th.
void find_place_of_a(uint row, uint step);
void store_a(uint i, vec4 x);

vec4 sum[ROWS * FOURS];

// What multiply_tile reads. That of a comes first: so glslang lays out the tiles, and Adreno's loads of a, whose places are further apart, have
// offsets that reach them.
vec4 read_a(uint at)
{
    return tile_a[at];
}

vec4 read_b(uint step, uint four)
{
    return tile_b[step * (TILE_COLUMNS / 4) + column_lane() + 16 * four];
}

// Of what an invocation loads, the first: its step of k in a tile, and where it lies there.
uint step_of_a, step_of_b;
uint place_of_b;

// Where it lies in memory, of the next tile; in fours where elements are loaded so. The three columns after b's first are
// as far away as they are, and not further than the last column.
uint at_a[FOURS_OF_A];
uint at_b, room_of_b;

uint memory_of_a(uint index)
{
    return VECTOR_A != 0 ? index / 4 : index;
}

uint memory_of_b(uint index)
{
    return VECTOR_B != 0 ? index / 4 : index;
}

void find_places()
{
    uint lane = gl_LocalInvocationIndex;
    uint row_of_a = lane / (TILE_DEPTH / 4);
    uint column_of_b = lane % (TILE_COLUMNS / 4);
    step_of_a = 4 * (lane % (TILE_DEPTH / 4));
    step_of_b = lane / (TILE_COLUMNS / 4);
    find_place_of_a(row_of_a, step_of_a);
    place_of_b = lane; // steps are as long as there are fours in a row
    uint base = weft_batch_offset(push.a_outer, push.a_inner) + step_of_a * push.a_column;
    for (uint i = 0; i < FOURS_OF_A; i++) {
        uint row = gl_WorkGroupID.y * TILE_ROWS + row_of_a + i * STEP_OF_A;
        at_a[i] = memory_of_a(base + min(row, push.m - 1) * push.a_row);
    }
    uint column = min(gl_WorkGroupID.x * TILE_COLUMNS + 4 * column_of_b, push.n - (VECTOR_B != 0 ? 4 : 1));
    at_b = memory_of_b(weft_batch_offset(push.b_outer, push.b_inner) + step_of_b * push.b_row + column * push.b_column);
    room_of_b = (push.n - 1 - column) * push.b_column;
}

void advance()
{
    for (uint i = 0; i < FOURS_OF_A; i++) {
        at_a[i] += VECTOR_A != 0 ? TILE_DEPTH / 4 : TILE_DEPTH * push.a_column;
    }
    at_b += memory_of_b(TILE_DEPTH * push.b_row);
}

vec4 load_a(uint at)
{
    if (VECTOR_A != 0) {
        return weft_a_four_at(at);
    }
    return vec4(weft_a(at), weft_a(at + push.a_column), weft_a(at + 2 * push.a_column), weft_a(at + 3 * push.a_column));
}

vec4 load_b(uint i)
{
    uint at = at_b + memory_of_b(i * STEP_OF_B * push.b_row);
    if (VECTOR_B != 0) {
        return weft_b_four_at(at);
    }
    return vec4(weft_b(at), weft_b(at + min(push.b_column, room_of_b)), weft_b(at + min(2 * push.b_column, room_of_b)),
                weft_b(at + min(3 * push.b_column, room_of_b)));
}

void store_b(uint i, vec4 y)
{
    tile_b[place_of_b + i * INVOCATIONS] = y;
}

// A tile that lies within k; whether one of its elements makes products that may be small.
bool load_whole()
{
    vec4 x[FOURS_OF_A];
    vec4 y[FOURS_OF_B];
    [[unroll]] for (uint i = 0; i < FOURS_OF_A; i++) {
        x[i] = load_a(at_a[i]);
    }
    [[unroll]] for (uint i = 0; i < FOURS_OF_B; i++) {
        y[i] = load_b(i);
    }
    [[unroll]] for (uint i = 0; i < FOURS_OF_A; i++) {
        store_a(i, x[i]);
    }
    [[unroll]] for (uint i = 0; i < FOURS_OF_B; i++) {
        store_b(i, y[i]);
    }
    bool small = false;
    if (WEFT_ASKS_PRODUCTS) {
        [[unroll]] for (uint i = 0; i < FOURS_OF_A; i++) {
            small = small || weft_has_small(x[i]);
        }
        [[unroll]] for (uint i = 0; i < FOURS_OF_B; i++) {
            small = small || weft_has_small(y[i]);
        }
    }
    return small;
}

// The last tile, of which `steps` lie within k; the others are zeros.
void load_end(uint steps)
{
    for (uint i = 0; i < FOURS_OF_A; i++) {
        vec4 x = vec4(-0.0);
        if (VECTOR_A != 0) {
            if (step_of_a < steps) {
                x = weft_a_four_at(at_a[i]);
            }
        } else {
            for (uint j = 0; j < 4; j++) {
                if (step_of_a + j < steps) {
                    x[j] = weft_a(at_a[i] + j * push.a_column);
                }
            }
        }
        store_a(i, x);
    }
    for (uint i = 0; i < FOURS_OF_B; i++) {
        store_b(i, step_of_b + i * STEP_OF_B < steps ? load_b(i) : vec4(0.0));
    }
}

#endif
