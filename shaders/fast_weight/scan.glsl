// SPDX-License-Identifier: MIT
//
// What the kernels that do the work of fast_weight/scan.comp are given, behind the constant VECTOR_FEATURES.

layout(std430, binding = 0) readonly buffer G { float g[]; };
layout(std430, binding = 0) readonly buffer GVector { vec4 g4[]; };
layout(std430, binding = 1) buffer N { float state[]; };

layout(push_constant) uniform Push
{
    uint groups; // heads of all batches, times column blocks
    uint features;
    uint groups_x;
    uint values;
    uint chunks;
    uint column_blocks;
} push;

vec4 load_g(uint base, uint from, uint row)
{
    uint first = base + from * push.features;
    if (VECTOR_FEATURES != 0) {
        return g4[(first + row) / 4];
    }
    uvec4 index = first + min(row + uvec4(0, 1, 2, 3), uvec4(push.features - 1));
    return vec4(g[index.x], g[index.y], g[index.z], g[index.w]);
}
