#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Product of int8 by int8 by cooperative matrices, in every mode: subgroups multiply matrices of bytes whose shape the device has
// (TILE_M×TILE_N, along k TILE_K at once) and add them up in int32. Whatever the order, and wherever a subgroup has which element, the sums are
// the same. A workgroup of 128 makes TILE_ROWS×TILE_COLUMNS elements from tiles of TILE_DEPTH bytes along k. b's panels are transposed on their
// way into shared memory, where the bytes of a column lie beside each other.
//
// Written with GL_NV_cooperative_matrix: cooperative.comp.

#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_NV_cooperative_matrix : require
#extension GL_NV_integer_cooperative_matrix : require

#include "matmul_int8.glsl"

layout(constant_id = 16) const uint TILE_M = 16;
layout(constant_id = 17) const uint TILE_N = 16;
layout(constant_id = 18) const uint TILE_K = 16;
layout(constant_id = 19) const uint TILE_SUBGROUP = 32; // invocations of a subgroup: 8 to 64, a power of two
layout(constant_id = 20) const uint TILE_ROWS = 64;     // a multiple of DOWN × TILE_M (below) and of STEP
layout(constant_id = 21) const uint TILE_COLUMNS = 64;  // a multiple of ACROSS × TILE_N, and 64 or 128
layout(constant_id = 22) const uint TILE_DEPTH = 64;    // a multiple of TILE_K, and 32, 64 or 128

layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer AFours { uvec4 a4[]; };
layout(std430, binding = 1) readonly buffer BFours { uvec4 b4[]; };

const uint INVOCATIONS = 128;

// How the subgroups share the tile, and of how many matrices each makes its part.
const uint SUBGROUPS = INVOCATIONS / TILE_SUBGROUP;
const uint DOWN = SUBGROUPS >= 16 ? 4 : SUBGROUPS >= 4 ? 2 : 1;
const uint ACROSS = SUBGROUPS / DOWN;
const uint HIGH = TILE_ROWS / (DOWN * TILE_M);
const uint WIDE = TILE_COLUMNS / (ACROSS * TILE_N);

// Rows of a, then columns of b, in eights of bytes along k. Two more behind each keep neighbours in different banks. In the end, a patch of
// sums for each subgroup.
const uint STRIDE = TILE_DEPTH / 8 + 2;
const uint FIRST_OF_B = TILE_ROWS * STRIDE;
shared uvec2 tile[(TILE_ROWS + TILE_COLUMNS) * STRIDE];

// What an invocation loads of a: sixteen bytes of every STEP-th row; and of b: blocks of sixteen bytes of four columns.
const uint SIXTEENS = TILE_DEPTH / 16;
const uint STEP = INVOCATIONS / SIXTEENS;
const uint ROWS_OF_A = TILE_ROWS / STEP;
const uint ACROSS_B = TILE_COLUMNS / 4;
const uint BLOCKS = ACROSS_B * SIXTEENS;
const uint BLOCKS_OF_B = (BLOCKS + INVOCATIONS - 1) / INVOCATIONS;

uint at_a[ROWS_OF_A];
uint at_b[BLOCKS_OF_B];

#define SUM_OF icoopmatNV<32, gl_ScopeSubgroup, TILE_M, TILE_N>

// What was written to shared memory before is there to be read after, as in cooperative.comp.
void meet()
{
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

bool is_block(uint block)
{
    return BLOCKS % INVOCATIONS == 0 || block < BLOCKS;
}

// Where a's row and b's columns begin, in words and in fours of words. Beyond the last row and the last panel, those are loaded.
void find_places(uint top, uint left)
{
    uint lane = gl_LocalInvocationIndex;
    uint last_panel = (push.n - 1) / WEFT_PANEL;
    [[unroll]] for (uint i = 0; i < ROWS_OF_A; i++) {
        at_a[i] = min(top + lane / SIXTEENS + i * STEP, push.m - 1) * push.words;
    }
    [[unroll]] for (uint i = 0; i < BLOCKS_OF_B; i++) {
        uint column = left + (lane + i * INVOCATIONS) % ACROSS_B * 4;
        at_b[i] = (weft_b_step(min(column / WEFT_PANEL, last_panel), 0) + column % WEFT_PANEL) / 4;
    }
}

void put(uint at, uvec4 words)
{
    tile[at] = words.xy;
    tile[at + 1] = words.zw;
}

// From word `first` on. Beyond the last word b has zeros, so that it does not matter what a has there.
void load_tiles(uint first)
{
    uint lane = gl_LocalInvocationIndex;
    uint word_of_a = first + lane % SIXTEENS * 4;
    uvec4 x[ROWS_OF_A];
    uvec4 y[4 * BLOCKS_OF_B];
    bool whole = first + TILE_DEPTH / 4 <= push.words;
    [[unroll]] for (uint i = 0; i < ROWS_OF_A; i++) {
        if (whole && push.words % 4 == 0) {
            x[i] = a4[(at_a[i] + word_of_a) / 4];
        } else {
            [[unroll]] for (uint j = 0; j < 4; j++) {
                x[i][j] = a[at_a[i] + min(word_of_a + j, push.words - 1)];
            }
        }
    }
    [[unroll]] for (uint i = 0; i < BLOCKS_OF_B; i++) {
        uint block = lane + i * INVOCATIONS;
        uint word = first + block / ACROSS_B * 4;
        [[unroll]] for (uint j = 0; j < 4; j++) {
            y[4 * i + j] = uvec4(0);
        }
        if (is_block(block) && whole) {
            [[unroll]] for (uint j = 0; j < 4; j++) {
                y[4 * i + j] = b4[at_b[i] + (word + j) * (WEFT_PANEL / 4)];
            }
        } else if (is_block(block)) {
            [[unroll]] for (uint j = 0; j < 4; j++) {
                if (word + j < push.words) {
                    y[4 * i + j] = b4[at_b[i] + (word + j) * (WEFT_PANEL / 4)];
                }
            }
        }
    }
    [[unroll]] for (uint i = 0; i < ROWS_OF_A; i++) {
        put((lane / SIXTEENS + i * STEP) * STRIDE + lane % SIXTEENS * 2, x[i]);
    }
    [[unroll]] for (uint i = 0; i < BLOCKS_OF_B; i++) {
        uint block = lane + i * INVOCATIONS;
        if (is_block(block)) {
            [[unroll]] for (uint j = 0; j < 4; j++) {
                put(FIRST_OF_B + (block % ACROSS_B * 4 + j) * STRIDE + block / ACROSS_B * 2,
                    uvec4(y[4 * i][j], y[4 * i + 1][j], y[4 * i + 2][j], y[4 * i + 3][j]));
            }
        }
    }
}

// A matrix of each subgroup's sums, from the patches that they have written. Where its elements were before is the device's own.
void store_patches(uint top, uint left, uint i, uint j)
{
    const uint PATCH = TILE_M * TILE_N;
    for (uint pair = gl_LocalInvocationIndex; pair < SUBGROUPS * PATCH / 2; pair += INVOCATIONS) {
        uint subgroup = 2 * pair / PATCH;
        uint row = top + (subgroup / ACROSS * HIGH + i) * TILE_M + 2 * pair % PATCH / TILE_N;
        uint column = left + (subgroup % ACROSS * WIDE + j) * TILE_N + 2 * pair % TILE_N;
        ivec2 sum = ivec2(tile[pair]);
        weft_store(row, column, sum.x);
        weft_store(row, column + 1, sum.y);
    }
}

void main()
{
    uint top = gl_WorkGroupID.y * TILE_ROWS;
    uint left = gl_WorkGroupID.x * TILE_COLUMNS;
    uint rows = gl_SubgroupID / ACROSS * HIGH * TILE_M * STRIDE;
    uint columns = FIRST_OF_B + gl_SubgroupID % ACROSS * WIDE * TILE_N * STRIDE;
    find_places(top, left);
    SUM_OF sums[HIGH * WIDE];
    [[unroll]] for (uint i = 0; i < HIGH * WIDE; i++) {
        sums[i] = SUM_OF(0);
    }
    for (uint first = 0; first < push.words; first += TILE_DEPTH / 4) {
        load_tiles(first);
        meet();
        [[unroll]] for (uint t = 0; t < TILE_DEPTH; t += TILE_K) {
            icoopmatNV<8, gl_ScopeSubgroup, TILE_M, TILE_K> x[HIGH];
            [[unroll]] for (uint i = 0; i < HIGH; i++) {
                coopMatLoadNV(x[i], tile, rows + i * TILE_M * STRIDE + t / 8, STRIDE, false);
            }
            [[unroll]] for (uint j = 0; j < WIDE; j++) {
                icoopmatNV<8, gl_ScopeSubgroup, TILE_K, TILE_N> y;
                coopMatLoadNV(y, tile, columns + j * TILE_N * STRIDE + t / 8, STRIDE, true);
                [[unroll]] for (uint i = 0; i < HIGH; i++) {
                    sums[j * HIGH + i] = coopMatMulAddNV(x[i], y, sums[j * HIGH + i]);
                }
            }
        }
        meet();
    }
    // One after the other, with little code; and none is chosen by a variable, for which compilers would put all into memory.
    [[dont_unroll]] for (uint at = 0; at < HIGH * WIDE; at++) {
        [[unroll]] for (uint i = 0; i < HIGH * WIDE; i++) {
            if (i == at) {
                coopMatStoreNV(sums[i], tile, gl_SubgroupID * TILE_M * TILE_N / 2, TILE_N / 2, false);
            }
        }
        meet();
        store_patches(top, left, at % HIGH, at / HIGH);
        meet();
    }
}
