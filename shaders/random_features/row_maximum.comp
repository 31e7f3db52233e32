#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest exponent of each row, base included.
// form row_maximum
// form row_maximum_lanes WEFT_LANES
// form row_maximum_side WEFT_SIDE WEFT_LONG_STEPS=true

#include "random_features_rows.glsl"

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
