// SPDX-License-Identifier: MIT
// One step of a sum. Reproducible math rounds it twice: the pass no-contraction splits each fma. Fused and fast math round once.
#ifndef WEFT_MULTIPLY_ADD_GLSL
#define WEFT_MULTIPLY_ADD_GLSL

float weft_multiply_add(float x, float y, float sum)
{
    return fma(x, y, sum);
}

vec4 weft_multiply_add(float x, vec4 y, vec4 sum)
{
    return vec4(weft_multiply_add(x, y.x, sum.x), weft_multiply_add(x, y.y, sum.y),
                weft_multiply_add(x, y.z, sum.z), weft_multiply_add(x, y.w, sum.w));
}

vec4 weft_multiply_add(vec4 x, vec4 y, vec4 sum)
{
    return vec4(weft_multiply_add(x.x, y.x, sum.x), weft_multiply_add(x.y, y.y, sum.y),
                weft_multiply_add(x.z, y.z, sum.z), weft_multiply_add(x.w, y.w, sum.w));
}

#endif
