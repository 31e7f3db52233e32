// SPDX-License-Identifier: MIT
//
// Reductions over a workgroup of 128 invocations. In reproducible mode their order depends on
// nothing but the number of elements. Every invocation of the group must call the weft_group_…
// functions (they contain barriers), and all get the result.

#ifndef WEFT_INCLUDE_REDUCE_GLSL
#define WEFT_INCLUDE_REDUCE_GLSL

#define WEFT_GROUP_SIZE 128

#include "partial.glsl"

// tests/rules compiles this file with WEFT_BREAK_SUM to show that a subgroup's sum is noticed.
#if defined(WEFT_MATH_FAST) || defined(WEFT_BREAK_SUM)

#include "reduce_fast.glsl"

#else

// A tree with branches of two: element i of 128 with i + 64, then of 64 with i + 32, down to one. Several levels are gone
// through between two barriers, since a barrier costs more than they do. Between
// the reads of an array and its next writes lies a barrier, in the next call too, so none is needed at the end.
shared float weft_reduce_leaves[WEFT_GROUP_SIZE];
shared float weft_reduce_branches[16];
shared float weft_reduce_limbs[4];

#define WEFT_REDUCE(name, combine)                                                               \
    float name(float x)                                                                          \
    {                                                                                            \
        uint lane = gl_LocalInvocationID.x;                                                      \
        weft_reduce_leaves[lane] = x;                                                            \
        barrier();                                                                               \
        if (lane < 16) {                                                                         \
            float a = combine(weft_reduce_leaves[lane], weft_reduce_leaves[lane + 64]);          \
            float b = combine(weft_reduce_leaves[lane + 16], weft_reduce_leaves[lane + 80]);     \
            float c = combine(weft_reduce_leaves[lane + 32], weft_reduce_leaves[lane + 96]);     \
            float d = combine(weft_reduce_leaves[lane + 48], weft_reduce_leaves[lane + 112]);    \
            weft_reduce_branches[lane] = combine(combine(a, c), combine(b, d));                  \
        }                                                                                        \
        barrier();                                                                               \
        if (lane < 4) {                                                                          \
            float a = combine(weft_reduce_branches[lane], weft_reduce_branches[lane + 8]);       \
            float b = combine(weft_reduce_branches[lane + 4], weft_reduce_branches[lane + 12]);  \
            weft_reduce_limbs[lane] = combine(a, b);                                             \
        }                                                                                        \
        barrier();                                                                               \
        return combine(combine(weft_reduce_limbs[0], weft_reduce_limbs[2]),                      \
                       combine(weft_reduce_limbs[1], weft_reduce_limbs[3]));                     \
    }

float weft_add(float a, float b)
{
    return a + b;
}

WEFT_REDUCE(weft_group_sum, weft_add)

// The largest element, as weft_larger has it.
WEFT_REDUCE(weft_group_max, weft_larger)

#endif

#endif
