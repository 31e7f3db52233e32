#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The words of a where condition is not 0, else those of b.

#include "broadcast.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer Condition { uint condition[]; };
layout(std430, binding = 1) readonly buffer A { uint a[]; };
layout(std430, binding = 2) readonly buffer B { uint b[]; };
layout(std430, binding = 3) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    WEFT_BROADCAST_PUSH
    uint condition_has;
    uint a_has;
    uint b_has;
} push;

WEFT_PLACES

void main()
{
    uint i;
    uvec3 at;
    if (weft_places(i, at, uvec3(push.condition_has, push.a_has, push.b_has))) {
        result[i] = condition[at.x] != 0u ? a[at.y] : b[at.z];
    }
}
