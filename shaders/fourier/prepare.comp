#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Spectra before a transform back: times a factor, and where they are those of a real sequence of `real` elements, without the
// imaginary parts that such a sequence has not. An invocation has a complex number.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { vec2 x[]; };
layout(std430, binding = 1) writeonly buffer Result { vec2 result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint bins; // of a row
    uint real; // 0: complex sequences
    float factor;
    WEFT_INVERSE(bins)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint bin = WEFT_REMAINDER(i, bins);
    bool is_real = push.real != 0 && (bin == 0 || 2 * bin == push.real);
    vec2 value = x[i];
    float imaginary = weft_flush(push.factor * value.y);
    result[i] = vec2(weft_flush(push.factor * value.x), is_real ? 0.0 : imaginary);
}
