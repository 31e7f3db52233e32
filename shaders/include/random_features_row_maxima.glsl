// SPDX-License-Identifier: MIT
//
// The largest exponent of several rows: what random_features/row_maximum.comp computes. Behind row_lanes.glsl or row_side.glsl.

#ifndef WEFT_INCLUDE_RANDOM_FEATURES_ROW_MAXIMA_GLSL
#define WEFT_INCLUDE_RANDOM_FEATURES_ROW_MAXIMA_GLSL

#include "random_features_lanes.glsl"

layout(std430, binding = 4) writeonly buffer Result { float result[]; };

void main()
{
    weft_rows rows = weft_rows_of(weft_group_index(push.groups_x), push.rows,
                                  max(push.columns, push.width));
    if (weft_is_idle(rows)) {
        return;
    }
    row_terms terms = read_rows(rows);
    float largest = terms.base + largest_exponents(rows);
    if (weft_has_own_row(rows)) {
        result[weft_own_row(rows)] = largest;
    }
}

#endif
