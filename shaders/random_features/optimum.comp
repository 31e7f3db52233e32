#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// OPRF's parameters for each sequence and head, from the chunks' moments of x and y: a workgroup each.
// With z the mean of |x_i + y_j|^2 over all pairs and S = sqrt((2 z + d)^2 + 8 d z), Likhosherstov et
// al.'s rho = (S - 2 z - d) / (4 z) is 2 d / (S + 2 z + d), so A = (1 - 1/rho) / 8 is
// -((4 z^2 + 12 d z) / (S + d) + 2 z) / (16 d), without their cancellations. The result is A,
// B = sqrt(1 - 4 A) and ln D = d/4 ln(1 - 4 A).

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;

layout(constant_id = 0) const uint HAS_X_LENGTHS = 0;
layout(constant_id = 1) const uint HAS_Y_LENGTHS = 0;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Y { float y[]; };
layout(std430, binding = 2) writeonly buffer Result { float result[]; };
layout(std430, binding = 3) readonly buffer XLengths { int x_lengths[]; }; // tokens of each sequence
layout(std430, binding = 4) readonly buffer YLengths { int y_lengths[]; };

layout(push_constant) uniform Push
{
    uint rows; // batch * heads
    uint width;
    uint groups_x;
    uint x_chunks;
    uint y_chunks;
    float x_share; // 1 / tokens, without lengths
    float y_share;
    uint heads;
} push;

float x_share(uint row)
{
    return HAS_X_LENGTHS != 0 ? weft_rcp(float(x_lengths[row / push.heads])) : push.x_share;
}

float y_share(uint row)
{
    return HAS_Y_LENGTHS != 0 ? weft_rcp(float(y_lengths[row / push.heads])) : push.y_share;
}

float x_mean(uint row, uint c)
{
    weft_partial sum = weft_partial_zero();
    for (uint i = 0; i < push.x_chunks; i++) {
        sum = weft_partial_add(sum, x[(row * push.x_chunks + i) * (push.width + 1u) + c]);
    }
    return weft_partial_sum(sum) * x_share(row);
}

float y_mean(uint row, uint c)
{
    weft_partial sum = weft_partial_zero();
    for (uint i = 0; i < push.y_chunks; i++) {
        sum = weft_partial_add(sum, y[(row * push.y_chunks + i) * (push.width + 1u) + c]);
    }
    return weft_partial_sum(sum) * y_share(row);
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    weft_partial own = weft_partial_zero();
    for (uint c = gl_LocalInvocationID.x; c < push.width; c += WEFT_GROUP_SIZE) {
        own = weft_partial_add_product(own, x_mean(row, c), y_mean(row, c));
    }
    float product = weft_group_sum(weft_partial_sum(own));
    if (gl_LocalInvocationID.x == 0) {
        float d = float(push.width);
        float z = (x_mean(row, push.width) + y_mean(row, push.width)) + weft_twice(product);
        z = z < 0.0f ? 0.0f : z; // by rounding: y = -x
        float twice_z = weft_twice(z);
        float sum = twice_z + d;
        float root = weft_sqrt(sum * sum + 8.0f * d * z);
        float quotient = weft_div(4.0f * z * (z + 3.0f * d), root + d);
        float a = -weft_div(quotient + twice_z, 16.0f * d);
        float b_square = 1.0f - weft_twice(weft_twice(a));
        result[3u * row] = a;
        result[3u * row + 1u] = weft_sqrt(b_square);
        result[3u * row + 2u] = 0.25f * d * weft_log(b_square);
    }
}
