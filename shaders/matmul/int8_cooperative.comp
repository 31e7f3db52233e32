#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
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

#define SUM_OF icoopmatNV<32, gl_ScopeSubgroup, TILE_M, TILE_N>

// What was written to shared memory before is there to be read after, as in cooperative.comp.
void meet()
{
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

// Four words of a row of a, which begins at `base` and may end before them: what b has there are zeros.
uvec4 load_a(uint base, uint word)
{
    if (push.words % 4 == 0) {
        return a4[(base + min(word, push.words - 4)) / 4];
    }
    uvec4 found;
    for (uint j = 0; j < 4; j++) {
        found[j] = a[base + min(word + j, push.words - 1)];
    }
    return found;
}

void put(uint at, uvec4 words)
{
    tile[at] = words.xy;
    tile[at + 1] = words.zw;
}

bool is_block(uint block)
{
    return BLOCKS % INVOCATIONS == 0 || block < BLOCKS;
}

void copy_tiles(uint top, uint left, uint first)
{
    uint lane = gl_LocalInvocationIndex;
    uint panels = (push.n + WEFT_PANEL - 1) / WEFT_PANEL;
    uvec4 x[ROWS_OF_A];
    uvec4 y[4 * BLOCKS_OF_B];
    [[unroll]] for (uint i = 0; i < ROWS_OF_A; i++) {
        uint row = min(top + lane / SIXTEENS + i * STEP, push.m - 1);
        x[i] = load_a(row * push.words, first + lane % SIXTEENS * 4);
    }
    [[unroll]] for (uint i = 0; i < BLOCKS_OF_B; i++) {
        uint block = lane + i * INVOCATIONS;
        uint column = left + block % ACROSS_B * 4;
        uint panel = weft_b_step(min(column / WEFT_PANEL, panels - 1), 0) + column % WEFT_PANEL;
        if (is_block(block)) {
            [[unroll]] for (uint j = 0; j < 4; j++) {
                uint word = min(first + block / ACROSS_B * 4 + j, push.words - 1);
                y[4 * i + j] = b4[(panel + word * WEFT_PANEL) / 4];
            }
        }
    }
    if (first + TILE_DEPTH / 4 > push.words) {
        [[unroll]] for (uint i = 0; i < 4 * BLOCKS_OF_B; i++) {
            uint word = first + (lane + i / 4 * INVOCATIONS) / ACROSS_B * 4 + i % 4;
            y[i] = word < push.words ? y[i] : uvec4(0);
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
    SUM_OF sums[HIGH * WIDE];
    [[unroll]] for (uint i = 0; i < HIGH * WIDE; i++) {
        sums[i] = SUM_OF(0);
    }
    for (uint first = 0; first < push.words; first += TILE_DEPTH / 4) {
        copy_tiles(top, left, first);
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
    [[unroll]] for (uint j = 0; j < WIDE; j++) {
        [[unroll]] for (uint i = 0; i < HIGH; i++) {
            coopMatStoreNV(sums[j * HIGH + i], tile, gl_SubgroupID * TILE_M * TILE_N / 2, TILE_N / 2, false);
            meet();
            store_patches(top, left, i, j);
            meet();
        }
    }
}
