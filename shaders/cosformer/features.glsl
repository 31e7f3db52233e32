// SPDX-License-Identifier: MIT
//
// What the kernels that do the work of cosformer/features.comp are given. Where one has no use for a constant, it does not read it.

#include "divide.glsl"

layout(constant_id = 0) const bool IS_STEP = false;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Angles { float angles[]; }; // cos, sin of each position
layout(std430, binding = 2) readonly buffer Position { int position[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // elements of x
    uint groups_x;
    uint positions; // tokens of a sequence; IS_STEP: those that have angles
    uint channels; // of a token
    uint width; // of a head
    WEFT_INVERSE(positions)
    WEFT_INVERSE(channels)
    WEFT_INVERSE(width)
} push;
