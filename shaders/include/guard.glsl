// SPDX-License-Identifier: MIT
//
// Needs math.glsl.

#ifndef WEFT_INCLUDE_GUARD_GLSL
#define WEFT_INCLUDE_GUARD_GLSL

// A denominator kept away from 0: its sign and at least epsilon.
float weft_guarded(float x, float epsilon)
{
    uint bits = floatBitsToUint(x);
    uint least = floatBitsToUint(epsilon);
    bool small = (bits & WEFT_BITS_ABS) < least;
    return uintBitsToFloat(small ? (bits & WEFT_BITS_SIGN) | least : bits);
}

#endif
