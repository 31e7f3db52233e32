#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// An activation function on every element.

#include "activation.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const int KIND = WEFT_ACTIVATION_NONE;
layout(constant_id = 1) const bool ALL_FOURS = false; // count is a multiple of 4
layout(constant_id = 16) const uint TILE_ITEMS = 1;   // elements of an invocation: 1 or 4

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 0) readonly buffer XVector { vec4 x4[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };
layout(std430, binding = 1) writeonly buffer ResultVector { vec4 result4[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
} push;

void activate_element(uint i)
{
    result[i] = weft_activate(KIND, x[i]);
}

void activate_four(uint i)
{
    vec4 four = x4[i];
    result4[i] = vec4(weft_activate(KIND, four.x), weft_activate(KIND, four.y), weft_activate(KIND, four.z),
                      weft_activate(KIND, four.w));
}

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (TILE_ITEMS == 1) {
        if (i < push.count) {
            activate_element(i);
        }
        return;
    }
    if (i < push.count / 4) {
        activate_four(i);
    } else if (!ALL_FOURS) {
        [[dont_unroll]] for (uint rest = 4 * i; rest < push.count; rest++) {
            activate_element(rest);
        }
    }
}
