// SPDX-License-Identifier: MIT
//
// Random features of several rows in a workgroup: what random_features_group.glsl has. Behind row_lanes.glsl or row_side.glsl.

#ifndef WEFT_INCLUDE_RANDOM_FEATURES_LANES_GLSL
#define WEFT_INCLUDE_RANDOM_FEATURES_LANES_GLSL

#include "random_features.glsl"

float square(uint row, uint c, float given)
{
    float scaled = push.scale * x[weft_at(row, c, push.width)];
    return scaled * scaled;
}

WEFT_ROW_SUM(squares_of, square)

// The terms of each lane's own row; contains a barrier.
row_terms read_rows(weft_rows rows)
{
    for (uint r = 0; r < rows.count; r++) {
        weft_keep_part(r, floatBitsToUint(squares_of(rows.first + r, push.width, 0.0f)));
    }
    barrier();
    float half_square = 0.5f * weft_sum_of_own_row(rows);
    return terms_with(weft_own_row(rows), half_square);
}

void note_exponent(inout weft_largest largest, uint row, uint f)
{
    row_terms terms = terms_with(row, 0.0f); // the exponents have nothing of the length
    weft_note(largest, exponent(terms, row, f, false));
    if (COMPONENT == HYPERBOLIC) {
        weft_note(largest, exponent(terms, row, f, true));
    }
}

WEFT_ROW_LARGEST(largest_key, note_exponent)

// The largest t_f of each lane's own row; 0 for trigonometric features. Contains two barriers.
float largest_exponents(weft_rows rows)
{
    barrier(); // behind read_rows
    for (uint r = 0; r < rows.count; r++) {
        weft_keep_part(r, largest_key(rows.first + r, push.columns));
    }
    barrier();
    return COMPONENT == TRIGONOMETRIC ? 0.0f : weft_largest_of_own_row(rows);
}

#endif
