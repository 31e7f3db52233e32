#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The features of rows on processors: what features.comp computes.

#include "random_features_lanes.glsl"
#include "random_features_store.glsl"

void store_row(uint row, float offset, float usual)
{
    row_terms terms = terms_with(row, 0.0f); // base is in the offset
    uint whole = weft_whole(push.columns);
    for (uint f = 0; f < whole; f += TILE_LANES) {
        store_feature(terms, row, f + gl_LocalInvocationIndex, offset, usual);
    }
    if (gl_LocalInvocationIndex < push.columns - whole) {
        store_feature(terms, row, whole + gl_LocalInvocationIndex, offset, usual);
    }
}

void main()
{
    uint at_once = weft_rows_at_once(max(push.columns, push.width));
    uint first = weft_group_index(push.groups_x) * at_once;
    if (first >= push.rows) {
        return;
    }
    uint rows = min(push.rows - first, at_once);
    row_terms terms = read_rows(first, rows);
    float largest_own = STABILIZER == QUERY ? largest_exponents(first, rows) : 0.0f;
    weft_of_rows[gl_LocalInvocationIndex] =
        offset_of(terms, first + min(gl_LocalInvocationIndex, rows - 1u), largest_own);
    barrier();
    float usual = usual_factor();
    for (uint r = 0; r < rows; r++) {
        store_row(first + r, weft_of_rows[r], usual);
    }
}
