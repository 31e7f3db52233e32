#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Products of complex numbers, with b repeated along the leading axes of a. An invocation has one of them.

#include "complex.glsl"
#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer A { vec2 a[]; };
layout(std430, binding = 1) readonly buffer B { vec2 b[]; };
layout(std430, binding = 2) writeonly buffer Result { vec2 result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint b_count;
    WEFT_INVERSE(b_count)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        vec2 product = weft_complex_multiply(a[i], b[WEFT_REMAINDER(i, b_count)]);
        result[i] = vec2(weft_flush(product.x), weft_flush(product.y));
    }
}
