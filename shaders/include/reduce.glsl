// SPDX-License-Identifier: MIT
//
// Reductions over a workgroup of 128 invocations, in an order that depends on nothing but that
// number: a tree, so that the error of a sum grows with its depth. Every invocation of the group
// must call them (they contain barriers), and all get the result.

#ifndef WEFT_INCLUDE_REDUCE_GLSL
#define WEFT_INCLUDE_REDUCE_GLSL

#define WEFT_GROUP_SIZE 128

shared float weft_reduce_memory[WEFT_GROUP_SIZE];

float weft_group_sum(float x)
{
    uint lane = gl_LocalInvocationID.x;
    weft_reduce_memory[lane] = x;
    barrier();
    for (uint width = WEFT_GROUP_SIZE / 2; width > 0; width /= 2) {
        if (lane < width) {
            weft_reduce_memory[lane] = weft_reduce_memory[lane] + weft_reduce_memory[lane + width];
        }
        barrier();
    }
    float sum = weft_reduce_memory[0];
    barrier();
    return sum;
}

// The largest element; a NaN in any lane gives NaN.
float weft_group_max(float x)
{
    uint lane = gl_LocalInvocationID.x;
    weft_reduce_memory[lane] = x;
    barrier();
    for (uint width = WEFT_GROUP_SIZE / 2; width > 0; width /= 2) {
        if (lane < width) {
            float a = weft_reduce_memory[lane];
            float b = weft_reduce_memory[lane + width];
            // True for a greater a and for a NaN in a; a NaN in b is taken by the else branch.
            weft_reduce_memory[lane] = a > b || a != a ? a : b;
        }
        barrier();
    }
    float largest = weft_reduce_memory[0];
    barrier();
    return largest;
}

#endif
