// SPDX-License-Identifier: MIT
//
// What reductions are made of: an invocation's part of a sum, and the order of the floats.

#ifndef WEFT_INCLUDE_PARTIAL_GLSL
#define WEFT_INCLUDE_PARTIAL_GLSL

// Whole numbers in the order of the floats, -0 below +0 and every NaN above infinity: compared as
// floats, what becomes of a NaN and of the sign of a zero would be up to the device.
uint weft_order_key(float x)
{
    uint bits = floatBitsToUint(x);
    bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return is_nan ? 0xffc00000u : (bits >> 31) != 0u ? ~bits : bits | 0x80000000u;
}

const uint WEFT_LEAST_KEY = 0x007fffffu; // of -inf

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

weft_partial weft_partial_add(weft_partial partial, float x, uint number)
{
    return weft_partial_add(partial, x);
}

weft_partial weft_partial_add_product(weft_partial partial, float x, float y)
{
    return weft_partial(fma(x, y, partial.sum));
}

weft_partial weft_partial_add_product(weft_partial partial, float x, float y, uint number)
{
    return weft_partial_add_product(partial, x, y);
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

// Behind the number-th term, from 1.
weft_partial weft_impl_partial_fold(weft_partial partial, uint number)
{
    if ((number & 15u) == 0u) {
        partial.sixteens = partial.sixteens + partial.ones;
        partial.ones = 0.0;
    }
    if ((number & 255u) == 0u) {
        partial.blocks = partial.blocks + partial.sixteens;
        partial.sixteens = 0.0;
    }
    if ((number & 4095u) == 0u) {
        partial.large = partial.large + partial.blocks;
        partial.blocks = 0.0;
    }
    return partial;
}

// The number-th term, and the next one.
weft_partial weft_partial_add(weft_partial partial, float x, uint number)
{
    partial.ones = partial.ones + x;
    return weft_impl_partial_fold(partial, number);
}

weft_partial weft_partial_add(weft_partial partial, float x)
{
    partial.count = partial.count + 1u;
    return weft_partial_add(partial, x, partial.count);
}

// The same for a term that is a product.
weft_partial weft_partial_add_product(weft_partial partial, float x, float y, uint number)
{
    partial.ones = fma(x, y, partial.ones);
    return weft_impl_partial_fold(partial, number);
}

weft_partial weft_partial_add_product(weft_partial partial, float x, float y)
{
    partial.count = partial.count + 1u;
    return weft_partial_add_product(partial, x, y, partial.count);
}

float weft_partial_sum(weft_partial partial)
{
    return ((partial.ones + partial.sixteens) + partial.blocks) + partial.large;
}

#endif

// What the sums of rows (row.glsl) are made of: one more term, or the square of one.
float weft_plus(float sum, float x)
{
    return sum + x;
}

weft_partial weft_plus(weft_partial sum, float x)
{
    return weft_partial_add(sum, x);
}

weft_partial weft_plus(weft_partial sum, float x, uint number)
{
    return weft_partial_add(sum, x, number);
}

float weft_plus_square(float sum, float x)
{
    return fma(x, x, sum);
}

weft_partial weft_plus_square(weft_partial sum, float x)
{
    return weft_partial_add_product(sum, x, x);
}

weft_partial weft_plus_square(weft_partial sum, float x, uint number)
{
    return weft_partial_add_product(sum, x, x, number);
}

#endif
