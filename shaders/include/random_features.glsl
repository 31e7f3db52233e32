// SPDX-License-Identifier: MIT
//
// What the shaders of random features share: a row is one head of one token. Its features are
// exp(base + t_f) with t_f = b p_f + a |w_f|^2, p the projection of the scaled row, and for those
// that are waves exp(base + a |w_f|^2) times cos b p_f and sin b p_f. COMPONENT: a
// weft_component, or one more for s = -1.

#ifndef WEFT_INCLUDE_RANDOM_FEATURES_GLSL
#define WEFT_INCLUDE_RANDOM_FEATURES_GLSL

#include "index.glsl"
#include "math.glsl"
#include "numbers.glsl"
#include "partial.glsl"

#define GENERALIZED_WAVES WEFT_COMPONENT_COUNT // s = -1

layout(constant_id = 0) const uint COMPONENT = WEFT_COMPONENT_POSITIVE;

// Whether exponents have a term in |w_f|^2 and features are pairs of waves.
#define OF_SEQUENCES (COMPONENT == WEFT_COMPONENT_OPTIMAL || COMPONENT == WEFT_COMPONENT_ASYMMETRIC)
#define HAS_NORMS (OF_SEQUENCES || COMPONENT == WEFT_COMPONENT_GENERALIZED || COMPONENT == GENERALIZED_WAVES)
#define IS_WAVES (COMPONENT == WEFT_COMPONENT_TRIGONOMETRIC || COMPONENT == GENERALIZED_WAVES)

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Projection { float projection[]; };
layout(std430, binding = 2) readonly buffer Norms { float norms[]; }; // |w_f|^2, with HAS_NORMS
// Likewise: A, B and ln D of each sequence and head (see optimum.comp) or, generalized, of all.
layout(std430, binding = 3) readonly buffer Terms { float terms_of[]; };

layout(push_constant) uniform Push
{
    uint rows;    // batch * tokens * heads
    uint columns; // features of w
    uint groups_x;
    uint width; // of a head
    uint heads;
    uint tokens;
    float scale;
    float epsilon;
} push;

// Which sequence and head a row belongs to.
uint sequence_of(uint row)
{
    return row / (push.tokens * push.heads) * push.heads + row % push.heads;
}

struct row_terms {
    float base;
    float a;
    float b;
};

// What a row has beside its squared length.
row_terms terms_with(uint row, float half_square)
{
    row_terms terms = row_terms(IS_WAVES ? half_square : -half_square, 0.0f, 1.0f);
    if (HAS_NORMS) {
        uint at = OF_SEQUENCES ? 3u * sequence_of(row) : 0u;
        terms.a = terms_of[at];
        terms.b = terms_of[at + 1u];
        terms.base = terms.base + terms_of[at + 2u];
    }
    return terms;
}

// t_f; of the two features of a hyperbolic pair, the second has p negated. Of waves what is not the
// angle.
float exponent(row_terms terms, uint row, uint f, bool negated)
{
    if (IS_WAVES) {
        return HAS_NORMS ? terms.a * norms[f] : 0.0f;
    }
    float p = projection[row * push.columns + f];
    if (HAS_NORMS) {
        return fma(terms.b, p, terms.a * norms[f]);
    }
    return negated ? -p : p;
}

#endif
