// SPDX-License-Identifier: MIT
//
// Products on processors by workgroups of one subgroup: columns lie along the lanes, and an element of the other operand is
// the same for all of them. An invocation has four rows of two columns, TILE_LANES apart, or of one: what is loaded ahead
// needs registers, too. Vectors of 16 lanes come with 32 registers: there four columns share what is loaded of the rows.

#ifndef WEFT_INCLUDE_LANES_TILE_GLSL
#define WEFT_INCLUDE_LANES_TILE_GLSL

#include "multiply_add.glsl"

#define WEFT_LANES_ROWS 4

layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(constant_id = 67) const uint FIXED_LANES_ROWS = WEFT_LANES_ROWS; // for the host

layout(local_size_x_id = 17) in;

// A component is a row.
struct weft_lanes_tile
{
    vec4 low, high;
};

// Columns TILE_LANES apart from the first to the fourth.
struct weft_lanes_pair
{
    weft_lanes_tile left, right;
};

#define WEFT_LANES_WIDE (TILE_LANES == 16u)

weft_lanes_tile weft_lanes_zero()
{
    return weft_lanes_tile(vec4(0.0), vec4(0.0));
}

weft_lanes_tile weft_lanes_add(weft_lanes_tile a, weft_lanes_tile b)
{
    return weft_lanes_tile(a.low + b.low, a.high + b.high);
}

// Adds the products of four rows' elements with one of each column.
void weft_lanes_step(inout weft_lanes_tile sum, vec4 rows, float low, float high, bool two)
{
    sum.low = weft_multiply_add(low, rows, sum.low);
    if (two) {
        sum.high = weft_multiply_add(high, rows, sum.high);
    }
}

weft_lanes_pair weft_lanes_zeros()
{
    return weft_lanes_pair(weft_lanes_zero(), weft_lanes_zero());
}

weft_lanes_pair weft_lanes_sums(weft_lanes_pair a, weft_lanes_pair b)
{
    return weft_lanes_pair(weft_lanes_add(a.left, b.left), weft_lanes_add(a.right, b.right));
}

// The same of four columns.
void weft_lanes_steps(inout weft_lanes_pair sum, vec4 rows, vec4 columns)
{
    weft_lanes_step(sum.left, rows, columns.x, columns.y, true);
    weft_lanes_step(sum.right, rows, columns.z, columns.w, true);
}

// What the rows from `first` on become, and the others are.
vec4 weft_lanes_from(uint first, vec4 others, vec4 rows)
{
    return mix(others, rows, greaterThanEqual(uvec4(0, 1, 2, 3), uvec4(first)));
}

// Those of the rows from `first` on alone.
void weft_lanes_step_from(inout weft_lanes_tile sum, uint first, vec4 rows, float low, float high,
                          bool two)
{
    sum.low = weft_lanes_from(first, sum.low, weft_multiply_add(low, rows, sum.low));
    if (two) {
        sum.high = weft_lanes_from(first, sum.high, weft_multiply_add(high, rows, sum.high));
    }
}

#endif
