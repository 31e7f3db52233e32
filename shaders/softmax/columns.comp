#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax, or its logarithm, over the middle axis of x [outer, extent, inner]: an invocation for each column.

#include "index.glsl"
#include "math.glsl"
#include "partial.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const bool LOGARITHM = false;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // columns
    uint groups_x;
    uint extent;
    uint inner;
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item < push.count) {
        uint first = item / push.inner * push.extent * push.inner + item % push.inner;
        uint key = WEFT_LEAST_KEY;
        for (uint i = 0; i < push.extent; i++) {
            key = max(key, weft_order_key(x[first + i * push.inner]));
        }
        float largest = weft_from_order_key(key);
        weft_partial part = weft_partial_zero();
        for (uint i = 0; i < push.extent; i++) {
            part = weft_partial_add(part, weft_exp(x[first + i * push.inner] - largest));
        }
        float sum = weft_partial_sum(part);
        float shift = LOGARITHM ? weft_log(sum) : weft_rcp(sum);
        for (uint i = 0; i < push.extent; i++) {
            float centred = x[first + i * push.inner] - largest;
            result[first + i * push.inner] = weft_flush(LOGARITHM ? centred - shift : weft_exp(centred) * shift);
        }
    }
}
