// SPDX-License-Identifier: MIT
//
// What the kernels that store random features share: includes one of random_features_group.glsl and random_features_lanes.glsl
// before.

#ifndef WEFT_INCLUDE_RANDOM_FEATURES_STORE_GLSL
#define WEFT_INCLUDE_RANDOM_FEATURES_STORE_GLSL

#include "wave.glsl"

layout(constant_id = 1) const uint STABILIZER = 0;
layout(constant_id = 2) const bool HAS_COEFFICIENTS = false;

layout(std430, binding = 4) readonly buffer Largest { float largest[]; }; // KEY: of each sequence
layout(std430, binding = 5) readonly buffer Coefficients { float coefficients[]; };
layout(std430, binding = 6) writeonly buffer Result { float result[]; };

// What is common to a row's exponents. `largest_own`: STABILIZER == QUERY: the largest of them without base, which goes with it.
float offset_of(row_terms terms, uint row, float largest_own)
{
    if (STABILIZER == QUERY) {
        return -largest_own;
    }
    return STABILIZER == KEY ? terms.base - largest[sequence_of(row)] : terms.base;
}

float usual_factor()
{
    return weft_rcp(weft_sqrt(float(push.columns)));
}

void store_feature(row_terms terms, uint row, uint f, float offset, float usual)
{
    float share = COMPONENT == HYPERBOLIC ? 0.707106769f : 1.0f;
    bool pairs = IS_WAVES || COMPONENT == HYPERBOLIC;
    uint base = row * push.columns * (pairs ? 2u : 1u);
    float factor = share * (HAS_COEFFICIENTS ? coefficients[f] : usual);
    if (IS_WAVES) {
        float p = projection[row * push.columns + f];
        if (HAS_NORMS) {
            p = terms.b * p;
        }
        factor = factor * weft_exp(offset + exponent(terms, row, f, false));
        result[base + f] = weft_flush(factor * wave(p, 1u));
        result[base + push.columns + f] = weft_flush(factor * wave(p, 0u));
        return;
    }
    float value = weft_exp(offset + exponent(terms, row, f, false)) + push.epsilon;
    result[base + f] = weft_flush(factor * value);
    if (COMPONENT == HYPERBOLIC) {
        value = weft_exp(offset + exponent(terms, row, f, true)) + push.epsilon;
        result[base + push.columns + f] = weft_flush(factor * value);
    }
}

#endif
