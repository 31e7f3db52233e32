#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Half spectra of rows times those of the kernels: row r has kernel (first_row + r) % kernels.

#include "complex.glsl"
#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Kernel { vec2 kernel[]; }; // [kernels, bins]
layout(std430, binding = 1) buffer Spectrum { vec2 spectrum[]; };      // [rows, bins]

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint bins;
    uint first_row;
    uint kernels;
    WEFT_INVERSE(bins)
    WEFT_INVERSE(kernels)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint k = WEFT_REMAINDER(push.first_row + WEFT_QUOTIENT(i, bins), kernels);
    vec2 a = spectrum[i];
    vec2 b = kernel[k * push.bins + WEFT_REMAINDER(i, bins)];
    spectrum[i] = weft_complex_multiply(a, b);
}
