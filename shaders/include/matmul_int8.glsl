// SPDX-License-Identifier: MIT
//
// What the kernels of products of int8 by int8 share. Sums of bytes are exact, so all kernels give the same bits, in whatever order they add.
//
// a, as int8_quantize.comp writes it: rows of `words` words, of four elements along k each; behind all rows a scale for each, then the byte
// that stands for 0 in each, then the sum of each row's bytes. b, as weft_lower_int8_weight uploads it: panels of 64 columns, the words of a
// step of four elements side by side; zeros fill up the last panel and the last step; behind all panels a scale for each column, and the sum of
// its bytes.

#ifndef WEFT_INCLUDE_MATMUL_INT8_GLSL
#define WEFT_INCLUDE_MATMUL_INT8_GLSL

#include "dot4.glsl"
#include "int8.glsl"

layout(constant_id = 0) const int ACTIVATION = 0;
layout(constant_id = 1) const uint HAS_BIAS = 0;
layout(constant_id = 2) const uint HAS_RESIDUAL = 0;

#define WEFT_PANEL 64u

layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) readonly buffer B { uint b[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) readonly buffer Residual { float residual_data[]; };
layout(std430, binding = 4) writeonly buffer C { float c[]; };

layout(push_constant) uniform Push
{
    uint m;
    uint n;
    uint words; // of a row of a: steps of four along k
    uint c_row; // elements from row to row of c and of the residual
    float alpha;
} push;

#include "matmul_finish.glsl"

// Where a panel's step is.
uint weft_b_step(uint panel, uint word)
{
    return (panel * push.words + word) * WEFT_PANEL;
}

// Where b's scales are.
uint weft_b_scales()
{
    return weft_b_step((push.n + WEFT_PANEL - 1u) / WEFT_PANEL, 0u);
}

// Where a's scales, zeros (1) and sums (2) are.
uint weft_a_behind(uint list)
{
    return push.m * (push.words + list);
}

int weft_a_sum(uint row)
{
    return int(a[weft_a_behind(2u) + row]);
}

// How much more a kernel's bytes of a are than a's.
#ifndef WEFT_A_BIAS
#define WEFT_A_BIAS 0
#endif

// A sum of products of bytes as a number: without what a's zeros have added, which is exact, times both scales, one after the other, so that no
// product of scales overflows or underflows.
float weft_int8_value(int sum, uint row, uint column)
{
    uint b_scales = weft_b_scales();
    int zero = int(a[weft_a_behind(1u) + row]) + WEFT_A_BIAS;
    int moved = sum - zero * int(b[b_scales + push.n + column]);
    return weft_float_of_sum(moved) * uintBitsToFloat(b[b_scales + column]) * uintBitsToFloat(a[weft_a_behind(0u) + row]);
}

void weft_store(uint row, uint column, int sum)
{
    if (row >= push.m || column >= push.n) {
        return;
    }
    uint index = row * push.c_row + column;
    c[index] = weft_finish(weft_int8_value(sum, row, column), HAS_BIAS != 0 ? bias[column] : 0.0, HAS_RESIDUAL != 0 ? residual_data[index] : 0.0);
}

#endif
