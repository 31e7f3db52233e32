#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows of numbers as rows of bytes, for products with weights of int8 (matmul_int8.glsl has the layout): a workgroup for each.

#include "dot4.glsl"
#include "index.glsl"
#include "int8.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint VECTOR_X = 0; // elements of a row lie side by side, and all rows begin at multiples of four

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 0) readonly buffer XVector { vec4 x4[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint rows; // of all matrices
    uint k;
    uint words; // of a row of the result
    uint groups_x;
    uint matrix_rows; // of one
    uint x_matrix;    // strides in elements
    uint x_row;
    uint x_column;
} push;

shared uvec2 tops[64];
shared int sums[64];

// Elements 4 word … 4 word + 3 of the row that begins at `base`; zeros behind the last.
vec4 elements(uint base, uint word)
{
    if (VECTOR_X != 0) {
        return x4[base / 4 + word];
    }
    vec4 found = vec4(0.0);
    for (uint i = 0; i < 4; i++) {
        uint k = 4 * word + i;
        if (k < push.k) {
            found[i] = x[base + k * push.x_column];
        }
    }
    return found;
}

// The bits of the largest of what is not below zero, and of the largest magnitude of what is.
uvec2 tops_of(float x)
{
    uint bits = floatBitsToUint(x);
    uint magnitude = bits & WEFT_BITS_ABS;
    return bits == magnitude ? uvec2(magnitude, 0u) : uvec2(0u, magnitude);
}

uvec2 largest_of(vec4 found)
{
    return max(max(tops_of(found.x), tops_of(found.y)), max(tops_of(found.z), tops_of(found.w)));
}

void main()
{
    uint row = weft_group_index(push.groups_x);
    if (row >= push.rows) {
        return;
    }
    uint lane = gl_LocalInvocationID.x;
    uint base = row / push.matrix_rows * push.x_matrix + row % push.matrix_rows * push.x_row;
    uvec2 top = uvec2(0u);
    for (uint word = lane; word < push.words; word += 64) {
        top = max(top, largest_of(elements(base, word)));
    }
    tops[lane] = top;
    barrier();
    for (uint half_size = 32; half_size > 0; half_size /= 2) {
        if (lane < half_size) {
            tops[lane] = max(tops[lane], tops[lane + half_size]);
        }
        barrier();
    }
    weft_int8_row scaled = weft_int8_row_of(tops[0].x, tops[0].y);
    int sum = 0;
    for (uint word = lane; word < push.words; word += 64) {
        vec4 found = elements(base, word);
        uint bytes = weft_int8_byte(scaled, found.x) | weft_int8_byte(scaled, found.y) << 8 |
                     weft_int8_byte(scaled, found.z) << 16 | weft_int8_byte(scaled, found.w) << 24;
        result[row * push.words + word] = bytes;
        sum = weft_dot4_mixed(bytes, 0x01010101u, sum);
    }
    sums[lane] = sum;
    barrier();
    for (uint half_size = 32; half_size > 0; half_size /= 2) {
        if (lane < half_size) {
            sums[lane] += sums[lane + half_size];
        }
        barrier();
    }
    if (lane == 0) {
        uint behind = push.rows * push.words + row;
        result[behind] = floatBitsToUint(scaled.scale);
        result[behind + push.rows] = uint(scaled.zero);
        result[behind + 2 * push.rows] = uint(sums[0]);
    }
}
