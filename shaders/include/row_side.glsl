// SPDX-License-Identifier: MIT
//
// Short rows on GPUs: what row_lanes.glsl has, for a workgroup of 128 that makes eight rows side by side, each by 16 lanes. What a
// workgroup per row pays once for a row, the barriers and the roots, is paid once for eight. The order of a sum is the same: a
// lane has eight of the 128 invocations, the columns lane + 16 * slot of every turn; the upper three levels of the tree are sums
// of registers, the others go through shared memory. Nothing is assumed of subgroups.

#ifndef WEFT_INCLUDE_ROW_SIDE_GLSL
#define WEFT_INCLUDE_ROW_SIDE_GLSL

#extension GL_EXT_control_flow_attributes : require

#include "largest.glsl"
#include "partial.glsl"

#define TILE_LANES 16
#define WEFT_SIDE_ROWS 8
#define WEFT_SLOTS 8
#define WEFT_TURN 128 // columns

layout(local_size_x = 128) in;

// Of each row, those of its lanes, in fours. The fifth keeps rows that are read at once in different banks.
shared uvec4 weft_parts[WEFT_SIDE_ROWS][5];
float weft_of_own_row[2];

uint weft_lane()
{
    return gl_LocalInvocationIndex % TILE_LANES;
}

uint weft_side()
{
    return gl_LocalInvocationIndex / TILE_LANES;
}

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
    uint own = group * WEFT_SIDE_ROWS + weft_side();
    return weft_rows(own, own < rows ? 1 : 0);
}

bool weft_is_idle(weft_rows rows)
{
    return false; // others may have a row
}

uint weft_own_row(weft_rows rows)
{
    return rows.count != 0 ? rows.first : 0;
}

// Whether a lane writes what there is once for its own row.
bool weft_has_own_row(weft_rows rows)
{
    return rows.count != 0 && weft_lane() == 0;
}

void weft_give(uint which, float own)
{
    weft_of_own_row[which] = own;
    barrier(); // between what was read of weft_parts and what comes next
}

float weft_given(uint which, uint r)
{
    return weft_of_own_row[which];
}

#define weft_meet() barrier()

// Where the first column of a lane's turn is, and how far from it the one at hand.
uint weft_turn_at;
uint weft_step;

// A turn's columns are constant steps from one: compilers put these into the instructions that load and store where they see that the
// sums do not wrap around, in bytes. A whole turn with an element behind 4 GiB is in no buffer.
uint weft_whole_turn(uint at)
{
    return min(at, 0x3fffffffu - TILE_LANES * (WEFT_SLOTS - 1));
}

uint weft_at(uint row, uint column, uint columns)
{
    return weft_turn_at + weft_step;
}

float weft_slots_tree(float slots[WEFT_SLOTS])
{
    return ((slots[0] + slots[4]) + (slots[2] + slots[6])) +
           ((slots[1] + slots[5]) + (slots[3] + slots[7]));
}

// WEFT_SLOTS parts at once, each as weft_partial has it.
#define WEFT_ROW_TOTAL(name, term, plus)                                                         \
    float name(uint row, uint columns, float given)                                              \
    {                                                                                            \
        float ones[WEFT_SLOTS] = float[](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);                \
        float sixteens[WEFT_SLOTS] = ones;                                                       \
        float blocks[WEFT_SLOTS] = ones;                                                         \
        float large[WEFT_SLOTS] = ones;                                                          \
        uint lane = weft_lane();                                                                 \
        uint whole = columns / WEFT_TURN * WEFT_TURN;                                            \
        uint number = 0;                                                                         \
        for (uint turn = 0; turn < whole; turn += WEFT_TURN) {                                   \
            weft_turn_at = weft_whole_turn(row * columns + turn + lane);                         \
            [[unroll]] for (uint i = 0; i < WEFT_SLOTS; i++)                                     \
            {                                                                                    \
                weft_step = TILE_LANES * i;                                                      \
                ones[i] = plus(ones[i], term(row, turn + TILE_LANES * i + lane, given));         \
            }                                                                                    \
            number++;                                                                            \
            if ((number & 15u) == 0u) {                                                          \
                weft_side_fold(ones, sixteens, blocks, large, number);                           \
            }                                                                                    \
        }                                                                                        \
        weft_turn_at = row * columns + whole + lane;                                             \
        [[unroll]] for (uint i = 0; i < WEFT_SLOTS; i++)                                         \
        {                                                                                        \
            uint column = whole + TILE_LANES * i + lane;                                         \
            weft_step = TILE_LANES * i;                                                          \
            if (column < columns) {                                                              \
                ones[i] = plus(ones[i], term(row, column, given));                               \
            }                                                                                    \
        }                                                                                        \
        if (((number + 1u) & 15u) == 0u) {                                                       \
            weft_side_fold(ones, sixteens, blocks, large, number + 1u);                          \
        }                                                                                        \
        [[unroll]] for (uint i = 0; i < WEFT_SLOTS; i++)                                         \
        {                                                                                        \
            ones[i] = ((ones[i] + sixteens[i]) + blocks[i]) + large[i];                          \
        }                                                                                        \
        return weft_slots_tree(ones);                                                            \
    }

#define WEFT_ROW_SUM(name, term) WEFT_ROW_TOTAL(name, term, weft_plus)
#define WEFT_ROW_SQUARES(name, term) WEFT_ROW_TOTAL(name, term, weft_plus_square)

// Behind the number-th term of each slot, a multiple of 16: weft_partial_add.
void weft_side_fold(inout float ones[WEFT_SLOTS], inout float sixteens[WEFT_SLOTS],
                    inout float blocks[WEFT_SLOTS], inout float large[WEFT_SLOTS], uint number)
{
    [[unroll]] for (uint i = 0; i < WEFT_SLOTS; i++)
    {
        sixteens[i] = sixteens[i] + ones[i];
        ones[i] = 0.0;
        if ((number & 255u) == 0u) {
            blocks[i] = blocks[i] + sixteens[i];
            sixteens[i] = 0.0;
        }
        if ((number & 4095u) == 0u) {
            large[i] = large[i] + blocks[i];
            blocks[i] = 0.0;
        }
    }
}

// Whole turns are gone through eight columns at once, whose addresses are steps from one; but not where what there is to do for a
// column is long, so that once is enough of it.
#ifndef WEFT_LONG_STEPS
#define WEFT_LONG_STEPS false
#endif
#define WEFT_ROW_LARGEST(name, note)                                                             \
    uint name(uint row, uint columns)                                                            \
    {                                                                                            \
        weft_largest largest = weft_largest_of_none();                                           \
        uint lane = weft_lane();                                                                 \
        uint whole = WEFT_LONG_STEPS ? 0 : columns / WEFT_TURN * WEFT_TURN;                      \
        for (uint turn = 0; turn < whole; turn += WEFT_TURN) {                                   \
            weft_turn_at = weft_whole_turn(row * columns + turn + lane);                         \
            [[unroll]] for (uint i = 0; i < WEFT_SLOTS; i++)                                     \
            {                                                                                    \
                weft_step = TILE_LANES * i;                                                      \
                note(largest, row, turn + TILE_LANES * i + lane);                                \
            }                                                                                    \
        }                                                                                        \
        weft_turn_at = row * columns;                                                            \
        for (uint c = whole + lane; c < columns; c += TILE_LANES) {                              \
            weft_step = c;                                                                       \
            note(largest, row, c);                                                               \
        }                                                                                        \
        return weft_largest_key(largest);                                                        \
    }

#define WEFT_ROW_EACH(name, step)                                                                \
    void name(uint row, uint columns, float given)                                               \
    {                                                                                            \
        uint lane = weft_lane();                                                                 \
        uint whole = WEFT_LONG_STEPS ? 0 : columns / WEFT_TURN * WEFT_TURN;                      \
        for (uint turn = 0; turn < whole; turn += WEFT_TURN) {                                   \
            weft_turn_at = weft_whole_turn(row * columns + turn + lane);                         \
            [[unroll]] for (uint i = 0; i < WEFT_SLOTS; i++)                                     \
            {                                                                                    \
                weft_step = TILE_LANES * i;                                                      \
                step(row, turn + TILE_LANES * i + lane, given);                                  \
            }                                                                                    \
        }                                                                                        \
        weft_turn_at = row * columns;                                                            \
        for (uint c = whole + lane; c < columns; c += TILE_LANES) {                              \
            weft_step = c;                                                                       \
            step(row, c, given);                                                                 \
        }                                                                                        \
    }

// All elements of a turn are read before one is written: loads of a buffer wait for the stores in front of them.
#define WEFT_ROW_CHANGE(name, elements, change)                                                  \
    void name(uint row, uint columns, float given)                                               \
    {                                                                                            \
        uint lane = weft_lane();                                                                 \
        uint whole = columns / WEFT_TURN * WEFT_TURN;                                            \
        for (uint turn = 0; turn < whole; turn += WEFT_TURN) {                                   \
            uint at = weft_whole_turn(row * columns + turn + lane);                              \
            float values[WEFT_SLOTS];                                                            \
            [[unroll]] for (uint i = 0; i < WEFT_SLOTS; i++)                                     \
            {                                                                                    \
                values[i] = elements[at + TILE_LANES * i];                                       \
            }                                                                                    \
            [[unroll]] for (uint i = 0; i < WEFT_SLOTS; i++)                                     \
            {                                                                                    \
                elements[at + TILE_LANES * i] = change(values[i], given);                        \
            }                                                                                    \
        }                                                                                        \
        for (uint c = whole + lane; c < columns; c += TILE_LANES) {                              \
            uint at = row * columns + c;                                                         \
            elements[at] = change(elements[at], given);                                          \
        }                                                                                        \
    }

void weft_keep_part(uint r, uint bits)
{
    weft_parts[weft_side()][weft_lane() / 4][weft_lane() % 4] = bits;
}

// To each lane the sum of its row.
float weft_sum_of_own_row(weft_rows rows)
{
    uint side = weft_side();
    vec4 a = uintBitsToFloat(weft_parts[side][0]) + uintBitsToFloat(weft_parts[side][2]);
    vec4 b = uintBitsToFloat(weft_parts[side][1]) + uintBitsToFloat(weft_parts[side][3]);
    vec4 sum = a + b;
    return (sum.x + sum.z) + (sum.y + sum.w);
}

// To each lane the largest number of its row.
float weft_largest_of_own_row(weft_rows rows)
{
    uint side = weft_side();
    uvec4 four = max(max(weft_parts[side][0], weft_parts[side][2]),
                     max(weft_parts[side][1], weft_parts[side][3]));
    return weft_from_order_key(max(max(four.x, four.z), max(four.y, four.w)));
}

#endif
