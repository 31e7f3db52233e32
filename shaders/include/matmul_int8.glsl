// SPDX-License-Identifier: MIT
//
// What the kernels of products of int8 by int8 share. Sums of bytes are exact, so all kernels give the same bits, in whatever order they add.
//
// a, as int8_quantize.comp writes it: rows of `words` words, of four elements along k each, zeros behind the last; behind all rows a scale for
// each, and the sum of each row's bytes. b, as weft_lower_int8_weight uploads it: panels of 64 columns, the words of a step of four elements side by side; zeros fill up the last
// panel and the last step; behind all panels a scale for each column.

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

float weft_a_scale(uint row)
{
    return uintBitsToFloat(a[push.m * push.words + row]);
}

int weft_a_sum(uint row)
{
    return int(a[push.m * (push.words + 1u) + row]);
}

float weft_b_scale(uint column)
{
    uint panels = (push.n + WEFT_PANEL - 1u) / WEFT_PANEL;
    return uintBitsToFloat(b[weft_b_step(panels, 0u) + column]);
}

// The scales are of normal numbers, or 0, or NaN; applied one after the other, so that none of their own overflows or underflows.
void weft_store(uint row, uint column, int sum)
{
    if (row >= push.m || column >= push.n) {
        return;
    }
    uint index = row * push.c_row + column;
    float value = weft_float_of_sum(sum) * weft_b_scale(column) * weft_a_scale(row);
    c[index] = weft_finish(value, HAS_BIAS != 0 ? bias[column] : 0.0, HAS_RESIDUAL != 0 ? residual_data[index] : 0.0);
}

#endif
