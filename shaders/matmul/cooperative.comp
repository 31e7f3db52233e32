#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// Matrix product by cooperative matrices, for fast mode: subgroups multiply matrices of f16 whose shape the device has
// (TILE_M×TILE_N, along k TILE_K at once) and add them up in f32. A workgroup of 128 makes TILE_ROWS×TILE_COLUMNS
// elements from tiles of TILE_DEPTH along k. b is a constant that is kept as f16, with its elements along k beside each other.
//
// a is f32 and is rounded to f16 on its way into shared memory. f16 ends at 65504 and has all its bits from 2^-14 on, so
// each row is multiplied by a power of two first, by which its sums are divided again. That power comes from the first tile,
// whose largest element it brings to 2^7 at least, and what follows may be 256 times as large. Where something in the rows of a
// workgroup is larger still, the rows are looked through to their ends, and everything is multiplied again. So a row may be as
// large or as small as f32 allows, and of a row all elements down to 2^-21 of its largest are off by no more than 2^-11 of
// themselves, as those of weights are.
//
// Written with GL_NV_cooperative_matrix, which older compilers know, too; runtime/spirv/cooperative.c makes
// SPV_KHR_cooperative_matrix of it, which differs in its operands only.

#ifdef WEFT_MATH_FAST
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_NV_cooperative_matrix : require
#endif

#include "matmul.glsl"

layout(constant_id = 16) const uint TILE_M = 16;
layout(constant_id = 17) const uint TILE_N = 16;
layout(constant_id = 18) const uint TILE_K = 16;
layout(constant_id = 19) const uint TILE_SUBGROUP = 32; // invocations of a subgroup: 8 to 64, a power of two
layout(constant_id = 20) const uint TILE_ROWS = 64;     // a multiple of DOWN × TILE_M (below) and of STEP
layout(constant_id = 21) const uint TILE_COLUMNS = 64;  // a multiple of ACROSS × TILE_N and of STEP
layout(constant_id = 22) const uint TILE_DEPTH = 32;    // a multiple of TILE_K, and 8, 16, 32 or 64

layout(local_size_x = 128) in;

const uint INVOCATIONS = 128;

#ifndef WEFT_MATH_FAST

// By definition. Reproducible mode has no row with this kernel, but each kernel has both modules.
void main()
{
    uint a_base = weft_batch_offset(push.a_outer, push.a_inner);
    uint b_base = weft_batch_offset(push.b_outer, push.b_inner);
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    for (uint at = gl_LocalInvocationIndex; at < TILE_ROWS * TILE_COLUMNS; at += INVOCATIONS) {
        uint row = gl_WorkGroupID.y * TILE_ROWS + at / TILE_COLUMNS;
        uint column = gl_WorkGroupID.x * TILE_COLUMNS + at % TILE_COLUMNS;
        float total = 0.0;
        float sum = 0.0;
        for (uint k = 0; k < push.k && row < push.m && column < push.n; k++) {
            sum = weft_multiply_add(weft_a(a_base + row * push.a_row + k * push.a_column),
                                    weft_b(b_base + k * push.b_row + column * push.b_column), sum);
            if ((k + 1) % WEFT_CHUNK == 0 || k + 1 == push.k) {
                total = total + sum;
                sum = 0.0;
            }
        }
        weft_store(c_base, row, column, total);
    }
}

#else

// How the subgroups share the tile, and of how many matrices each makes its part.
const uint SUBGROUPS = INVOCATIONS / TILE_SUBGROUP;
const uint DOWN = SUBGROUPS >= 16 ? 4 : SUBGROUPS >= 4 ? 2 : 1;
const uint ACROSS = SUBGROUPS / DOWN;
const uint HIGH = TILE_ROWS / (DOWN * TILE_M);
const uint WIDE = TILE_COLUMNS / (ACROSS * TILE_N);

// Shared memory holds eights of f16, along k. One more behind each row keeps rows beside each other in different banks.
const uint EIGHTS = TILE_DEPTH / 8;
const uint STRIDE = EIGHTS + 1;
shared uvec4 tile_a[TILE_ROWS * STRIDE];
shared uvec4 tile_b[TILE_COLUMNS * STRIDE];
shared float patch_of[SUBGROUPS * TILE_M * TILE_N];
shared uint largest[TILE_ROWS + 4]; // magnitude in each row of a, as bits; and
#define BEYOND TILE_ROWS            // whether something had no place in f16

// What an invocation loads of a tile: one eight of every STEP-th row.
const uint STEP = INVOCATIONS / EIGHTS;
const uint ROWS_OF_A = TILE_ROWS / STEP;
const uint ROWS_OF_B = TILE_COLUMNS / STEP;
uint row_of, eight_of;

// Where that lies for k = 0: in fours where those are what is loaded, else in elements.
const uint UNIT_OF_A = VECTOR_A != 0 ? 4 : 1;
const uint UNIT_OF_B = VECTOR_B != 0 ? 4 : 1;
uint at_a[ROWS_OF_A];
uint at_b[ROWS_OF_B];
float scale[ROWS_OF_A];

#define SUM_OF fcoopmatNV<32, gl_ScopeSubgroup, TILE_M, TILE_N>
SUM_OF sums[HIGH * WIDE];

// What was written to shared memory before is there to be read after. It is said here and not at each access, which drivers
// would wait for: runtime/spirv/cooperative.c.
void meet()
{
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

void meet_in_subgroup()
{
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

void find_places()
{
    row_of = gl_LocalInvocationIndex / EIGHTS;
    eight_of = gl_LocalInvocationIndex % EIGHTS;
    uint a_base = weft_batch_offset(push.a_outer, push.a_inner) + 8 * eight_of * push.a_column;
    uint b_base = weft_batch_offset(push.b_outer, push.b_inner) + 8 * eight_of * push.b_row;
    for (uint i = 0; i < ROWS_OF_A; i++) {
        uint row = min(gl_WorkGroupID.y * TILE_ROWS + row_of + i * STEP, push.m - 1);
        at_a[i] = (a_base + row * push.a_row) / UNIT_OF_A;
    }
    for (uint i = 0; i < ROWS_OF_B; i++) {
        uint column = min(gl_WorkGroupID.x * TILE_COLUMNS + row_of + i * STEP, push.n - 1);
        at_b[i] = (b_base + column * push.b_column) / UNIT_OF_B;
    }
}

// So many elements further along k, a multiple of four.
uint step_of_a(uint k)
{
    return VECTOR_A != 0 ? k / 4 : k * push.a_column;
}

uint step_of_b(uint k)
{
    return VECTOR_B != 0 ? k / 4 : k * push.b_row;
}

// Four elements of a along k, of which `count` are before push.k (no more than 0 are none).
vec4 load_a(uint at, int count)
{
    vec4 x = vec4(0.0);
    if (VECTOR_A != 0) {
        if (count > 0) {
            x = weft_a_four(4 * at);
        }
        return x;
    }
    for (int j = 0; j < 4; j++) {
        if (j < count) {
            x[j] = weft_a(at + j * push.a_column);
        }
    }
    return x;
}

uvec2 halves(vec4 x)
{
    return uvec2(packFloat2x16(f16vec2(x.xy)), packFloat2x16(f16vec2(x.zw)));
}

uvec2 load_b(uint at, int count)
{
    uvec2 y = uvec2(0);
    if (VECTOR_B != 0) {
        if (count > 0) {
            y = b_half4[at];
        }
        return y;
    }
    vec4 x = vec4(0.0);
    for (int j = 0; j < 4; j++) {
        if (j < count) {
            x[j] = weft_b(at + j * push.b_row);
        }
    }
    return halves(x);
}

uvec4 load_eight_of_b(uint at, int count)
{
    return uvec4(load_b(at, count), load_b(at + step_of_b(4), count - 4));
}

// The exponent of the power of two that a row is multiplied by: its largest element so far becomes 2^`to` at least.
int exponent_of(uint row, int to)
{
    return clamp(to + 127 - int(largest[row] >> 23), -126, 126);
}

float power_of_two(int exponent)
{
    return uintBitsToFloat(uint(127 + exponent) << 23);
}

// The largest magnitudes of the rows in their first `end` elements.
void find_largest(uint end)
{
    meet(); // all have read what is written here
    for (uint i = gl_LocalInvocationIndex; i < TILE_ROWS + 4; i += INVOCATIONS) {
        largest[i] = 0;
    }
    meet();
    for (uint i = 0; i < ROWS_OF_A; i++) {
        uint most = 0;
        for (uint k = 0; k < end; k += TILE_DEPTH) {
            int count = int(push.k) - int(k + 8 * eight_of);
            uint at = at_a[i] + step_of_a(k);
            uvec4 x = max(floatBitsToUint(abs(load_a(at, count))),
                          floatBitsToUint(abs(load_a(at + step_of_a(4), count - 4))));
            most = max(most, max(max(x.x, x.y), max(x.z, x.w)));
        }
        atomicMax(largest[row_of + i * STEP], most);
    }
    meet();
}

float largest_of(vec4 x)
{
    return max(max(abs(x.x), abs(x.y)), max(abs(x.z), abs(x.w)));
}

// The largest magnitude of what has been loaded, to see whether it had a place in f16.
float load_tiles(uint k, float worst)
{
    vec4 a_fours[2 * ROWS_OF_A];
    uvec4 b_eights[ROWS_OF_B];
    uint a_step = step_of_a(k);
    uint b_step = step_of_b(k);
    if (k + TILE_DEPTH <= push.k) {
        [[unroll]] for (uint i = 0; i < ROWS_OF_A; i++) {
            a_fours[2 * i] = load_a(at_a[i] + a_step, 4);
            a_fours[2 * i + 1] = load_a(at_a[i] + a_step + step_of_a(4), 4);
        }
        [[unroll]] for (uint i = 0; i < ROWS_OF_B; i++) {
            b_eights[i] = load_eight_of_b(at_b[i] + b_step, 8);
        }
    } else {
        int count = int(push.k) - int(k + 8 * eight_of);
        [[unroll]] for (uint i = 0; i < ROWS_OF_A; i++) {
            a_fours[2 * i] = load_a(at_a[i] + a_step, count);
            a_fours[2 * i + 1] = load_a(at_a[i] + a_step + step_of_a(4), count - 4);
        }
        [[unroll]] for (uint i = 0; i < ROWS_OF_B; i++) {
            b_eights[i] = load_eight_of_b(at_b[i] + b_step, count);
        }
    }
    [[unroll]] for (uint i = 0; i < ROWS_OF_A; i++) {
        vec4 x = a_fours[2 * i] * scale[i];
        vec4 y = a_fours[2 * i + 1] * scale[i];
        worst = max(worst, max(largest_of(x), largest_of(y)));
        tile_a[(row_of + i * STEP) * STRIDE + eight_of] = uvec4(halves(x), halves(y));
    }
    [[unroll]] for (uint i = 0; i < ROWS_OF_B; i++) {
        tile_b[(row_of + i * STEP) * STRIDE + eight_of] = b_eights[i];
    }
    return worst;
}

// Whether everything had a place in f16.
bool multiply(int to)
{
    float worst = 0.0;
    uint first_row = gl_SubgroupID / ACROSS * HIGH * TILE_M;
    uint first_column = gl_SubgroupID % ACROSS * WIDE * TILE_N;
    for (uint i = 0; i < ROWS_OF_A; i++) {
        scale[i] = power_of_two(exponent_of(row_of + i * STEP, to));
    }
    [[unroll]] for (uint i = 0; i < HIGH * WIDE; i++) {
        sums[i] = SUM_OF(0.0);
    }
    for (uint k = 0; k < push.k; k += TILE_DEPTH) {
        worst = load_tiles(k, worst);
        meet();
        [[unroll]] for (uint t = 0; t < TILE_DEPTH; t += TILE_K) {
            fcoopmatNV<16, gl_ScopeSubgroup, TILE_M, TILE_K> x[HIGH];
            [[unroll]] for (uint i = 0; i < HIGH; i++) {
                coopMatLoadNV(x[i], tile_a, (first_row + i * TILE_M) * STRIDE + t / 8, STRIDE, false);
            }
            [[unroll]] for (uint j = 0; j < WIDE; j++) {
                fcoopmatNV<16, gl_ScopeSubgroup, TILE_K, TILE_N> y;
                coopMatLoadNV(y, tile_b, (first_column + j * TILE_N) * STRIDE + t / 8, STRIDE, true);
                [[unroll]] for (uint i = 0; i < HIGH; i++) {
                    sums[j * HIGH + i] = coopMatMulAddNV(x[i], y, sums[j * HIGH + i]);
                }
            }
        }
        meet();
    }
    if (!(worst <= 65504.0)) {
        largest[BEYOND] = 1;
    }
    meet();
    return largest[BEYOND] == 0;
}

// A matrix of sums goes through a patch of shared memory of its subgroup's, because where its elements are is the device's own.
void store(int to)
{
    const uint PATCH_FOURS = TILE_M * TILE_N / 4;
    uint patch_at = gl_SubgroupID * TILE_M * TILE_N;
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    [[unroll]] for (uint j = 0; j < WIDE; j++) {
        [[unroll]] for (uint i = 0; i < HIGH; i++) {
            coopMatStoreNV(sums[j * HIGH + i], patch_of, patch_at, TILE_N, false);
            meet_in_subgroup();
            [[unroll]] for (uint p = 0; p < PATCH_FOURS / TILE_SUBGROUP; p++) {
                uint f = p * TILE_SUBGROUP + gl_SubgroupInvocationID;
                uint row = (gl_SubgroupID / ACROSS * HIGH + i) * TILE_M + f / (TILE_N / 4);
                uint column = (gl_SubgroupID % ACROSS * WIDE + j) * TILE_N + f % (TILE_N / 4) * 4;
                vec4 sum = vec4(patch_of[patch_at + 4 * f], patch_of[patch_at + 4 * f + 1],
                                patch_of[patch_at + 4 * f + 2], patch_of[patch_at + 4 * f + 3]);
                weft_store_four(c_base, gl_WorkGroupID.y * TILE_ROWS + row, gl_WorkGroupID.x * TILE_COLUMNS + column,
                                sum * power_of_two(-exponent_of(row, to)));
            }
            meet_in_subgroup();
        }
    }
}

void main()
{
    // What the largest elements become: those of the first tile, and those of whole rows.
    const int FIRST = 7;
    const int WHOLE = 14;
    find_places();
    bool whole = push.k <= TILE_DEPTH;
    bool done = false;
    while (!done) {
        find_largest(whole ? push.k : TILE_DEPTH);
        done = multiply(whole ? WHOLE : FIRST) || whole;
        whole = whole || !done;
    }
    store(whole ? WHOLE : FIRST);
}

#endif
