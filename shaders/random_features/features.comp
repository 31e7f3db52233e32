#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The features of a row.
// form features
// form features_lanes WEFT_LANES
// form features_side WEFT_SIDE WEFT_LONG_STEPS=true

#include "random_features_rows.glsl"
#include "wave.glsl"

layout(constant_id = 1) const uint STABILIZER = 0;
layout(constant_id = 2) const bool HAS_COEFFICIENTS = false;

layout(std430, binding = 4) readonly buffer Largest { float largest[]; }; // WEFT_STABILIZER_KEY: of each sequence
layout(std430, binding = 5) readonly buffer Coefficients { float coefficients[]; };
layout(std430, binding = 6) writeonly buffer Result { float result[]; };

// What is common to a row's exponents. `largest_own`: STABILIZER == WEFT_STABILIZER_QUERY: the largest of them without base, which goes with it.
float offset_of(row_terms terms, uint row, float largest_own)
{
    if (STABILIZER == WEFT_STABILIZER_QUERY) {
        return -largest_own;
    }
    return STABILIZER == WEFT_STABILIZER_KEY ? terms.base - largest[sequence_of(row)] : terms.base;
}

float usual_factor()
{
    return weft_rcp(weft_sqrt(float(push.columns)));
}

void store_feature(row_terms terms, uint row, uint f, float offset, float usual)
{
    float share = COMPONENT == WEFT_COMPONENT_HYPERBOLIC ? 0.707106769f : 1.0f;
    bool pairs = IS_WAVES || COMPONENT == WEFT_COMPONENT_HYPERBOLIC;
    uint base = row * push.columns * (pairs ? 2u : 1u);
    float factor = share * (HAS_COEFFICIENTS ? coefficients[f] : usual);
    if (IS_WAVES) {
        float p = projection[row * push.columns + f];
        if (HAS_NORMS) {
            p = terms.b * p;
        }
        factor = factor * weft_exp(offset + exponent(terms, row, f, false));
        weft_waves waves = waves_of(p);
        result[base + f] = weft_flush(factor * waves.cosine);
        result[base + push.columns + f] = weft_flush(factor * waves.sine);
        return;
    }
    float value = weft_exp(offset + exponent(terms, row, f, false)) + push.epsilon;
    result[base + f] = weft_flush(factor * value);
    if (COMPONENT == WEFT_COMPONENT_HYPERBOLIC) {
        value = weft_exp(offset + exponent(terms, row, f, true)) + push.epsilon;
        result[base + push.columns + f] = weft_flush(factor * value);
    }
}

#ifndef WEFT_ROW_GROUP
row_terms terms_here; // of the row at hand, without base, which is in the offset
#endif
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
    float largest_own = STABILIZER == WEFT_STABILIZER_QUERY ? largest_exponents(rows) : 0.0f;
    weft_give(0, offset_of(terms, weft_own_row(rows), largest_own));
    usual = usual_factor();
    WEFT_EACH_ROW(rows, r,
                  terms_here = TERMS_OF(rows.first + r);
                  store_row(rows.first + r, push.columns, weft_given(0, r)))
}
