#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The features of a row: a workgroup per row.

#include "random_features.glsl"

layout(constant_id = 1) const uint STABILIZER = 0;
layout(constant_id = 2) const bool HAS_COEFFICIENTS = false;

layout(std430, binding = 4) readonly buffer Largest { float largest[]; }; // KEY: of each sequence
layout(std430, binding = 5) readonly buffer Coefficients { float coefficients[]; };
layout(std430, binding = 6) writeonly buffer Result { float result[]; };

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    row_terms terms = read_row(row);
    float offset = terms.base;
    if (STABILIZER == QUERY) {
        // base is common to the row: it goes with the maximum.
        offset = -largest_exponent(terms, row);
    } else if (STABILIZER == KEY) {
        offset = terms.base - largest[sequence_of(row)];
    }
    float usual = weft_rcp(weft_sqrt(float(push.columns)));
    float share = COMPONENT == HYPERBOLIC ? 0.707106769f : 1.0f;
    bool pairs = IS_WAVES || COMPONENT == HYPERBOLIC;
    uint base = row * push.columns * (pairs ? 2u : 1u);
    for (uint f = gl_LocalInvocationID.x; f < push.columns; f += WEFT_GROUP_SIZE) {
        float factor = share * (HAS_COEFFICIENTS ? coefficients[f] : usual);
        if (IS_WAVES) {
            float p = projection[row * push.columns + f];
            if (HAS_NORMS) {
                p = terms.b * p;
            }
            factor = factor * weft_exp(offset + exponent(terms, row, f, false));
            result[base + f] = weft_flush(factor * wave(p, 1u));
            result[base + push.columns + f] = weft_flush(factor * wave(p, 0u));
            continue;
        }
        float value = weft_exp(offset + exponent(terms, row, f, false)) + push.epsilon;
        result[base + f] = weft_flush(factor * value);
        if (COMPONENT == HYPERBOLIC) {
            value = weft_exp(offset + exponent(terms, row, f, true)) + push.epsilon;
            result[base + push.columns + f] = weft_flush(factor * value);
        }
    }
}
