// SPDX-License-Identifier: MIT
//
// Activation functions, selected by one of the constants below (as a specialisation constant or a
// literal, so that only one branch is compiled). Includes math.glsl.
//
// In reproducible mode every function obeys the rules at the top of math.glsl, and every result is
// canonical (no subnormal, no NaN but 0x7fc00000), that of WEFT_ACTIVATION_NONE included.
// A NaN gives NaN. The limits at -inf are +0 except for NONE (-inf) and TANH (-1); a result that
// underflows because x is far below zero is +0. For x = -0, GELU, SILU and TANH give -0, and so do
// GELU and SILU where x is negative and so small that x/2 underflows.
// Largest relative error where the exact value exceeds 1e-30 in magnitude, over every x with
// 2^-31 < |x| < 96 (SIGMOID: x < 32): GELU_TANH 2.9e-7, GELU_ERF 5.7e-7, SIGMOID 2.4e-7,
// SILU 2.9e-7. Below 1e-30 the error is within that or within 1e-37.

#ifndef WEFT_INCLUDE_ACTIVATION_GLSL
#define WEFT_INCLUDE_ACTIVATION_GLSL

#include "math.glsl"
#include "numbers.glsl"

#ifdef WEFT_MATH_FAST

float weft_sigmoid(float x)
{
    return 1.0f / (1.0f + exp(-clamp(x, -80.0f, 80.0f)));
}

float weft_silu(float x)
{
    return x < -80.0f ? 0.0f : x * weft_sigmoid(x);
}

float weft_gelu_tanh(float x)
{
    float v = clamp(x, -10.0f, 10.0f);
    return x < -10.0f ? 0.0f : x * weft_sigmoid(v * (1.59576917f + 0.0713548139f * v * v));
}

float weft_gelu_erf(float x)
{
    return x < -10.0f ? 0.0f : x * (0.5f + 0.5f * weft_erf(x * 0.707106769f));
}

float weft_relu(float x)
{
    return max(x, 0.0f);
}

#else

// x/2, for |x| < 2^-24 where that is GELU and SILU to float32; by its bits, since it may underflow.
uint weft_impl_half_bits(uint u)
{
    return (u & WEFT_BITS_ABS) < 0x01000000u ? u & WEFT_BITS_SIGN : u - WEFT_BITS_MIN_NORMAL;
}

// 256 / (1 + exp(-z)) for 0 <= |z| <= 92 and z with the sign of x, whose bits are u; e256 = 256 exp(-|z|). Where the logistic
// function itself would be subnormal the scaled result is still normal.
float weft_impl_logistic_256(uint u, float e256)
{
    float y = weft_impl_minus_rcp(fma(e256, -0.00390625f, -1.0f));
    return (int(u) < 0 ? e256 : 256.0f) * y;
}

// 256 exp(-min(|x|, 92)), a being the bits of |x|: beyond, the logistic function is 1, or what the caller discards.
float weft_impl_decay_256(uint a)
{
    return weft_impl_exp_single(uintBitsToFloat((a > 0x42b80000u ? 0x42b80000u : a) | WEFT_BITS_SIGN), 8u);
}

// x s256 / 256 and the special cases that GELU and SILU share. zero_below: the bits of the |x|
// beyond which a negative x gives 0.
float weft_impl_gate_256(float x, float s256, uint zero_below)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    uint r = floatBitsToUint(x * 0.00390625f * s256);
    r = a < 0x33800000u ? weft_impl_half_bits(u) : r; // |x| < 2^-24
    r = u > (WEFT_BITS_SIGN | zero_below) ? 0u : r;
    r = u == WEFT_BITS_INF ? u : r;
    return uintBitsToFloat(a > WEFT_BITS_INF ? WEFT_BITS_NAN : r);
}

float weft_sigmoid(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    float s = 0.00390625f * weft_impl_logistic_256(u, weft_impl_decay_256(a));
    s = int(u) > 0x41900000 ? 1.0f : s; // x > 18
    s = u > 0xc2aeac4fu ? 0.0f : s;     // x < -87.3365402: subnormal
    return a > WEFT_BITS_INF ? uintBitsToFloat(WEFT_BITS_NAN) : s;
}

float weft_silu(float x)
{
    uint u = floatBitsToUint(x);
    float s256 = weft_impl_logistic_256(u, weft_impl_decay_256(u & WEFT_BITS_ABS));
    return weft_impl_gate_256(x, s256, 0x42b70000u); // -91.5
}

// x sigmoid(x (c1 + c2 x^2)), c1 = 2 sqrt(2/pi), c2 = 0.044715 c1: the same function without the
// cancellation of 1 + tanh. An error of the argument, 90 and more in the tail, is a relative
// error of the result, so the argument is the sum of two floats: factors of 12 bits (suffix h),
// whose products are exact, and the rest (l).
float weft_gelu_tanh(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    // -min(|x|, 10.1), where sigmoid's argument is below 92
    float v = uintBitsToFloat((a > 0x4121999au ? 0x4121999au : a) | WEFT_BITS_SIGN);
    float vh = uintBitsToFloat(floatBitsToUint(v) & 0xfffff000u);
    float vl = v - vh;
    float square = vh * vh;
    float square_l = vl * (v + vh);
    float zh = uintBitsToFloat(floatBitsToUint(square) & 0xfffff000u);
    float zl = (square - zh) + square_l;
    float w0 = 0.0713500977f * zh;
    float w1 = fma(zl, 0.0713500977f, fma(zh + zl, 4.71861631e-06f, 6.59966026e-05f));
    float wh = uintBitsToFloat(floatBitsToUint(1.59570312f + (w0 + w1)) & 0xfffff000u);
    float wl = ((1.59570312f - wh) + w0) + w1;
    float e256 = weft_impl_exp_pair(vh * wh, fma(vh, wl, vl * (wh + wl)), 8u);
    float s256 = weft_impl_logistic_256(u, e256);
    return weft_impl_gate_256(x, s256, 0x4121999au); // -10.1
}

// x Phi(x) with Phi(-a) = exp(-a^2/2) g(a) for a >= 0 and Phi(a) = 1 - Phi(-a). g, half of
// erfc's scaled form, is a polynomial in (a - 4) / (a + 4) over a + 4 (the change of variable of
// Shepherd and Laframboise, Math. Comp. 36, 1981), relative error 2^-24; a^2 is the
// sum of the exact square of 12 bits and the rest.
float weft_gelu_erf(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    float v = uintBitsToFloat(a > 0x41580000u ? 0x41580000u : a); // min(|x|, 13.5)
    float vh = uintBitsToFloat(floatBitsToUint(v) & 0xfffff000u);
    float e256 = weft_impl_exp_pair(-0.5f * (vh * vh), -0.5f * ((v - vh) * (v + vh)), 8u);
    float y = weft_impl_minus_rcp(-4.0f - v);
    float s = (v - 4.0f) * y;
    float p = 0.000414548384f;
    p = fma(p, s, 0.0015837783f);
    p = fma(p, s, -0.00365955872f);
    p = fma(p, s, -0.0075601046f);
    p = fma(p, s, 0.060435053f);
    p = fma(p, s, -0.186517015f);
    p = fma(p, s, 0.387134522f);
    p = fma(p, s, -0.607896805f);
    p = fma(p, s, 0.755285144f);
    float tail256 = p * y * e256;
    float s256 = (u & WEFT_BITS_SIGN) != 0u ? tail256 : 256.0f - tail256;
    return weft_impl_gate_256(x, s256, 0x41500000u); // -13
}

float weft_relu(float x)
{
    uint u = floatBitsToUint(x);
    uint r = int(u) < int(WEFT_BITS_MIN_NORMAL) ? 0u : u; // the sign bit makes u negative
    return uintBitsToFloat((u & WEFT_BITS_ABS) > WEFT_BITS_INF ? WEFT_BITS_NAN : r);
}

#endif

// elu(x) + 1, the positive feature map of linear attention.
float weft_elu1(float x)
{
    // Positive and finite, by the bits; anything else is in order in exp.
    return floatBitsToUint(x) - 1u < WEFT_BITS_INF - 1u ? x + 1.0f : weft_exp(x);
}

#if WEFT_ACTIVATION_COUNT != 9
#error "a weft_activation has no case here"
#endif

// kind: a weft_activation.
float weft_activate(int kind, float x)
{
    switch (kind) {
    case WEFT_ACTIVATION_GELU_TANH:
        return weft_gelu_tanh(x);
    case WEFT_ACTIVATION_GELU_ERF:
        return weft_gelu_erf(x);
    case WEFT_ACTIVATION_TANH:
        return weft_tanh(x);
    case WEFT_ACTIVATION_RELU:
        return weft_relu(x);
    case WEFT_ACTIVATION_SIGMOID:
        return weft_sigmoid(x);
    case WEFT_ACTIVATION_SILU:
        return weft_silu(x);
    case WEFT_ACTIVATION_ELU1:
        return weft_elu1(x);
    case WEFT_ACTIVATION_EXP:
        return weft_exp(x);
    default: // WEFT_ACTIVATION_NONE
        return weft_flush(x);
    }
}

#endif
