#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// BatchNorm with given means and variances, each channel by itself. The difference from the mean
// comes first: folded into one factor and one offset, values near a large mean would lose digits.

#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint HAS_GAMMA = 0;
layout(constant_id = 1) const uint HAS_BETA = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Mean { float mean[]; };
layout(std430, binding = 2) readonly buffer Variance { float variance[]; };
layout(std430, binding = 3) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 4) readonly buffer Beta { float beta[]; };
layout(std430, binding = 5) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint channels;
    float epsilon;
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint c = i % push.channels;
    float value = (x[i] - mean[c]) * weft_rsqrt(variance[c] + push.epsilon);
    if (HAS_GAMMA != 0) {
        value = value * gamma[c];
    }
    if (HAS_BETA != 0) {
        value = value + beta[c];
    }
    result[i] = weft_flush(value);
}
