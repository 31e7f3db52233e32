#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The features of a row: a workgroup per row.

#include "random_features_group.glsl"
#include "random_features_store.glsl"

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    row_terms terms = read_row(row);
    float offset =
        offset_of(terms, row, STABILIZER == QUERY ? largest_exponent(terms, row) : 0.0f);
    float usual = usual_factor();
    for (uint f = gl_LocalInvocationID.x; f < push.columns; f += WEFT_GROUP_SIZE) {
        store_feature(terms, row, f, offset, usual);
    }
}
