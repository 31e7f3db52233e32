// SPDX-License-Identifier: MIT
//
// Reductions over a workgroup of 128 invocations. In reproducible mode their order depends on
// nothing but the number of elements. Every invocation of the group must call the weft_group_…
// functions (they contain barriers), and all get the result.

#ifndef WEFT_INCLUDE_REDUCE_GLSL
#define WEFT_INCLUDE_REDUCE_GLSL

#define WEFT_GROUP_SIZE 128

// Whole numbers in the order of the floats, -0 below +0 and every NaN above infinity: compared as
// floats, what becomes of a NaN and of the sign of a zero would be up to the device.
uint weft_order_key(float x)
{
    uint bits = floatBitsToUint(x);
    bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return is_nan ? 0xffc00000u : (bits >> 31) != 0u ? ~bits : bits | 0x80000000u;
}

float weft_from_order_key(uint key)
{
    return uintBitsToFloat((key >> 31) != 0u ? key & 0x7fffffffu : ~key);
}

// The larger of two numbers; NaN (0x7fc00000) when one of them is.
float weft_larger(float a, float b)
{
    return weft_from_order_key(max(weft_order_key(a), weft_order_key(b)));
}

#ifdef WEFT_MATH_FAST

struct weft_partial {
    float sum;
};

weft_partial weft_partial_zero()
{
    return weft_partial(0.0);
}

weft_partial weft_partial_add(weft_partial partial, float x)
{
    return weft_partial(partial.sum + x);
}

float weft_partial_sum(weft_partial partial)
{
    return partial.sum;
}

#else

// One invocation's share of a sum: sixteen terms are added to a sum of sixteens, and sixteen of
// those to a sum of them, so that rounding errors add up over at most 16 + 16 steps for 256 terms
// and not over 256 (a tree with branches of sixteen; Higham, Accuracy and Stability of Numerical
// Algorithms, section 4.2). The
// last sum grows linearly, from rows of 8 million elements on.
struct weft_partial {
    float ones;
    float sixteens;
    float blocks; // of 256
    float large; // of 4096
    uint count;
};

weft_partial weft_partial_zero()
{
    return weft_partial(0.0, 0.0, 0.0, 0.0, 0u);
}

weft_partial weft_partial_add(weft_partial partial, float x)
{
    partial.ones = partial.ones + x;
    partial.count = partial.count + 1u;
    if ((partial.count & 15u) == 0u) {
        partial.sixteens = partial.sixteens + partial.ones;
        partial.ones = 0.0;
    }
    if ((partial.count & 255u) == 0u) {
        partial.blocks = partial.blocks + partial.sixteens;
        partial.sixteens = 0.0;
    }
    if ((partial.count & 4095u) == 0u) {
        partial.large = partial.large + partial.blocks;
        partial.blocks = 0.0;
    }
    return partial;
}

float weft_partial_sum(weft_partial partial)
{
    return ((partial.ones + partial.sixteens) + partial.blocks) + partial.large;
}

#endif

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
