// SPDX-License-Identifier: MIT
//
// The largest of many numbers: what the largest key of weft_order_key says, found by the numbers' bits themselves, which takes a
// fifth of the instructions.

#ifndef WEFT_INCLUDE_LARGEST_GLSL
#define WEFT_INCLUDE_LARGEST_GLSL

#include "math.glsl"
#include "partial.glsl"

struct weft_largest
{
    int highest;  // as whole numbers: the largest number, or where all have a sign, the smallest
    int nearest;  // which is then the one nearest to zero; those without a sign are above it
    uint topmost; // with the sign as the highest bit: the one farthest below zero
};

weft_largest weft_largest_of_none()
{
    int infinity_below = int(WEFT_BITS_SIGN | WEFT_BITS_INF);
    return weft_largest(infinity_below, infinity_below, 0);
}

void weft_note(inout weft_largest largest, float value)
{
    int bits = floatBitsToInt(value);
    largest.highest = max(largest.highest, bits);
    largest.nearest = min(largest.nearest, bits);
    largest.topmost = max(largest.topmost, uint(bits));
}

// Its weft_order_key; NaNs are farther from zero than infinity.
uint weft_largest_key(weft_largest largest)
{
    bool is_nan = largest.highest > int(WEFT_BITS_INF) ||
                  largest.topmost > (WEFT_BITS_SIGN | WEFT_BITS_INF);
    int bits = largest.highest >= 0 ? largest.highest : largest.nearest;
    return weft_order_key(intBitsToFloat(is_nan ? int(WEFT_BITS_NAN) : bits));
}

#endif
