#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Planes with their padding, for convolutions that read them without looking where: `rows` lines for each plane of x. Zeros around
// it, on the right as many as the last invocations of a line read. Of each line first what the first elements of windows read, then
// what the second ones do, and so on for `stride` parts of `pitch` words: windows side by side read words side by side.

#include "index.glsl"

layout(constant_id = 0) const uint STRIDED = 0; // the stride is not 1

layout(local_size_x = 32, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint lines; // of all planes
    uint rows;
    uint pitch;
    uint stride;
    uint height; // of x
    uint width;
    uint before_y;
    uint before_x;
} push;

void main()
{
    uint line = weft_group_index(push.groups_x) * gl_WorkGroupSize.y + gl_LocalInvocationID.y;
    if (line >= push.lines) {
        return;
    }
    uint y = line % push.rows - push.before_y;
    uint from = (line / push.rows * push.height + y) * push.width;
    uint width = y < push.height ? push.width : 0;
    for (uint part = 0; part < push.stride; part++) {
        for (uint i = gl_LocalInvocationID.x; i < push.pitch; i += gl_WorkGroupSize.x) {
            uint column = i;
            if (STRIDED != 0) {
                column = i * push.stride;
            }
            uint at = column + part - push.before_x;
            uint word = 0;
            if (at < width) {
                word = x[from + at];
            }
            result[(line * push.stride + part) * push.pitch + i] = word;
        }
    }
}
