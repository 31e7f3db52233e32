#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax attention in one pass, for processors: a workgroup is one subgroup, which takes a block of queries at a time, and whose
// scores stay in the nearer caches. Keys and values come in panels (matmul/pack.comp). Sums are in the order of matmul.glsl and of
// softmax.comp, so this has the bits of a product, a softmax and a product.

#define WEFT_LANES
#include "row.glsl"
#include "math.glsl"
#include "multiply_add.glsl"

layout(constant_id = 0) const uint HAS_LENGTHS = 0;
layout(constant_id = 1) const uint VALUE_VECTORS = 4;  // of a panel of values: 4, or 2 in half of the columns
layout(constant_id = 16) const uint TILE_ROWS = 2;     // of four vectors: sums in registers
layout(constant_id = 65) const uint FIXED_COLUMNS = 64; // of a panel of keys
layout(constant_id = 66) const uint FIXED_CHUNK = 64;   // as WEFT_CHUNK of matmul.glsl
layout(constant_id = 67) const uint FIXED_MOST_ROWS = 12; // in registers

layout(constant_id = 68) const uint FIXED_CACHED = 8192; // scores that stay in the nearest cache

#define VECTORS   4
#define MOST_SUMS 24
#define MOST_ROWS 12 // FIXED_MOST_ROWS, for the sizes of arrays

const uint VALUE_ROWS = TILE_ROWS * VECTORS / VALUE_VECTORS;

layout(std430, binding = 0) readonly buffer Q { float q[]; };
layout(std430, binding = 1) readonly buffer Keys { float keys[]; };
layout(std430, binding = 2) readonly buffer Values { float values[]; };
layout(std430, binding = 3) readonly buffer Lengths { int lengths[]; };
layout(std430, binding = 4) coherent buffer Scratch { float scratch[]; }; // of each workgroup: rows of scores, totals of a panel of values, queries
layout(std430, binding = 5) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint groups;
    uint blocks;       // of queries, of all heads of all sequences
    uint rows;         // of a block: a multiple of FIXED_MOST_ROWS
    uint queries;      // of a sequence
    uint columns;      // keys of a sequence
    uint heads;
    uint width;        // channels of a head
    uint score_stride; // columns, in whole panels
    uint group_stride; // elements of scratch of a workgroup
    float scale;
} push;

// Where an element is whose chunk does not wrap around: see matmul/panels.comp.
const uint LAST_CHUNK = 0x40000000u - FIXED_CHUNK;

// The sums of ROWS rows of `elements`, which begin at at[], times a part of a panel, for `depth` steps.
#define WEFT_SUMS(name, elements, panels, ROWS, PER_ROW)                                      \
    void name(out float sum[MOST_SUMS], uint at[MOST_ROWS], uint from, uint stride, uint depth) \
    {                                                                                         \
        for (uint i = 0; i < MOST_SUMS; i++) {                                                \
            sum[i] = 0.0;                                                                     \
        }                                                                                     \
        uint first[MOST_ROWS];                                                                \
        for (uint i = 0; i < MOST_ROWS; i++) {                                                \
            first[i] = min(at[i], LAST_CHUNK);                                                \
        }                                                                                     \
        for (uint t = 0; t < depth; t++) {                                                    \
            float column[VECTORS];                                                            \
            for (uint v = 0; v < PER_ROW; v++) {                                              \
                column[v] = panels[from + t * stride + v * TILE_LANES];                       \
            }                                                                                 \
            for (uint i = 0; i < ROWS; i++) {                                                 \
                float x = elements[first[i] + t];                                             \
                for (uint v = 0; v < PER_ROW; v++) {                                          \
                    sum[i * PER_ROW + v] = weft_multiply_add(x, column[v], sum[i * PER_ROW + v]); \
                }                                                                             \
            }                                                                                 \
        }                                                                                     \
    }

WEFT_SUMS(sums_of_keys, scratch, keys, TILE_ROWS, VECTORS)
WEFT_SUMS(sums_of_values, scratch, values, VALUE_ROWS, VALUE_VECTORS)

// A block of queries of a head.
struct Block
{
    uint head;     // of all sequences
    uint sequence;
    uint first;    // query
    uint rows;
    uint scores;   // in scratch
    uint totals;
    uint queries;
};

Block block_of(uint number)
{
    uint of_head = (push.queries - 1) / push.rows + 1;
    Block block;
    block.head = number / of_head;
    block.sequence = block.head / push.heads;
    block.first = number % of_head * push.rows;
    block.rows = min(push.rows, push.queries - block.first);
    block.scores = gl_WorkGroupID.x * push.group_stride;
    block.totals = block.scores + push.rows * push.score_stride;
    block.queries = block.totals + push.rows * FIXED_COLUMNS;
    return block;
}

// Of a query's row in q and in the result: the first channel of the block's head.
uint query_at(Block block, uint row)
{
    return ((block.sequence * push.queries + block.first + row) * push.heads + block.head % push.heads) * push.width;
}

// Next to each other, where their addresses take no registers; those behind the last one are never stored.
void copy_queries(Block block)
{
    for (uint row = 0; row < block.rows; row++) {
        uint from = query_at(block, row);
        uint to = block.queries + row * push.width;
        uint whole = weft_whole(push.width);
        for (uint c = 0; c < whole; c += TILE_LANES) {
            scratch[to + c + gl_LocalInvocationIndex] = q[from + c + gl_LocalInvocationIndex];
        }
        if (gl_LocalInvocationIndex < push.width - whole) {
            scratch[to + whole + gl_LocalInvocationIndex] = q[from + whole + gl_LocalInvocationIndex];
        }
    }
}

void make_scores(Block block)
{
    uint panels = push.score_stride / FIXED_COLUMNS;
    uint visible = push.columns;
    if (HAS_LENGTHS != 0) {
        visible = uint(max(lengths[block.sequence], 0));
    }
    for (uint panel = 0; panel < panels; panel++) {
        for (uint chunk = 0; chunk < push.width; chunk += FIXED_CHUNK) {
            uint depth = min(FIXED_CHUNK, push.width - chunk);
            bool last = chunk + depth == push.width;
            uint base = ((block.head * panels + panel) * push.width + chunk) * FIXED_COLUMNS + gl_LocalInvocationIndex;
            for (uint row = 0; row < block.rows; row += TILE_ROWS) {
                uint at[MOST_ROWS];
                for (uint i = 0; i < MOST_ROWS; i++) {
                    at[i] = block.queries + (row + i) * push.width + chunk;
                }
                for (uint part = 0; part < FIXED_COLUMNS; part += VECTORS * TILE_LANES) {
                    float sum[MOST_SUMS];
                    sums_of_keys(sum, at, base + part, FIXED_COLUMNS, depth);
                    for (uint i = 0; i < TILE_ROWS; i++) {
                        for (uint v = 0; v < VECTORS; v++) {
                            uint column = panel * FIXED_COLUMNS + part + v * TILE_LANES + gl_LocalInvocationIndex;
                            uint score = block.scores + (row + i) * push.score_stride + column;
                            float value = (chunk == 0 ? 0.0 : scratch[score]) + sum[i * VECTORS + v];
                            if (last) {
                                value = weft_flush(push.scale * value);
                                if (HAS_LENGTHS != 0) {
                                    value = column < visible ? value : uintBitsToFloat(0xff800000u);
                                }
                            }
                            scratch[score] = value;
                        }
                    }
                }
            }
        }
    }
}

// ---- softmax ----

uint scores_at; // of the rows at hand

uint score_at(uint row, uint column)
{
    return scores_at + row * push.score_stride + column;
}

void note_at(inout weft_largest largest, uint row, uint column)
{
    weft_note(largest, scratch[score_at(row, column)]);
}

WEFT_ROW_LARGEST(largest_key, note_at)

float make_exponential(uint row, uint column, float largest)
{
    float value = weft_exp(scratch[score_at(row, column)] - largest);
    scratch[score_at(row, column)] = value;
    return value;
}

WEFT_ROW_SUM(exponentials, make_exponential)

void scale_at(uint row, uint column, float scale)
{
    scratch[score_at(row, column)] = weft_flush(scratch[score_at(row, column)] * scale);
}

WEFT_ROW_EACH(scale_row, scale_at)

// As many rows at once as the nearest cache holds.
void make_weights(Block block)
{
    uint at_once = clamp(FIXED_CACHED / push.columns, 1u, TILE_LANES);
    for (uint first = 0; first < block.rows; first += at_once) {
        weft_rows rows = weft_rows(0, min(block.rows - first, at_once));
        scores_at = block.scores + first * push.score_stride;
        WEFT_EACH_ROW(rows, r, weft_keep_part(r, largest_key(r, push.columns)))
        weft_meet();
        weft_give(0, weft_largest_of_own_row(rows));
        WEFT_EACH_ROW(rows, r, weft_keep_part(r, floatBitsToUint(exponentials(r, push.columns, weft_given(0, r)))))
        weft_meet();
        weft_give(0, weft_rcp(weft_sum_of_own_row(rows)));
        WEFT_EACH_ROW(rows, r, scale_row(r, push.columns, weft_given(0, r)))
        barrier();
    }
}

// ---- values ----

void make_result(Block block)
{
    uint panel_columns = FIXED_COLUMNS / VECTORS * VALUE_VECTORS;
    uint panels = (push.width - 1) / panel_columns + 1;
    for (uint panel = 0; panel < panels; panel++) {
        for (uint chunk = 0; chunk < push.columns; chunk += FIXED_CHUNK) {
            uint depth = min(FIXED_CHUNK, push.columns - chunk);
            bool last = chunk + depth == push.columns;
            uint base = ((block.head * panels + panel) * push.columns + chunk) * panel_columns + gl_LocalInvocationIndex;
            for (uint row = 0; row < block.rows; row += VALUE_ROWS) {
                uint at[MOST_ROWS];
                for (uint i = 0; i < MOST_ROWS; i++) {
                    at[i] = block.scores + (row + i) * push.score_stride + chunk;
                }
                for (uint part = 0; part < panel_columns; part += VALUE_VECTORS * TILE_LANES) {
                    float sum[MOST_SUMS];
                    sums_of_values(sum, at, base + part, panel_columns, depth);
                    for (uint i = 0; i < VALUE_ROWS; i++) {
                        for (uint v = 0; v < VALUE_VECTORS; v++) {
                            uint column = part + v * TILE_LANES + gl_LocalInvocationIndex;
                            uint total = block.totals + (row + i) * panel_columns + column;
                            scratch[total] = (chunk == 0 ? 0.0 : scratch[total]) + sum[i * VALUE_VECTORS + v];
                        }
                    }
                }
            }
        }
        for (uint row = 0; row < block.rows; row++) {
            uint at = query_at(block, row) + panel * panel_columns;
            uint columns = min(panel_columns, push.width - panel * panel_columns);
            for (uint column = gl_LocalInvocationIndex; column < columns; column += TILE_LANES) {
                result[at + column] = weft_flush(scratch[block.totals + row * panel_columns + column]);
            }
        }
    }
}

// Between what lanes write and others read.
void meet()
{
    memoryBarrierBuffer();
    barrier();
}

void main()
{
    for (uint number = gl_WorkGroupID.x; number < push.blocks; number += push.groups) {
        Block block = block_of(number);
        copy_queries(block);
        meet();
        make_scores(block);
        meet();
        make_weights(block);
        meet();
        make_result(block);
        meet();
    }
}
