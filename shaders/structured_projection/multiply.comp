#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Half spectra of rows times those of all blocks: [rows, blocks, bins].

#include "complex.glsl"
#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Rows { vec2 rows[]; };       // [rows, bins]
layout(std430, binding = 1) readonly buffer Blocks { vec2 kernels[]; };  // [blocks, bins]
layout(std430, binding = 2) writeonly buffer Result { vec2 product[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint bins;
    uint blocks;
    WEFT_INVERSE(bins)
    WEFT_INVERSE(blocks)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint bin = WEFT_REMAINDER(i, bins);
    uint place = WEFT_QUOTIENT(i, bins);
    uint block = WEFT_REMAINDER(place, blocks);
    vec2 a = rows[WEFT_QUOTIENT(place, blocks) * push.bins + bin];
    vec2 b = kernels[block * push.bins + bin];
    product[i] = weft_complex_multiply(a, b);
}
