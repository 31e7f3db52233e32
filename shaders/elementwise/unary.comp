#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// A function of every element. KIND: a weft_unary. INTEGER: of i32, else of f32.

#include "index.glsl"
#include "unary.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint KIND = 0;
layout(constant_id = 1) const bool INTEGER = false;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    float alpha;
    float beta;
} push;

uint apply(uint word)
{
    if (INTEGER) {
        return weft_unary_integer(KIND, word);
    }
    if (KIND == WEFT_UNARY_IS_NAN || KIND == WEFT_UNARY_IS_INF) {
        return weft_unary_test(KIND, word);
    }
    float y = weft_unary_float(KIND, uintBitsToFloat(word), weft_flush(push.alpha), weft_flush(push.beta));
    return floatBitsToUint(weft_flush(y));
}

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        result[i] = apply(x[i]);
    }
}
