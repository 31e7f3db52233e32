#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// scale · exp(b - its largest) of one head for each workgroup: a row of lags in ascending order, or,
// CIRCULANT, the first column of the circulant matrix that the Toeplitz matrix of the first tokens is
// embedded in: lags 0 … reach-1, zeros, and, when there are negative ones, lags -(reach-1) … -1.

#include "index.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(local_size_x = WEFT_GROUP_SIZE) in;
layout(constant_id = 0) const uint CIRCULANT = 0;

layout(std430, binding = 0) readonly buffer Bias { float bias[]; }; // [given lags, heads]
layout(std430, binding = 1) writeonly buffer Weights { float weights[]; }; // [heads, columns]

layout(push_constant) uniform Push
{
    uint heads;
    uint columns;
    uint groups_x;
    uint first_lag; // the row of the first lag in use
    uint lags; // in use
    uint zero; // the number of lag 0 among these
    uint reach; // CIRCULANT: tokens that the matrix is for
    float scale;
} push;

void main()
{
    uint head = weft_group_index(push.groups_x);
    if (head >= push.heads) {
        return;
    }
    uint base = push.first_lag * push.heads + head;
    float own = uintBitsToFloat(0xff800000u); // -inf
    for (uint lag = gl_LocalInvocationID.x; lag < push.lags; lag += WEFT_GROUP_SIZE) {
        own = weft_larger(own, bias[base + lag * push.heads]);
    }
    float largest = weft_group_max(own);
    for (uint p = gl_LocalInvocationID.x; p < push.columns; p += WEFT_GROUP_SIZE) {
        uint lag = p;
        bool there = true;
        if (CIRCULANT != 0) {
            uint back = push.columns - p; // of a negative lag: its distance
            bool positive = p < push.reach;
            there = positive || (push.zero != 0 && back < push.reach);
            lag = positive ? push.zero + p : (there ? push.zero - back : 0u);
        }
        float weight = weft_exp(bias[base + lag * push.heads] - largest);
        weights[head * push.columns + p] = there ? weft_flush(push.scale * weight) : 0.0;
    }
}
