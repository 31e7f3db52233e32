// SPDX-License-Identifier: MIT
//
// Functions of one element beside those of math.glsl and activation.glsl: f32 by weft_unary_float, i32 as words by
// weft_unary_integer. A NaN gives NaN; results are not flushed.

#ifndef WEFT_INCLUDE_UNARY_GLSL
#define WEFT_INCLUDE_UNARY_GLSL

#include "activation.glsl"
#include "wave.glsl"

#if WEFT_UNARY_COUNT != 36
#error "a weft_unary has no case here"
#endif

float weft_with_sign(uint size, float x)
{
    return uintBitsToFloat(size | (floatBitsToUint(x) & WEFT_BITS_SIGN));
}

float weft_sign(float x)
{
    uint a = floatBitsToUint(x) & WEFT_BITS_ABS;
    return a < WEFT_BITS_MIN_NORMAL ? weft_with_sign(0u, x) : a > WEFT_BITS_INF ? x : weft_with_sign(WEFT_BITS_ONE, x);
}

float weft_size(float x)
{
    return uintBitsToFloat(floatBitsToUint(x) & WEFT_BITS_ABS);
}

// log(1 + e^x) as max(x, 0) + log(1 + e^-|x|).
float weft_softplus(float x)
{
    float tail = weft_log1p(weft_exp(uintBitsToFloat(floatBitsToUint(x) | WEFT_BITS_SIGN)));
    return (floatBitsToUint(x) & WEFT_BITS_SIGN) != 0u ? tail : x + tail;
}

float weft_softsign(float x)
{
    float r = weft_div(x, 1.0f + weft_size(x));
    return floatBitsToUint(weft_size(x)) == WEFT_BITS_INF ? weft_with_sign(WEFT_BITS_ONE, x) : r;
}

// x sigmoid(1.702 x), by x sigmoid(x) of 1.702 x.
float weft_quick_gelu(float x)
{
    return x > 64.0f ? x : weft_silu(1.702f * x) * 0.587544048f;
}

// x tanh(log(1 + w)) with tanh(log(1 + w)) = w (w + 2) / (w (w + 2) + 2), w = e^x. Far below zero that is x e^x, where e^x may be
// subnormal, so it is made of e^(x + 16).
float weft_mish(float x)
{
    float held = x > 20.0f ? 20.0f : x < -128.0f ? -128.0f : x;
    float w = weft_exp(held);
    float n = w * (w + 2.0f);
    float far = weft_exp(held + 16.0f) * held * 1.12535175e-07f;
    return x < -20.0f ? (x < -128.0f ? 0.0f : far) : x * weft_div(n, n + 2.0f);
}

float weft_clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

float weft_shrink(float x, float lambda, float bias)
{
    float r = x > lambda ? x - bias : x < -lambda ? x + bias : 0.0f;
    return (floatBitsToUint(x) & WEFT_BITS_ABS) > WEFT_BITS_INF ? x : r;
}

// Those with parameters.
float weft_unary_with(uint kind, float x, float alpha, float beta)
{
    switch (kind) {
    case WEFT_UNARY_HARD_SIGMOID:
        return weft_clamp(fma(alpha, x, beta), 0.0f, 1.0f);
    case WEFT_UNARY_HARD_SWISH:
        return x * weft_clamp(fma(alpha, x, beta), 0.0f, 1.0f);
    case WEFT_UNARY_LEAKY_RELU:
        return x < 0.0f ? alpha * x : x;
    case WEFT_UNARY_ELU:
        return x < 0.0f ? alpha * weft_expm1(x) : x;
    case WEFT_UNARY_SELU:
        return beta * (x < 0.0f ? alpha * weft_expm1(x) : x);
    case WEFT_UNARY_CELU:
        return x < 0.0f ? alpha * weft_expm1(weft_div(x, alpha)) : x;
    case WEFT_UNARY_SOFTSHRINK:
        return weft_shrink(x, alpha, beta);
    case WEFT_UNARY_THRESHOLD:
        return x <= alpha ? beta : x;
    default: // WEFT_UNARY_CLAMP
        return weft_clamp(x, alpha, beta);
    }
}

float weft_unary_float(uint kind, float x, float alpha, float beta)
{
    switch (kind) {
    case WEFT_UNARY_NEG:
        return uintBitsToFloat(floatBitsToUint(x) ^ WEFT_BITS_SIGN);
    case WEFT_UNARY_ABS:
        return weft_size(x);
    case WEFT_UNARY_SIGN:
        return weft_sign(x);
    case WEFT_UNARY_SQUARE:
        return x * x;
    case WEFT_UNARY_SQRT:
        return weft_sqrt(x);
    case WEFT_UNARY_RSQRT:
        return weft_rsqrt(x);
    case WEFT_UNARY_RECIPROCAL:
        return weft_rcp(x);
    case WEFT_UNARY_LOG:
        return weft_log(x);
    case WEFT_UNARY_LOG1P:
        return weft_log1p(x);
    case WEFT_UNARY_EXPM1:
        return weft_expm1(x);
    case WEFT_UNARY_SIN:
        return waves_of(x).sine;
    case WEFT_UNARY_COS:
        return waves_of(x).cosine;
    case WEFT_UNARY_TAN:
        return weft_div(waves_of(x).sine, waves_of(x).cosine);
    case WEFT_UNARY_ERF:
        return weft_erf(x);
    case WEFT_UNARY_FLOOR:
        return weft_floor(x);
    case WEFT_UNARY_CEIL:
        return weft_ceil(x);
    case WEFT_UNARY_ROUND:
        return weft_round(x);
    case WEFT_UNARY_TRUNC:
        return weft_trunc(x);
    case WEFT_UNARY_SOFTPLUS:
        return weft_softplus(x);
    case WEFT_UNARY_SOFTSIGN:
        return weft_softsign(x);
    case WEFT_UNARY_LOG_SIGMOID:
        return -weft_softplus(-x);
    case WEFT_UNARY_QUICK_GELU:
        return weft_quick_gelu(x);
    case WEFT_UNARY_MISH:
        return weft_mish(x);
    default:
        return weft_unary_with(kind, x, alpha, beta);
    }
}

// What gives i32 of the bits of f32.
uint weft_unary_test(uint kind, uint bits)
{
    uint a = bits & WEFT_BITS_ABS;
    return uint(kind == WEFT_UNARY_IS_NAN ? a > WEFT_BITS_INF : a == WEFT_BITS_INF);
}

uint weft_unary_integer(uint kind, uint p)
{
    switch (kind) {
    case WEFT_UNARY_NEG:
        return 0u - p;
    case WEFT_UNARY_ABS:
        return int(p) < 0 ? 0u - p : p;
    case WEFT_UNARY_SIGN:
        return int(p) < 0 ? 0xffffffffu : uint(p != 0u);
    case WEFT_UNARY_SQUARE:
        return p * p;
    case WEFT_UNARY_LOGICAL_NOT:
        return uint(p == 0u);
    default: // WEFT_UNARY_BITWISE_NOT
        return ~p;
    }
}

#endif
