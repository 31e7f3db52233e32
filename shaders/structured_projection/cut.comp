#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// The features of rows [rows, features] from their products with all circulant blocks
// [rows, blocks, padded_length]: with their signs, times scale. Zeros become +0, as VkFFT's inverse
// real transform makes zeros of another sign on some drivers.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"
#include "positive_zero.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Products { float products[]; };
layout(std430, binding = 1) readonly buffer Diagonals { float diagonals[]; }; // [blocks, 2, size]
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint size;
    uint blocks;
    uint padded_length;
    uint features;
    uint first_row;
    float scale;
    WEFT_INVERSE(features)
    WEFT_INVERSE(size)
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint feature = WEFT_REMAINDER(item, features);
    uint row = WEFT_QUOTIENT(item, features);
    uint block = WEFT_QUOTIENT(feature, size);
    uint at = WEFT_REMAINDER(feature, size);
    float value = products[(row * push.blocks + block) * push.padded_length + at];
    float signed_value = diagonals[(2 * block + 1) * push.size + at] * value;
    result[(push.first_row + row) * push.features + feature] =
        weft_positive_zero(weft_flush(push.scale * signed_value));
}
