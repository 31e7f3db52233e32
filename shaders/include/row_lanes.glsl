// SPDX-License-Identifier: MIT
//
// Rows on processors: a workgroup is one subgroup, which makes as many rows as it has lanes (one if they are long), each as 128
// invocations make it elsewhere (row_keep.glsl, reduce.glsl), in the same order. Over a row, an invocation has SLOTS of them, the columns
// lane + TILE_LANES * slot of every turn of 128; the upper levels of the tree over the 128 are sums of registers. What there is
// once for a row, such as a root, is worked out for all rows at once, an invocation for each. Rows wait in `result` or the cache.
// row.glsl says which other forms have the same names.

#ifndef WEFT_INCLUDE_ROW_LANES_GLSL
#define WEFT_INCLUDE_ROW_LANES_GLSL

#include "largest.glsl"
#include "partial.glsl"

#define WEFT_TURN 128 // columns

layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector

// Columns of rows that are made several at a time; the sums of longer ones have more than one level.
layout(constant_id = 64) const uint FIXED_SHORT_ROW = 16 * WEFT_TURN;

const uint SLOTS = WEFT_TURN / TILE_LANES;
const uint SLOTS_AT_ONCE = 8; // half of the registers of most processors
const uint COLUMNS_AT_ONCE = SLOTS_AT_ONCE * TILE_LANES;

layout(local_size_x_id = 17) in;

shared uint weft_parts[16][16]; // of each row, those of all lanes
shared float weft_of_rows[2][16];

uint weft_lane()
{
    return gl_LocalInvocationIndex;
}

// Rows of a workgroup: here those of all lanes, in row_side.glsl a lane's own, if there is one. `rows`: all.
struct weft_rows
{
    uint first;
    uint count;
};

#define WEFT_EACH_ROW(rows, r, statements)                                                       \
    for (uint r = 0; r < rows.count; r++) {                                                      \
        statements;                                                                              \
    }

weft_rows weft_rows_of(uint group, uint rows, uint columns)
{
    uint at_once = columns <= FIXED_SHORT_ROW ? TILE_LANES : 1; // weft_row_groups
    uint first = group * at_once;
    return weft_rows(first, first < rows ? min(rows - first, at_once) : 0);
}

// Whether a workgroup has nothing to do, and goes before the first barrier.
bool weft_is_idle(weft_rows rows)
{
    return rows.count == 0;
}

// The row that a lane works for where there is one thing to do for each; where it has none, any.
uint weft_own_row(weft_rows rows)
{
    return rows.first + min(gl_LocalInvocationIndex, rows.count - 1);
}

// Whether a lane writes what there is once for its own row.
bool weft_has_own_row(weft_rows rows)
{
    return gl_LocalInvocationIndex < rows.count;
}

// Keeps one of two things that a lane has worked out for its own row, for all lanes; contains a barrier.
void weft_give(uint which, float own)
{
    weft_of_rows[which][gl_LocalInvocationIndex] = own;
    barrier();
}

float weft_given(uint which, uint r)
{
    return weft_of_rows[which][r];
}

// Between the parts of all lanes and what is made of them.
#define weft_meet() barrier()

// The columns that all lanes have alike: loops over them are branches and not masks.
uint weft_whole(uint columns)
{
    return columns / TILE_LANES * TILE_LANES;
}

// The tree of reduce.glsl over a lane's slots.
float weft_slots_tree(float slots[SLOTS])
{
    for (uint count = SLOTS / 2; count > 0; count /= 2) {
        for (uint i = 0; i < count; i++) {
            slots[i] = slots[i] + slots[i + count];
        }
    }
    return slots[0];
}

// A lane's part of the sum over a row: float name(uint row, uint columns, float given) of terms
// float term(uint row, uint column, float given), or of their squares (WEFT_ROW_SQUARES). A sum of at most sixteen terms is
// all that weft_partial makes of them, but for the zeros that it adds: they make 0.0 of -0.0, which is seen only where both
// slots that the tree adds first are -0.0, so that one of the two is enough.
#define WEFT_ROW_TOTAL(name, term, plus)                                                         \
    float name(uint row, uint columns, float given)                                              \
    {                                                                                            \
        float slots[SLOTS];                                                                      \
        uint lane = gl_LocalInvocationIndex;                                                     \
        uint whole = columns / WEFT_TURN * WEFT_TURN;                                            \
        if (columns <= FIXED_SHORT_ROW) {                                                        \
            for (uint g = 0; g < SLOTS; g += SLOTS_AT_ONCE) {                                    \
                float sums[SLOTS_AT_ONCE];                                                       \
                for (uint i = 0; i < SLOTS_AT_ONCE; i++) {                                       \
                    sums[i] = 0.0;                                                               \
                }                                                                                \
                uint first = TILE_LANES * g;                                                     \
                uint turn = 0;                                                                   \
                for (; turn + first + COLUMNS_AT_ONCE <= columns; turn += WEFT_TURN) {           \
                    for (uint i = 0; i < SLOTS_AT_ONCE; i++) {                                   \
                        uint column = turn + first + TILE_LANES * i + lane;                      \
                        sums[i] = plus(sums[i], term(row, column, given));                       \
                    }                                                                            \
                }                                                                                \
                if (turn + first < columns) {                                                    \
                    for (uint i = 0; i < SLOTS_AT_ONCE; i++) {                                   \
                        uint column = turn + first + TILE_LANES * i + lane;                      \
                        if (column < columns) {                                                  \
                            sums[i] = plus(sums[i], term(row, column, given));                   \
                        }                                                                        \
                    }                                                                            \
                }                                                                                \
                for (uint i = 0; i < SLOTS_AT_ONCE; i++) {                                       \
                    slots[g + i] = g + i < SLOTS / 2 ? sums[i] + 0.0 : sums[i];                  \
                }                                                                                \
            }                                                                                    \
            return weft_slots_tree(slots);                                                       \
        }                                                                                        \
        for (uint slot = 0; slot < SLOTS; slot++) {                                              \
            uint column = TILE_LANES * slot + lane;                                              \
            weft_partial own = weft_partial_zero();                                              \
            uint number = 1;                                                                     \
            for (uint turn = 0; turn < whole; turn += WEFT_TURN) {                               \
                own = plus(own, term(row, turn + column, given), number);                        \
                number++;                                                                        \
            }                                                                                    \
            if (whole + column < columns) {                                                      \
                own = plus(own, term(row, whole + column, given), number);                       \
            }                                                                                    \
            slots[slot] = weft_partial_sum(own);                                                 \
        }                                                                                        \
        return weft_slots_tree(slots);                                                           \
    }

#define WEFT_ROW_SUM(name, term) WEFT_ROW_TOTAL(name, term, weft_plus)
#define WEFT_ROW_SQUARES(name, term) WEFT_ROW_TOTAL(name, term, weft_plus_square)

// Where a column of a row is.
uint weft_at(uint row, uint column, uint columns)
{
    return row * columns + column;
}

// A lane's part of the largest number in a row, as a key of weft_order_key: void note(inout weft_largest largest, uint row, uint column)
// notes what a column has. Their order does not matter.
#define WEFT_ROW_LARGEST(name, note)                                                             \
    uint name(uint row, uint columns)                                                            \
    {                                                                                            \
        weft_largest largest = weft_largest_of_none();                                           \
        uint whole = weft_whole(columns);                                                        \
        for (uint c = 0; c < whole; c += TILE_LANES) {                                           \
            note(largest, row, c + gl_LocalInvocationIndex);                                     \
        }                                                                                        \
        if (gl_LocalInvocationIndex < columns - whole) {                                         \
            note(largest, row, whole + gl_LocalInvocationIndex);                                 \
        }                                                                                        \
        return weft_largest_key(largest);                                                        \
    }

// Calls float or void step(row, column, given) for all columns of a row.
#define WEFT_ROW_EACH(name, step)                                                                \
    void name(uint row, uint columns, float given)                                               \
    {                                                                                            \
        uint whole = weft_whole(columns);                                                        \
        for (uint c = 0; c < whole; c += TILE_LANES) {                                           \
            step(row, c + gl_LocalInvocationIndex, given);                                       \
        }                                                                                        \
        if (gl_LocalInvocationIndex < columns - whole) {                                         \
            step(row, whole + gl_LocalInvocationIndex, given);                                   \
        }                                                                                        \
    }

// Puts float change(element, given) in the place of each element of a row.
#define WEFT_ROW_CHANGE(name, elements, change)                                                  \
    void name##_at(uint row, uint column, float given)                                           \
    {                                                                                            \
        uint at = weft_at(row, column, push.columns);                                            \
        elements[at] = change(elements[at], given);                                              \
    }                                                                                            \
    WEFT_ROW_EACH(name, name##_at)

void weft_keep_part(uint r, uint bits)
{
    weft_parts[r][gl_LocalInvocationIndex] = bits;
}

// Behind weft_meet: to each lane the sum of its row, the tree of reduce.glsl over the parts of all lanes.
float weft_sum_of_own_row(weft_rows rows)
{
    float own = 0.0;
    for (uint r = 0; r < rows.count; r++) {
        float lanes[TILE_LANES];
        for (uint i = 0; i < TILE_LANES; i++) {
            lanes[i] = uintBitsToFloat(weft_parts[r][i]);
        }
        for (uint count = TILE_LANES / 2; count > 0; count /= 2) {
            for (uint i = 0; i < count; i++) {
                lanes[i] = lanes[i] + lanes[i + count];
            }
        }
        own = gl_LocalInvocationIndex == r ? lanes[0] : own;
    }
    return own;
}

// Behind weft_meet: to each lane the largest number of its row.
float weft_largest_of_own_row(weft_rows rows)
{
    uint own = 0;
    for (uint r = 0; r < rows.count; r++) {
        uint largest = 0;
        for (uint i = 0; i < TILE_LANES; i++) {
            largest = max(largest, weft_parts[r][i]);
        }
        own = gl_LocalInvocationIndex == r ? largest : own;
    }
    return weft_from_order_key(own);
}

#endif
