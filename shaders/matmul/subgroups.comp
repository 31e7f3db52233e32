#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// Matrix product by tiles whose rows of a all invocations of a subgroup read alike. Compilers for Intel's GPUs load such things
// once for a subgroup, sixteen at a time, and multiply by them where they lie: of all that a matrix product issues there, its
// reads of a and their addresses are what can be saved. So rows belong to subgroups, which fast mode may choose; reproducible
// mode has no row with this kernel.

#ifdef WEFT_MATH_FAST
#extension GL_KHR_shader_subgroup_basic : require
#endif

#define WEFT_FOURS_OF_TILE_A (TILE_ROWS * TILE_DEPTH / 4) // as in memory: of each row TILE_DEPTH along k

#include "matmul_tiles.glsl"

layout(constant_id = 20) const uint TILE_SUBGROUP = 8; // invocations of a subgroup, 8 or 16; all subgroups are full

#ifdef WEFT_MATH_FAST

const uint SUBGROUPS_OF_A_ROW = 16 / TILE_SUBGROUP;

uint column_lane()
{
    return gl_SubgroupID % SUBGROUPS_OF_A_ROW * TILE_SUBGROUP + gl_SubgroupInvocationID;
}

uint row_lane()
{
    return gl_SubgroupID / SUBGROUPS_OF_A_ROW;
}

#else

uint column_lane()
{
    return gl_LocalInvocationID.x;
}

uint row_lane()
{
    return gl_LocalInvocationID.y;
}

#endif

void find_place_of_a(uint row, uint step) {} // fours lie side by side as their invocations do

void store_a(uint i, vec4 x)
{
    tile_a[gl_LocalInvocationIndex + i * INVOCATIONS] = x;
}

#define MULTIPLY_TILE(multiply_add)                                                                \
    vec4 x[ROWS * TILE_DEPTH / 4];                                                                 \
    [[unroll]] for (uint i = 0; i < ROWS * TILE_DEPTH / 4; i++) {                                  \
        x[i] = read_a(row_lane() * (ROWS * TILE_DEPTH / 4) + i);                                   \
    }                                                                                              \
    [[unroll]] for (uint t = 0; t < TILE_DEPTH; t++) {                                             \
        [[unroll]] for (uint f = 0; f < FOURS; f++) {                                              \
            vec4 y = read_b(t, f);                                                                 \
            [[unroll]] for (uint i = 0; i < ROWS; i++) {                                           \
                float a = x[i * (TILE_DEPTH / 4) + t / 4][t % 4];                                  \
                sum[ROWS * f + i] = multiply_add(a, y, sum[ROWS * f + i]);                         \
            }                                                                                      \
        }                                                                                          \
    }

#include "matmul_tiles_main.glsl"
