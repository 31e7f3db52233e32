// SPDX-License-Identifier: MIT
// One step of a sum: two roundings in reproducible math, one in fast math.
#ifndef WEFT_MULTIPLY_ADD_GLSL
#define WEFT_MULTIPLY_ADD_GLSL

float weft_multiply_add(float x, float y, float sum)
{
#ifdef WEFT_MATH_FAST
    return fma(x, y, sum);
#else
    return sum + x * y;
#endif
}

vec4 weft_multiply_add(float x, vec4 y, vec4 sum)
{
    return vec4(weft_multiply_add(x, y.x, sum.x), weft_multiply_add(x, y.y, sum.y),
                weft_multiply_add(x, y.z, sum.z), weft_multiply_add(x, y.w, sum.w));
}

#endif
