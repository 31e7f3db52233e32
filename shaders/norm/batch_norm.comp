#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// BatchNorm with given means and variances, each channel by itself. The difference from the mean
// comes first: folded into one factor and one offset, values near a large mean would lose digits.
// x is [outer, channels, inner]; on processors a workgroup has a part of a row of inner, of one channel.
// form batch_norm
// form batch_norm_lanes WEFT_LANES

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"

#ifdef WEFT_LANES
layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(constant_id = 64) const uint FIXED_PART = 2048;

layout(local_size_x_id = 17) in;
#else
layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
#endif
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
    uint inner;
    uint channels;
    float epsilon;
    WEFT_INVERSE(inner)
    WEFT_INVERSE(channels)
} push;

float factor_of(uint c)
{
    return weft_rsqrt(variance[c] + push.epsilon);
}

void normalize(uint i, uint c, float factor)
{
    float value = (x[i] - mean[c]) * factor;
    if (HAS_GAMMA != 0) {
        value = value * gamma[c];
    }
    if (HAS_BETA != 0) {
        value = value + beta[c];
    }
    result[i] = weft_flush(value);
}

#ifdef WEFT_LANES

void main()
{
    uint parts = (push.inner - 1) / FIXED_PART + 1;
    uint group = weft_group_index(push.groups_x);
    uint line = group / parts;
    uint begin = group % parts * FIXED_PART;
    uint end = min(begin + FIXED_PART, push.inner);
    if (line >= push.count / push.inner) {
        return;
    }
    uint c = line % push.channels;
    float factor = factor_of(c);
    uint at = line * push.inner + gl_LocalInvocationIndex;
    for (; begin + TILE_LANES <= end; begin += TILE_LANES) {
        normalize(at + begin, c, factor);
    }
    if (begin + gl_LocalInvocationIndex < end) {
        normalize(at + begin, c, factor);
    }
}

#else

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        uint c = WEFT_REMAINDER(WEFT_QUOTIENT(i, inner), channels);
        normalize(i, c, factor_of(c));
    }
}

#endif
