// SPDX-License-Identifier: MIT
//
// What the kernels that do the work of linear_attention/state.comp are given. Where one has no use for a constant, it does not read it.

layout(constant_id = 0) const uint ONES = 0;
layout(constant_id = 1) const uint VECTOR_FEATURES = 0; // whole, aligned fours in every row
layout(constant_id = 2) const uint VECTOR_VALUES = 0;

layout(std430, binding = 0) readonly buffer Features { float features[]; };
layout(std430, binding = 0) readonly buffer FeaturesVector { vec4 features4[]; };
layout(std430, binding = 1) readonly buffer Values { float values[]; };
#ifndef WEFT_LANES
layout(std430, binding = 1) readonly buffer ValuesVector { vec4 values4[]; };
#endif
layout(std430, binding = 2) writeonly buffer State { float state[]; };
#ifdef WEFT_TILED
layout(std430, binding = 2) writeonly buffer StateVector { vec4 state4[]; };
#endif

layout(push_constant) uniform Push
{
    uint count; // of tiles
    uint groups_x;
    uint n;
    uint heads;
    uint features;
    uint values;
    uint chunk; // tokens
    uint chunks;
} push;
