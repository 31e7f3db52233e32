// SPDX-License-Identifier: MIT
//
// A row for each workgroup: an invocation has the columns lane, lane + 128, …. What row_lanes.glsl has, which says what the names mean.

#ifndef WEFT_INCLUDE_ROW_GROUP_GLSL
#define WEFT_INCLUDE_ROW_GROUP_GLSL

#define WEFT_ROW_GROUP

#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

uint weft_part;
float weft_of_row[2];

struct weft_rows
{
    uint first;
    uint count; // 1, or 0 behind the last row
};

#define WEFT_EACH_ROW(rows, r, statements)                                                       \
    {                                                                                            \
        const uint r = 0;                                                                        \
        statements;                                                                              \
    }

weft_rows weft_rows_of(uint group, uint rows, uint columns)
{
    return weft_rows(group, group < rows ? 1 : 0);
}

bool weft_is_idle(weft_rows rows)
{
    return rows.count == 0;
}

uint weft_own_row(weft_rows rows)
{
    return rows.first;
}

bool weft_has_own_row(weft_rows rows)
{
    return gl_LocalInvocationID.x == 0;
}

void weft_give(uint which, float own)
{
    weft_of_row[which] = own;
}

float weft_given(uint which, uint r)
{
    return weft_of_row[which];
}

#define weft_meet() // the reductions have barriers of their own

uint weft_row_at; // where the row at hand begins: compilers take no product out of a loop

uint weft_at(uint row, uint column, uint columns)
{
    return weft_row_at + column;
}

// row_keep.glsl has another.
#define WEFT_ROW_LOOP(columns, c, statement)                                                     \
    weft_row_at = row * columns;                                                                 \
    for (uint c = gl_LocalInvocationID.x; c < columns; c += WEFT_GROUP_SIZE) {                   \
        statement;                                                                               \
    }

#define WEFT_ROW_TOTAL(name, term, plus)                                                         \
    float name(uint row, uint columns, float given)                                              \
    {                                                                                            \
        weft_partial own = weft_partial_zero();                                                  \
        WEFT_ROW_LOOP(columns, c, own = plus(own, term(row, c, given)))                          \
        return weft_partial_sum(own);                                                            \
    }

#define WEFT_ROW_SUM(name, term) WEFT_ROW_TOTAL(name, term, weft_plus)
#define WEFT_ROW_SQUARES(name, term) WEFT_ROW_TOTAL(name, term, weft_plus_square)

struct weft_largest
{
    float value;
};

void weft_note(inout weft_largest largest, float value)
{
    largest.value = weft_larger(largest.value, value);
}

#define WEFT_ROW_LARGEST(name, note)                                                             \
    uint name(uint row, uint columns)                                                            \
    {                                                                                            \
        weft_largest largest = weft_largest(uintBitsToFloat(0xff800000u)); /* -inf */            \
        WEFT_ROW_LOOP(columns, c, note(largest, row, c))                                         \
        return floatBitsToUint(largest.value);                                                   \
    }

#define WEFT_ROW_EACH(name, step)                                                                \
    void name(uint row, uint columns, float given)                                               \
    {                                                                                            \
        WEFT_ROW_LOOP(columns, c, step(row, c, given))                                           \
    }

// Behind row_keep.glsl.
#define WEFT_ROW_CHANGE(name, elements, change)                                                  \
    void name##_at(uint row, uint column, float given)                                           \
    {                                                                                            \
        uint at = weft_at(row, column, push.columns);                                            \
        elements[at] = change(WEFT_KEPT(elements, at), given);                                   \
    }                                                                                            \
    WEFT_ROW_EACH(name, name##_at)

void weft_keep_part(uint r, uint bits)
{
    weft_part = bits;
}

float weft_sum_of_own_row(weft_rows rows)
{
    return weft_group_sum(uintBitsToFloat(weft_part));
}

float weft_largest_of_own_row(weft_rows rows)
{
    return weft_group_max(uintBitsToFloat(weft_part));
}

#endif
