#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// The 2r - 1 coefficients of the small Toeplitz matrix, per channel: the piecewise linear RPE at
// the warped lags. The host knows which two rows of the grid a lag lies between, and their weights;
// a row of weight 0 is not read (that of the grid's middle always has weight 0: RPE(0) = 0).

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Rpe { float rpe[]; };
layout(std430, binding = 1) readonly buffer Lags { uvec4 lags[]; }; // two rows, the bits of their weights
layout(std430, binding = 2) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint d;
    WEFT_INVERSE(d)
} push;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uvec4 lag = lags[WEFT_QUOTIENT(item, d)];
    uint channel = WEFT_REMAINDER(item, d);
    float value = 0.0;
    if (lag.z != 0) {
        value = uintBitsToFloat(lag.z) * rpe[lag.x * push.d + channel];
    }
    if (lag.w != 0) {
        value = fma(uintBitsToFloat(lag.w), rpe[lag.y * push.d + channel], value);
    }
    result[item] = weft_flush(value);
}
