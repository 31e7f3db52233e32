// SPDX-License-Identifier: MIT
//
// What the kernels that do the work of flt/features.comp are given. Where one has no use for a constant, it does not read it.

#include "divide.glsl"

layout(constant_id = 0) const bool KEYS = false;
layout(constant_id = 1) const bool HAS_POSITIONS = false; // else the token's number, one dimension
layout(constant_id = 2) const bool HAS_PHASES = false;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Frequencies { float frequencies[]; };
layout(std430, binding = 2) readonly buffer Weights { float weights[]; };
layout(std430, binding = 3) readonly buffer Positions { float positions[]; };
layout(std430, binding = 4) readonly buffer Phases { float phases[]; }; // in turns
layout(std430, binding = 5) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // of tokens, heads and width + r
    uint groups_x;
    uint width; // of a head of x
    uint r;
    uint heads;
    uint tokens;
    uint dimensions;
    uint position_batch; // elements between the positions of sequences; 0: the same for all
    uint frequency_head; // elements between the frequencies of heads; 0: the same for all
    uint weight_head;
    float scale;
    WEFT_INVERSE(heads)
    WEFT_INVERSE(tokens)
    WEFT_INVERSE(items) // what divides by width + r
} push;
