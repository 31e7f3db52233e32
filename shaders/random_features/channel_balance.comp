#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// SADERF's factors Psi = (sum y^2 / sum x^2)^(1/4) of each sequence, head and channel, from the chunks'
// squares of x and y: an invocation per channel. The two fourth roots are taken before the quotient,
// which cannot leave the range of float32 then. 1 where a sum is 0.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Y { float y[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; }; // [sequences, width]

layout(push_constant) uniform Push
{
    uint count; // batch * heads * width
    uint groups_x;
    uint width;
    uint x_chunks;
    uint y_chunks;
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint sequence = i / push.width;
    uint c = i % push.width;
    weft_partial x_sum = weft_partial_zero();
    for (uint k = 0; k < push.x_chunks; k++) {
        x_sum = weft_partial_add(x_sum, x[(sequence * push.x_chunks + k) * push.width + c]);
    }
    weft_partial y_sum = weft_partial_zero();
    for (uint k = 0; k < push.y_chunks; k++) {
        y_sum = weft_partial_add(y_sum, y[(sequence * push.y_chunks + k) * push.width + c]);
    }
    float own = weft_partial_sum(x_sum);
    float others = weft_partial_sum(y_sum);
    float factor = weft_div(weft_sqrt(weft_sqrt(others)), weft_sqrt(weft_sqrt(own)));
    result[i] = own == 0.0f || others == 0.0f ? 1.0f : factor;
}
