#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// LayerNorm over the last axis, of x or of x + residual. `x` and `result` may be the same buffer.
// form layer_norm
// form layer_norm_lanes WEFT_LANES

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Residual { float residual_data[]; };
layout(std430, binding = 2) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 3) readonly buffer Beta { float beta[]; };
layout(std430, binding = 4) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
    float epsilon;
} push;

float weft_row_value(uint row, uint column)
{
    return x[row * push.columns + column];
}

#include "row_norm.glsl"
