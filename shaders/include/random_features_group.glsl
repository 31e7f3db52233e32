// SPDX-License-Identifier: MIT
//
// Random features by a workgroup per row.

#ifndef WEFT_INCLUDE_RANDOM_FEATURES_GROUP_GLSL
#define WEFT_INCLUDE_RANDOM_FEATURES_GROUP_GLSL

#include "random_features.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

// The same in all invocations of a group; contains barriers.
row_terms read_row(uint row)
{
    weft_partial own = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.width; c += WEFT_GROUP_SIZE) {
        float scaled = push.scale * x[row * push.width + c];
        own = weft_partial_add(own, scaled * scaled);
    }
    return terms_with(row, 0.5f * weft_group_sum(weft_partial_sum(own)));
}

// The largest t_f of a row; 0 for trigonometric features.
float largest_exponent(row_terms terms, uint row)
{
    float own = uintBitsToFloat(0xff800000u); // -inf
    for (uint f = gl_LocalInvocationID.x; f < push.columns; f += WEFT_GROUP_SIZE) {
        own = weft_larger(own, exponent(terms, row, f, false));
        if (COMPONENT == HYPERBOLIC) {
            own = weft_larger(own, exponent(terms, row, f, true));
        }
    }
    return COMPONENT == TRIGONOMETRIC ? 0.0f : weft_group_max(own);
}

#endif
