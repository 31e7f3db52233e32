#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The features of a row: a workgroup per row. Positive ones, cosines and sines, times sqrt(1/2); then
// again for each direction, times the sign of the row's projection on it and 1 / sqrt(2 directions),
// where keys have the positive ones negated. STABILIZER: a weft_stabilizer.

#include "hybrid_features.glsl"
#include "numbers.glsl"
#include "wave.glsl"

layout(constant_id = 0) const uint STABILIZER = 0;
layout(constant_id = 1) const bool HAS_COEFFICIENTS = false;
layout(constant_id = 2) const bool IS_KEYS = false;

layout(std430, binding = 2) readonly buffer Sides { float sides[]; }; // directions x
layout(std430, binding = 3) readonly buffer Largest { float largest[]; }; // WEFT_STABILIZER_KEY: of each sequence
layout(std430, binding = 4) readonly buffer Coefficients { float coefficients[]; };
layout(std430, binding = 5) writeonly buffer Result { float result[]; };

void store(uint at, float positive, float cosine, float sine)
{
    result[at] = weft_flush(positive);
    result[at + push.columns] = weft_flush(cosine);
    result[at + 2u * push.columns] = weft_flush(sine);
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    float half_length = half_square(row);
    float down = 0.0f;
    if (STABILIZER == WEFT_STABILIZER_QUERY) {
        down = largest_exponent(row, half_length);
    } else if (STABILIZER == WEFT_STABILIZER_KEY) {
        down = largest[row / (push.tokens * push.heads) * push.heads + row % push.heads];
    }
    float usual = weft_rcp(weft_sqrt(float(push.columns)));
    float size = weft_exp(half_length - down);
    uint base = row * 3u * push.columns * (1u + push.directions);
    for (uint f = gl_LocalInvocationID.x; f < push.columns; f += WEFT_GROUP_SIZE) {
        float p = projection[row * push.columns + f];
        float factor = HAS_COEFFICIENTS ? coefficients[f] : usual;
        float positive = factor * weft_exp((p - half_length) - down);
        weft_waves waves = waves_of(p);
        float cosine = factor * size * waves.cosine;
        float sine = factor * size * waves.sine;
        store(base + f, 0.707106769f * positive, 0.707106769f * cosine, 0.707106769f * sine);
        for (uint k = 0; k < push.directions; k++) {
            float share = sides[row * push.directions + k] < 0.0f ? -push.share : push.share;
            store(base + 3u * push.columns * (1u + k) + f, (IS_KEYS ? -share : share) * positive,
                  share * cosine, share * sine);
        }
    }
}
