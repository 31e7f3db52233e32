// SPDX-License-Identifier: MIT
//
// Products that cannot be small. Where a device does not flush as reproducible math wants it, the pass flush (runtime/spirv/passes/flush.c) asks each
// product whether it counts as subnormal: three instructions more for each. A kernel that uses what it loads many times asks that instead: no
// product of numbers from 2^-48 on, or zeros, is below 2^-96, and an fma of them that cancels has no bit below 2^-142, so that it is exact
// where it is subnormal. The pass makes the first constant true, and leaves products of functions alone that choose by the other.
#ifndef WEFT_PLAIN_PRODUCTS_GLSL
#define WEFT_PLAIN_PRODUCTS_GLSL

layout(constant_id = 96) const bool WEFT_ASKS_PRODUCTS = false;
layout(constant_id = 97) const bool WEFT_PLAIN_PRODUCTS = true;

// Whether one is below 2^-48 and no zero.
bool weft_has_small(vec4 x)
{
    return any(lessThan((floatBitsToUint(x) & 0x7fffffffu) - 1u, uvec4(0x27800000u - 1u)));
}

float weft_plain_multiply_add(float x, float y, float sum)
{
    return WEFT_PLAIN_PRODUCTS ? fma(x, y, sum) : sum;
}

vec4 weft_plain_multiply_add(float x, vec4 y, vec4 sum)
{
    return vec4(weft_plain_multiply_add(x, y.x, sum.x), weft_plain_multiply_add(x, y.y, sum.y),
                weft_plain_multiply_add(x, y.z, sum.z), weft_plain_multiply_add(x, y.w, sum.w));
}

#endif
