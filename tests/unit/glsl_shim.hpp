/* SPDX-License-Identifier: MIT */
/*
 * The types and built-in functions of GLSL that shaders/include/ uses, so that those files compile
 * as C++17 and a test can evaluate on the CPU, bit for bit, what a shader computes.
 *
 * Include a shader file inside a namespace nested in glsl, after this header:
 *
 *     #include "glsl_shim.hpp"
 *     namespace glsl::reproducible {
 *     inline float fma(float a, float b, float c) { return rounded_twice(a, b, c); }
 *     #include "../../shaders/include/activation.glsl"
 *     }
 *     float y = glsl::reproducible::weft_exp(1.0f);
 *
 * Unqualified names then resolve to this header before the C library's. What fma is depends on the math mode. A second inclusion in
 * another mode needs a namespace of its own and the include guards WEFT_INCLUDE_* undefined first.
 * Compile with -ffp-contract=off and without -ffast-math, or the results are not the shader's.
 */
#ifndef WEFT_TESTS_UNIT_GLSL_SHIM_HPP
#define WEFT_TESTS_UNIT_GLSL_SHIM_HPP

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

#if FLT_EVAL_METHOD != 0
#error "float32 arithmetic must be rounded to float32 after each operation"
#endif
#ifdef __FAST_MATH__
#error "the shader's arithmetic must not be rearranged"
#endif

namespace glsl {

using uint = std::uint32_t;

inline uint floatBitsToUint(float x) {
    uint u;
    std::memcpy(&u, &x, sizeof u);
    return u;
}

inline int floatBitsToInt(float x) {
    int i;
    std::memcpy(&i, &x, sizeof i);
    return i;
}

inline float uintBitsToFloat(uint u) {
    float x;
    std::memcpy(&x, &u, sizeof x);
    return x;
}

inline float intBitsToFloat(int i) {
    float x;
    std::memcpy(&x, &i, sizeof x);
    return x;
}

inline void umulExtended(uint x, uint y, uint &msb, uint &lsb) {
    const std::uint64_t product = static_cast<std::uint64_t>(x) * y;
    msb = static_cast<uint>(product >> 32);
    lsb = static_cast<uint>(product);
}

/* Position of the highest set bit, -1 for 0. */
inline int findMSB(uint x) {
    return x == 0u ? -1 : 31 - __builtin_clz(x);
}

inline uint min(uint x, uint y) {
    return y < x ? y : x;
}

/* fma of reproducible mode, and of fused mode. */
inline float rounded_twice(float a, float b, float c) {
    return a * b + c;
}
inline float rounded_once(float a, float b, float c) {
    return std::fma(a, b, c);
}

/* What only the fast mode uses. */
inline float abs(float x) {
    return std::fabs(x);
}
inline float min(float x, float y) {
    return y < x ? y : x;
}
inline float max(float x, float y) {
    return x < y ? y : x;
}
inline float clamp(float x, float low, float high) {
    return min(max(x, low), high);
}
inline float exp(float x) {
    return std::exp(x);
}
inline float log(float x) {
    return std::log(x);
}
inline float sin(float x) {
    return std::sin(x);
}
inline float cos(float x) {
    return std::cos(x);
}
inline float tanh(float x) {
    return std::tanh(x);
}
inline float exp2(float x) {
    return std::exp2(x);
}
inline float log2(float x) {
    return std::log2(x);
}
inline float floor(float x) {
    return std::floor(x);
}
inline float ceil(float x) {
    return std::ceil(x);
}
inline float trunc(float x) {
    return std::trunc(x);
}
inline float roundEven(float x) {
    return std::nearbyint(x);
}
inline float sqrt(float x) {
    return std::sqrt(x);
}
inline float inversesqrt(float x) {
    return 1.0f / std::sqrt(x);
}

} // namespace glsl

#endif
