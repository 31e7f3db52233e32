#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Sums over the last axis, divided by `divisor`, or the largest elements. TERM: of which function of the elements.
// form sums
// form sums_lanes WEFT_LANES
// form largest WEFT_LARGEST
// form largest_lanes WEFT_LARGEST WEFT_LANES

#include "row.glsl"
#include "index.glsl"
#include "math.glsl"
#include "numbers.glsl"

layout(constant_id = 0) const uint TERM = WEFT_TERM_ITSELF;
layout(constant_id = 1) const bool DIVIDES = false;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
    float divisor;
} push;

float negative(float value)
{
    return uintBitsToFloat(floatBitsToUint(value) ^ WEFT_BITS_SIGN);
}

#ifdef WEFT_LARGEST

void note_at(inout weft_largest largest, uint row, uint c)
{
    float value = x[weft_at(row, c, push.columns)];
    weft_note(largest, TERM == WEFT_TERM_NEGATIVE ? negative(value) : value);
}

WEFT_ROW_LARGEST(largest_key, note_at)

#else

float term_at(uint row, uint c, float given)
{
    float value = x[weft_at(row, c, push.columns)];
    float size = uintBitsToFloat(floatBitsToUint(value) & WEFT_BITS_ABS);
    return TERM == WEFT_TERM_SQUARE ? value * value : TERM == WEFT_TERM_SIZE ? size : value;
}

WEFT_ROW_SUM(terms, term_at)

#endif

void main()
{
    weft_rows rows = weft_rows_of(weft_group_index(push.groups_x), push.rows, push.columns);
    if (weft_is_idle(rows)) {
        return;
    }
#ifdef WEFT_LARGEST
    WEFT_EACH_ROW(rows, r, weft_keep_part(r, largest_key(rows.first + r, push.columns)))
    weft_meet();
    float value = weft_largest_of_own_row(rows);
    value = TERM == WEFT_TERM_NEGATIVE ? negative(value) : value;
#else
    WEFT_EACH_ROW(rows, r, weft_keep_part(r, floatBitsToUint(terms(rows.first + r, push.columns, 0.0f))))
    weft_meet();
    float value = weft_sum_of_own_row(rows);
    value = DIVIDES ? weft_div(value, push.divisor) : value;
#endif
    if (weft_has_own_row(rows)) {
        result[weft_own_row(rows)] = weft_flush(value);
    }
}
