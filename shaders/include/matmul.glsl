// SPDX-License-Identifier: MIT
//
// What the matrix product kernels share: operands, addressing and the fused epilogue.
//
// Every kernel adds up each element of the result in the same order, so they give the same bits and
// a device may use whichever is fastest: products in order of k into a partial sum, which every
// WEFT_CHUNK terms is added to the total. The error then grows with the square root of the chunk and
// of the number of chunks instead of with that of k.

#ifndef WEFT_INCLUDE_MATMUL_GLSL
#define WEFT_INCLUDE_MATMUL_GLSL

#include "activation.glsl"
#include "half.glsl"
#include "int8.glsl"
#include "multiply_add.glsl"

#define WEFT_CHUNK 64

layout(constant_id = 0) const int ACTIVATION = WEFT_ACTIVATION_NONE;
layout(constant_id = 1) const uint HAS_BIAS = 0; // WEFT_BIAS_OF_COLUMNS, WEFT_BIAS_OF_ROWS
layout(constant_id = 2) const uint HAS_RESIDUAL = 0;
layout(constant_id = 3) const uint VECTOR_A = 0; // a's elements along k: contiguous, and all fours aligned
layout(constant_id = 4) const uint VECTOR_B = 0; // b's elements along n: contiguous, and all fours aligned
layout(constant_id = 7) const uint VECTOR_C = 0; // rows of c and of the residual begin at multiples of four, and end there

layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 0) readonly buffer AVector { vec4 a4[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 1) readonly buffer BVector { vec4 b4[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 2) readonly buffer BiasVector { vec4 bias4[]; };
layout(std430, binding = 3) readonly buffer Residual { float residual_data[]; };
layout(std430, binding = 3) readonly buffer ResidualVector { vec4 residual4[]; };
layout(std430, binding = 4) writeonly buffer C { float c[]; };
layout(std430, binding = 4) writeonly buffer CVector { vec4 c4[]; };

#ifndef WEFT_OWN_PUSH // who has another one has what the functions below read of it
// Strides in elements. A batch index is (z / inner, z % inner), with a stride for each part.
layout(push_constant) uniform Push
{
    uint m;
    uint n;
    uint k;
    uint inner;
    uint a_outer;
    uint a_inner;
    uint a_row;
    uint a_column;
    uint b_outer;
    uint b_inner;
    uint b_row;
    uint b_column;
    uint c_outer;
    uint c_inner;
    uint c_row;
    float alpha;
    uint batches;
} push;
#endif

#include "matmul_finish.glsl"

// Constant operands may have 16 bits or 8 (half.glsl).
#ifdef WEFT_MATH_FAST
layout(constant_id = 5) const uint HALF_A = 0; // 0 or WEFT_HALF_SCALED

layout(std430, binding = 0) readonly buffer AHalf { uint a_half[]; };
layout(std430, binding = 0) readonly buffer AHalfVector { uvec2 a_half4[]; };
#endif
layout(constant_id = 6) const uint HALF_B = 0;

layout(std430, binding = 1) readonly buffer BHalf { uint b_half[]; };
layout(std430, binding = 1) readonly buffer BHalfVector { uvec2 b_half4[]; };

float weft_a(uint index)
{
#ifdef WEFT_MATH_FAST
    if (HALF_A != 0) {
        return weft_half_of(HALF_A, a_half[index / 2], index);
    }
#endif
    return a[index];
}

// Elements 4 four … 4 four + 3.
vec4 weft_a_four_at(uint four)
{
#ifdef WEFT_MATH_FAST
    if (HALF_A != 0) {
        uvec2 words = a_half4[four];
        return vec4(weft_halves_of(HALF_A, words.x), weft_halves_of(HALF_A, words.y));
    }
#endif
    return a4[four];
}

// Elements index … index + 3; index is a multiple of four.
vec4 weft_a_four(uint index)
{
    return weft_a_four_at(index / 4);
}

float weft_b(uint index)
{
    if (HALF_B == WEFT_HALF_I8) {
        return float(weft_int8_of(b_half[index / 4], index % 4));
    }
    if (HALF_B != 0) {
        return weft_half_of(HALF_B, b_half[index / 2], index);
    }
    return b[index];
}

vec4 weft_b_four_at(uint four)
{
    if (HALF_B == WEFT_HALF_I8) {
        return weft_int8s_of(b_half[four]);
    }
    if (HALF_B != 0) {
        uvec2 words = b_half4[four];
        return vec4(weft_halves_of(HALF_B, words.x), weft_halves_of(HALF_B, words.y));
    }
    return b4[four];
}

vec4 weft_b_four(uint index)
{
    return weft_b_four_at(index / 4);
}

// Elements (row, k … k + 3) of a; `base` is where the row starts.
vec4 weft_a_steps(uint base, uint k)
{
    uint index = base + k * push.a_column;
    if (VECTOR_A != 0) {
        return weft_a_four(index);
    }
    uint step = push.a_column;
    return vec4(weft_a(index), weft_a(index + step), weft_a(index + 2 * step), weft_a(index + 3 * step));
}

// Four columns of a row of b, which starts at `row`: in memory side by side, if VECTOR_B says so.
vec4 weft_b_columns(uint row, uvec4 columns)
{
    if (VECTOR_B != 0) {
        return weft_b_four(row + columns.x);
    }
    uvec4 index = row + columns * push.b_column;
    return vec4(weft_b(index.x), weft_b(index.y), weft_b(index.z), weft_b(index.w));
}

uint weft_batch_offset(uint outer_stride, uint inner_stride)
{
    uint z = gl_WorkGroupID.z;
    return (z / push.inner) * outer_stride + (z % push.inner) * inner_stride;
}

// Of a b in bytes: their scales come behind them, one for each column.
#ifndef WEFT_B_WORDS
#define WEFT_B_WORDS ((push.k * push.n + 3) / 4)
#endif

float weft_scaled(float sum, uint column)
{
    return HALF_B == WEFT_HALF_I8 ? sum * uintBitsToFloat(b_half[WEFT_B_WORDS + column]) : sum;
}

void weft_store(uint base, uint row, uint column, float sum)
{
    if (row >= push.m || column >= push.n) {
        return;
    }
    uint index = base + row * push.c_row + column;
    float bias_value = HAS_BIAS == 0 ? 0.0 : bias[HAS_BIAS == WEFT_BIAS_OF_ROWS ? row : column];
    c[index] = weft_finish(weft_scaled(sum, column), bias_value, HAS_RESIDUAL != 0 ? residual_data[index] : 0.0);
}

// Columns column … column + 3 of a row; column is a multiple of four.
void weft_store_four(uint base, uint row, uint column, vec4 sum)
{
    if (VECTOR_C == 0) {
        for (uint j = 0; j < 4; j++) {
            weft_store(base, row, column + j, sum[j]);
        }
        return;
    }
    if (row >= push.m || column >= push.n) {
        return;
    }
    uint index = (base + row * push.c_row + column) / 4;
    vec4 bias_values = vec4(0.0);
    if (HAS_BIAS == WEFT_BIAS_OF_ROWS) {
        bias_values = vec4(bias[row]);
    } else if (HAS_BIAS != 0) {
        bias_values = bias4[column / 4];
    }
    vec4 residual_values = HAS_RESIDUAL != 0 ? residual4[index] : vec4(0.0);
    vec4 values;
    for (uint j = 0; j < 4; j++) {
        values[j] = weft_finish(weft_scaled(sum[j], column + j), bias_values[j], residual_values[j]);
    }
    c4[index] = values;
}

#endif
