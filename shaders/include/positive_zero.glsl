// SPDX-License-Identifier: MIT
#ifndef WEFT_INCLUDE_POSITIVE_ZERO_GLSL
#define WEFT_INCLUDE_POSITIVE_ZERO_GLSL

float weft_positive_zero(float x)
{
    uint bits = floatBitsToUint(x);
    return uintBitsToFloat((bits & 0x7fffffffu) == 0u ? 0u : bits);
}

#endif
