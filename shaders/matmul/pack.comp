#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The right-hand sides of products in panels: PANEL columns side by side, one step of k behind the other; zeros fill up the last
// panel. For processors: a workgroup is one subgroup, with columns along the lanes, and packs some steps of a panel.

layout(constant_id = 0) const uint HAS_LENGTHS = 0; // steps from a sequence's length on are zeros
layout(constant_id = 1) const uint PANEL = 64;      // columns
layout(constant_id = 2) const uint VECTOR = 0;      // elements along k are contiguous, and all fours aligned
layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(constant_id = 64) const uint FIXED_STEPS = 64;

layout(local_size_x_id = 17) in;

layout(std430, binding = 0) readonly buffer B { uint b[]; };
layout(std430, binding = 0) readonly buffer BVector { uvec4 b4[]; };
layout(std430, binding = 1) readonly buffer Lengths { int lengths[]; };
layout(std430, binding = 2) writeonly buffer Panels { uint panels[]; };

// A matrix is (z / inner, z % inner), with a stride for each part.
layout(push_constant) uniform Push
{
    uint n;
    uint k;
    uint count; // of panels of a matrix
    uint inner;
    uint b_outer;
    uint b_inner;
    uint b_row;
    uint b_column;
} push;

void main()
{
    uint z = gl_WorkGroupID.z;
    uint first = gl_WorkGroupID.x * PANEL;
    uint begin = gl_WorkGroupID.y * FIXED_STEPS;
    uint end = min(begin + FIXED_STEPS, push.k);
    uint visible = push.k;
    if (HAS_LENGTHS != 0) {
        visible = uint(max(lengths[z / push.inner], 0));
    }
    uint from = z / push.inner * push.b_outer + z % push.inner * push.b_inner;
    uint to = (z * push.count + gl_WorkGroupID.x) * push.k * PANEL;
    for (uint c = 0; c < PANEL; c += TILE_LANES) {
        uint column = first + c + gl_LocalInvocationIndex;
        uint at = from + min(column, push.n - 1) * push.b_column;
        uint step = begin;
        if (VECTOR != 0) {
            for (; step + 4 <= end; step += 4) {
                uvec4 four = b4[(at + step) / 4];
                for (uint i = 0; i < 4; i++) {
                    panels[to + (step + i) * PANEL + c + gl_LocalInvocationIndex] =
                        column < push.n && step + i < visible ? four[i] : 0;
                }
            }
        }
        for (; step < end; step++) {
            uint word = b[at + step * push.b_row];
            panels[to + step * PANEL + c + gl_LocalInvocationIndex] = column < push.n && step < visible ? word : 0;
        }
    }
}
