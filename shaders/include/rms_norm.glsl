// SPDX-License-Identifier: MIT
//
// What the kernels that divide rows by their length share. FORM numbers are those of runtime/ops/rms_norm.c.

#ifndef WEFT_INCLUDE_RMS_NORM_GLSL
#define WEFT_INCLUDE_RMS_NORM_GLSL

#include "math.glsl"
#include "partial.glsl"

#define ROOT_MEAN_SQUARE 0 // x / sqrt(Σ x²/d + epsilon) · gain
#define SIMPLE           1 // x / (sqrt(Σ x²/d) + epsilon)
#define LENGTH           2 // gain[0] · x / max(sqrt(Σ x²), epsilon)

layout(constant_id = 0) const uint FORM = ROOT_MEAN_SQUARE;
layout(constant_id = 1) const uint HAS_GAIN = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Gain { float gain[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
    float epsilon;
} push;

float scale_of(float squares)
{
    if (FORM == LENGTH) {
        return gain[0] * weft_rcp(weft_larger(weft_sqrt(squares), push.epsilon));
    }
    float mean = weft_div(squares, float(push.columns));
    if (FORM == SIMPLE) {
        return weft_rcp(weft_sqrt(mean) + push.epsilon);
    }
    return weft_rsqrt(mean + push.epsilon);
}

void store(uint at, uint c, float scale)
{
    float value = x[at] * scale;
    if (FORM == ROOT_MEAN_SQUARE && HAS_GAIN != 0) {
        value = value * gain[c];
    }
    result[at] = weft_flush(value);
}

#endif
