#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The planes that conv/flat.comp reads: those of x with zeros around them, each in stride_y · stride_x parts. A part has what the
// first elements of windows read, the next what the second ones do, and so on: windows side by side read words side by side,
// and those below each other words a line apart.

#include "index.glsl"

layout(constant_id = 0) const uint STRIDE_X = 0; // stride_x where it is small: processors then load what lies so far apart at once

layout(local_size_x = 32, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint lines; // of all parts of all planes
    uint rows;  // of a part
    uint first; // of them in the parts of whole planes
    uint pitch; // of its lines, in words
    uint stride_y;
    uint stride_x;
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
    uint part = line / push.rows;
    uint part_x = part % push.stride_x;
    uint part_y = part / push.stride_x % push.stride_y;
    uint plane = part / push.stride_x / push.stride_y;
    uint y = (push.first + line % push.rows) * push.stride_y + part_y - push.before_y;
    uint from = (plane * push.height + y) * push.width;
    uint width = y < push.height ? push.width : 0;
    uint apart = gl_LocalInvocationID.x * push.stride_x;
    if (STRIDE_X != 0) {
        apart = gl_LocalInvocationID.x * STRIDE_X;
    }
    for (uint first = 0; first < push.pitch; first += gl_WorkGroupSize.x) {
        uint i = first + gl_LocalInvocationID.x;
        uint base = first * push.stride_x + part_x - push.before_x;
        uint at = base + apart;
        uint word = 0;
        if (base < width && base + (gl_WorkGroupSize.x - 1) * push.stride_x < width) {
            word = x[from + at];
        } else if (at < width) {
            word = x[from + at];
        }
        if (i < push.pitch) {
            result[line * push.pitch + i] = word;
        }
    }
}
