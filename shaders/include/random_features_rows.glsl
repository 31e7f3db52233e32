// SPDX-License-Identifier: MIT
//
// What the kernels of random features that make rows share (row.glsl).

#ifndef WEFT_INCLUDE_RANDOM_FEATURES_ROWS_GLSL
#define WEFT_INCLUDE_RANDOM_FEATURES_ROWS_GLSL

#include "row.glsl"
#include "random_features.glsl"

float scaled(uint row, uint c, float given)
{
    return push.scale * x[weft_at(row, c, push.width)];
}

WEFT_ROW_SQUARES(squares_of, scaled)

#ifdef WEFT_ROW_GROUP // which reads them once
row_terms terms_here;
#define TERMS_OF(row) terms_here
#else
#define TERMS_OF(row) terms_with(row, 0.0f)
#endif

// The terms of each lane's own row; contains a barrier.
row_terms read_rows(weft_rows rows)
{
    WEFT_EACH_ROW(rows, r,
                  weft_keep_part(r, floatBitsToUint(squares_of(rows.first + r, push.width, 0.0f))))
    weft_meet();
    float half_square = 0.5f * weft_sum_of_own_row(rows);
#ifdef WEFT_ROW_GROUP
    terms_here = terms_with(weft_own_row(rows), half_square);
    return terms_here;
#else
    return terms_with(weft_own_row(rows), half_square);
#endif
}

void note_exponent(inout weft_largest largest, uint row, uint f)
{
    row_terms terms = TERMS_OF(row); // the exponents have nothing of the length
    weft_note(largest, exponent(terms, row, f, false));
    if (COMPONENT == WEFT_COMPONENT_HYPERBOLIC) {
        weft_note(largest, exponent(terms, row, f, true));
    }
}

WEFT_ROW_LARGEST(largest_key, note_exponent)

// The largest t_f of each lane's own row; 0 for trigonometric features. Contains two barriers.
float largest_exponents(weft_rows rows)
{
    weft_meet(); // behind read_rows
    WEFT_EACH_ROW(rows, r, weft_keep_part(r, largest_key(rows.first + r, push.columns)))
    weft_meet();
    return COMPONENT == WEFT_COMPONENT_TRIGONOMETRIC ? 0.0f : weft_largest_of_own_row(rows);
}

#endif
