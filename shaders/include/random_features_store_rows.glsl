// SPDX-License-Identifier: MIT
//
// The features of several rows: what random_features/features.comp computes. Behind row_lanes.glsl or row_side.glsl.

#ifndef WEFT_INCLUDE_RANDOM_FEATURES_STORE_ROWS_GLSL
#define WEFT_INCLUDE_RANDOM_FEATURES_STORE_ROWS_GLSL

#include "random_features_lanes.glsl"
#include "random_features_store.glsl"

row_terms terms_here; // of the row at hand, without base, which is in the offset
float usual;

void store_one(uint row, uint f, float offset)
{
    store_feature(terms_here, row, f, offset, usual);
}

WEFT_ROW_EACH(store_row, store_one)

void main()
{
    weft_rows rows = weft_rows_of(weft_group_index(push.groups_x), push.rows,
                                  max(push.columns, push.width));
    if (weft_is_idle(rows)) {
        return;
    }
    row_terms terms = read_rows(rows);
    float largest_own = STABILIZER == QUERY ? largest_exponents(rows) : 0.0f;
    weft_give(0, offset_of(terms, weft_own_row(rows), largest_own));
    usual = usual_factor();
    for (uint r = 0; r < rows.count; r++) {
        terms_here = terms_with(rows.first + r, 0.0f);
        store_row(rows.first + r, push.columns, weft_given(0, r));
    }
}

#endif
