#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// A feature map on every element. MAP: a weft_feature_map.

#include "activation.glsl"
#include "index.glsl"
#include "numbers.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint MAP = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
} push;

#if WEFT_FEATURE_COUNT != 6
#error "a weft_feature_map has no case here"
#endif

float feature(float x)
{
    switch (MAP) {
    case WEFT_FEATURE_ELU1:
        return weft_elu1(x);
    case WEFT_FEATURE_ELU1_NEGATED:
        return weft_elu1(uintBitsToFloat(floatBitsToUint(x) ^ WEFT_BITS_SIGN));
    case WEFT_FEATURE_TANH:
        return weft_tanh(x);
    case WEFT_FEATURE_TANH1:
        return 2.0f * weft_sigmoid(2.0f * x); // 1 + tanh(x) without its cancellation
    case WEFT_FEATURE_RELU:
        return weft_relu(x);
    default: // WEFT_FEATURE_EXP
        return weft_exp(x);
    }
}

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        result[i] = weft_flush(feature(x[i]));
    }
}
