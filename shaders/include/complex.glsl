// SPDX-License-Identifier: MIT
#ifndef WEFT_INCLUDE_COMPLEX_GLSL
#define WEFT_INCLUDE_COMPLEX_GLSL

// a b
vec2 weft_complex_multiply(vec2 a, vec2 b)
{
    return vec2(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

// conj(a) b
vec2 weft_conjugate_multiply(vec2 a, vec2 b)
{
    return vec2(fma(a.x, b.x, a.y * b.y), fma(a.x, b.y, -(a.y * b.x)));
}

#endif
