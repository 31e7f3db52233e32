// SPDX-License-Identifier: MIT
//
// What the kernels that do the work of fast_weight/solve.comp are given. Where one has no use for a constant, it does not read it.

layout(constant_id = 0) const uint VECTOR_FEATURES = 0;

layout(std430, binding = 0) readonly buffer Keys { float keys[]; };
layout(std430, binding = 0) readonly buffer KeysVector { vec4 keys4[]; };
layout(std430, binding = 1) readonly buffer Values { float values[]; };
layout(std430, binding = 2) readonly buffer Beta { float beta[]; };
layout(std430, binding = 3) buffer W { float w[]; };
layout(std430, binding = 4) buffer U { float u[]; };

layout(push_constant) uniform Push
{
    uint groups; // chunks of all heads
    uint n;
    uint groups_x;
    uint heads;
    uint features;
    uint values;
} push;

float weft_query(uint index)
{
    return keys[index];
}

#if defined(WEFT_TILED)
vec4 weft_query_four(uint index)
{
    return keys4[index / 4];
}
#elif !defined(WEFT_LANES)
vec4 weft_query_four(uint index)
{
    if (VECTOR_FEATURES != 0) {
        return keys4[index / 4];
    }
    return vec4(keys[index], keys[index + 1], keys[index + 2], keys[index + 3]);
}
#endif
