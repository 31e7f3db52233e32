#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows divided by their length, a workgroup per row. FORM numbers are those of
// runtime/ops/rms_norm.c.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

#define ROOT_MEAN_SQUARE 0 // x / sqrt(Σ x²/d + epsilon) · gain
#define SIMPLE           1 // x / (sqrt(Σ x²/d) + epsilon)
#define LENGTH           2 // gain[0] · x / max(sqrt(Σ x²), epsilon)

layout(local_size_x = WEFT_GROUP_SIZE) in;
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

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return; // the whole group: no barrier is missed
    }
    uint base = row * push.columns;
    weft_partial own_squares = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        own_squares = weft_partial_add(own_squares, x[base + c] * x[base + c]);
    }
    float scale = scale_of(weft_group_sum(weft_partial_sum(own_squares)));
    for (uint c = gl_LocalInvocationID.x; c < push.columns; c += WEFT_GROUP_SIZE) {
        float value = x[base + c] * scale;
        if (FORM == ROOT_MEAN_SQUARE && HAS_GAIN != 0) {
            value = value * gain[c];
        }
        result[base + c] = weft_flush(value);
    }
}
