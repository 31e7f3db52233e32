#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// Matrix product by tiles whose rows of a are side by side, so that an invocation reads four of them at once (8.5 KiB of
// shared memory as the tiles are).

// From one step of k to the next in the tile of a. The padding spreads the transposed stores over the banks.
#define PITCH_OF_A           (TILE_ROWS / 4 + 1)
#define WEFT_FOURS_OF_TILE_A (TILE_DEPTH * PITCH_OF_A)

#include "matmul_tiles.glsl"

uint column_lane()
{
    return gl_LocalInvocationID.x;
}

uint row_lane()
{
    return gl_LocalInvocationID.y;
}

// One of an invocation's fours is a component of four vectors.
uint place_of_a, part_of_a;

void find_place_of_a(uint row, uint step)
{
    place_of_a = step * PITCH_OF_A + row / 4;
    part_of_a = row % 4;
}

void store_a(uint i, vec4 x)
{
    [[unroll]] for (uint j = 0; j < 4; j++) {
        tile_a[place_of_a + j * PITCH_OF_A + i * STEP_OF_A / 4][part_of_a] = x[j];
    }
}

#define MULTIPLY_TILE(multiply_add)                                                                \
    [[unroll]] for (uint t = 0; t < TILE_DEPTH; t++) {                                             \
        vec4 x[ROWS / 4];                                                                          \
        [[unroll]] for (uint i = 0; i < ROWS / 4; i++) {                                           \
            x[i] = read_a(t * PITCH_OF_A + row_lane() * (ROWS / 4) + i);                           \
        }                                                                                          \
        [[unroll]] for (uint f = 0; f < FOURS; f++) {                                              \
            vec4 y = read_b(t, f);                                                                 \
            [[unroll]] for (uint i = 0; i < ROWS; i++) {                                           \
                sum[ROWS * f + i] = multiply_add(x[i / 4][i % 4], y, sum[ROWS * f + i]);           \
            }                                                                                      \
        }                                                                                          \
    }

#include "matmul_tiles_main.glsl"
