// SPDX-License-Identifier: MIT
//
// What the shaders of hybrid random features share: a row is one head of one token.

#ifndef WEFT_INCLUDE_HYBRID_FEATURES_GLSL
#define WEFT_INCLUDE_HYBRID_FEATURES_GLSL

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Projection { float projection[]; }; // w x

layout(push_constant) uniform Push
{
    uint rows;    // batch * tokens * heads
    uint columns; // rows of w
    uint groups_x;
    uint width; // of a head
    uint heads;
    uint tokens;
    float scale;
    uint directions;
    float share; // 1 / sqrt(2 directions)
} push;

// Half of the squared length of a row; contains barriers.
float half_square(uint row)
{
    weft_partial own = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.width; c += WEFT_GROUP_SIZE) {
        float scaled = push.scale * x[row * push.width + c];
        own = weft_partial_add_product(own, scaled, scaled);
    }
    return 0.5f * weft_group_sum(weft_partial_sum(own));
}

// The largest exponent of a row, that of the waves' size included; contains barriers.
float largest_exponent(uint row, float half_length)
{
    float own = half_length;
    for (uint f = gl_LocalInvocationID.x; f < push.columns; f += WEFT_GROUP_SIZE) {
        own = weft_larger(own, projection[row * push.columns + f] - half_length);
    }
    return weft_group_max(own);
}

#endif
