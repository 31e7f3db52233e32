// SPDX-License-Identifier: MIT
//
// What the kernels that do the work of fast_weight/update.comp are given. Where one has no use for a constant, it does not read it.

layout(constant_id = 0) const uint VECTOR_FEATURES = 0;
layout(constant_id = 1) const uint VECTOR_VALUES = 0;

layout(std430, binding = 0) readonly buffer W { float w[]; };
layout(std430, binding = 0) readonly buffer WVector { vec4 w4[]; };
layout(std430, binding = 1) readonly buffer State { float state[]; };
#ifndef WEFT_LANES
layout(std430, binding = 1) readonly buffer StateVector { vec4 state4[]; };
#endif
layout(std430, binding = 2) buffer U { float u[]; };
#ifdef WEFT_TILED
layout(std430, binding = 2) buffer UVector { vec4 u4[]; };
#endif

layout(push_constant) uniform Push
{
    uint count; // of tiles
    uint groups_x;
    uint n;
    uint heads;
    uint features;
    uint values;
    uint chunks;
} push;
