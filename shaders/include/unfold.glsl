// SPDX-License-Identifier: MIT
// What the kernels that complete a Fourier transform are given: fourier/unfold.comp and unfold_lanes.comp.

#ifndef WEFT_INCLUDE_UNFOLD_GLSL
#define WEFT_INCLUDE_UNFOLD_GLSL

layout(std430, binding = 0) readonly buffer Residual { float residual_data[]; };
layout(std430, binding = 1) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 2) readonly buffer Beta { float beta[]; };
layout(std430, binding = 3) buffer Result { float result[]; };
layout(std430, binding = 4) readonly buffer Half { float half_spectrum[]; }; // [B, n, half_columns, stride]

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
    float epsilon;
    uint sequence_length;
    uint half_columns; // at least d/2 + 1
    uint stride; // 2 where the elements are complex, 1 where they are real parts alone
} push;

#endif
