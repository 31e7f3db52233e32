// SPDX-License-Identifier: MIT
//
// Elementary functions on float32 for compute shaders (GLSL 4.50, also valid C++ behind
// tests/unit/glsl_shim.hpp).
//
// Reproducible mode (the default) and fused mode. Every function is built from float32 + - * and fma, each rounded
// to nearest even and never contracted, and from integer operations, bit casts and conversions
// that are exact. Equal input bits therefore give equal output bits on every device that rounds
// these correctly, whatever it does with subnormals, NaN payloads or the sign of a zero.
// fma(a, b, c) is rounded twice in reproducible mode, where a pass makes a product and a sum of it, and once in fused mode. No
// file can tell which, so that all is right in both readings, and what is not to be fused is written a * b + c.
// NoContraction on every float instruction is required, not a refinement: without it drivers cancel
// (t + c) - c, which rounds to an integer here, and the results are wrong (lavapipe does).
//   - special cases are decided on the bits of the input, by integer comparison, and their results
//     are made of bits; what the arithmetic produced for such an input is discarded;
//   - a subnormal input counts as the zero of its sign; a result below 2^-126 in magnitude (before
//     rounding) is the zero of its sign; a NaN result is 0x7fc00000;
//   - no intermediate value that is subnormal, infinite or NaN reaches a result that is kept.
// "ulp" below is |computed - exact| in units of the last place of the exact result. The stated
// maxima were measured by the checks of tests/unit/test_math.cpp over every input (sin and cos, odd
// and even by construction: every x >= 0; rcp and sqrt: every significand; div: 2^24 random pairs).
// Where there are two, the second is that of fused mode.
//
// Fast mode (WEFT_MATH_FAST defined): the same names map to the built-in functions. Accuracy,
// subnormals and NaN are then the driver's.
//
// tests/rules compiles this file with WEFT_BREAK_EXP to show that a built-in exp is noticed.
//
// The helpers with a leading weft_impl_ are private to this file and activation.glsl.
// Decimal constants carry nine significant digits, which identify a float32 uniquely.

#ifndef WEFT_INCLUDE_MATH_GLSL
#define WEFT_INCLUDE_MATH_GLSL

#define WEFT_BITS_INF 0x7f800000u
#define WEFT_BITS_NAN 0x7fc00000u
#define WEFT_BITS_SIGN 0x80000000u
#define WEFT_BITS_ABS 0x7fffffffu
#define WEFT_BITS_MIN_NORMAL 0x00800000u
#define WEFT_BITS_FRACTION 0x007fffffu
#define WEFT_BITS_ONE 0x3f800000u

// erf(a) / a for 0 <= a < 0.9215, as a function of z = a^2: minimax, relative error 2^-28. The
// leading coefficient 2/sqrt(pi) is the sum of two floats.
float weft_impl_erf_ratio(float z)
{
    float p = 8.35764367e-05f;
    p = fma(p, z, -0.000814153114f);
    p = fma(p, z, 0.00520115485f);
    p = fma(p, z, -0.0268595908f);
    p = fma(p, z, 0.112837039f);
    p = fma(p, z, -0.376126349f);
    return 1.12837923f + fma(p, z, -5.86353828e-08f);
}

// log(erfc(a)) for 0.9215 <= a <= 3.95: minimax for the error of erfc itself, absolute 2^-29.
float weft_impl_log_erfc(float a)
{
    float p = 0.000194940498f;
    p = fma(p, a, -0.00303366757f);
    p = fma(p, a, 0.0221897252f);
    p = fma(p, a, -0.10385631f);
    p = fma(p, a, -0.637265801f);
    p = fma(p, a, -1.12762737f);
    return fma(p, a, -0.000207017962f);
}

// sin(r) and cos(r) for r in +-pi/4: minimax polynomials, relative error 2^-27.9 and 2^-33.
float weft_impl_small_sin(float r)
{
    float z = r * r;
    float s = -0.000195180852f;
    s = fma(s, z, 0.00833218824f);
    s = fma(s, z, -0.166666552f);
    return fma(r, z * s, r);
}

float weft_impl_small_cos(float r)
{
    float z = r * r;
    float c = 2.44306702e-05f;
    c = fma(c, z, -0.00138873013f);
    c = fma(c, z, 0.0416666456f);
    float half_z = 0.5f * z;
    float w = 1.0f - half_z;
    return w + fma(z * z, c, (1.0f - w) - half_z);
}

#ifdef WEFT_MATH_FAST

float weft_flush(float x) { return x; }
float weft_exp(float x) { return exp(x); }
float weft_log(float x) { return log(x); }
float weft_sin(float x) { return sin(x); }
float weft_cos(float x) { return cos(x); }
float weft_rcp(float x) { return 1.0f / x; }
float weft_rsqrt(float x) { return inversesqrt(x); }
float weft_sqrt(float x) { return sqrt(x); }
float weft_div(float a, float b) { return a / b; }
float weft_twice(float x) { return x + x; }

// tanh is 1 to float32 beyond 9.02; the clamp keeps drivers that use exp(2x) from inf / inf, and the
// series (relative error 2^-21) keeps the small results that they lose in the difference.
float weft_tanh(float x)
{
    float z = x * x;
    float near = x + x * z * (-0.333333343f + z * (0.13333334f + z * -0.0539682545f));
    return abs(x) < 0.25f ? near : tanh(clamp(x, -10.0f, 10.0f));
}

float weft_erf(float x)
{
    float a = min(abs(x), 3.95f);
    float far = 1.0f - exp(weft_impl_log_erfc(a));
    return a < 0.9215f ? x * weft_impl_erf_ratio(x * x) : (x < 0.0f ? -far : far);
}

// Near zero, where exp(x) - 1 cancels, by tanh.
float weft_expm1(float x)
{
    float t = weft_tanh(0.5f * x);
    return abs(x) < 0.5f ? 2.0f * t / (1.0f - t) : exp(x) - 1.0f;
}

// Near zero by the series of atanh, of which log(1 + x) is twice that of x / (2 + x).
float weft_log1p(float x)
{
    float s = x / (2.0f + x);
    float z = s * s;
    float near = 2.0f * s + 2.0f * s * z * (0.333333343f + z * (0.2f + z * (0.142857149f + z * 0.111111112f)));
    return abs(x) < 0.25f ? near : log(1.0f + x);
}

float weft_pow(float x, float y)
{
    float size = exp2(y * log2(abs(x)));
    bool whole = floor(y) == y;
    bool odd = whole && floor(0.5f * y) != 0.5f * y;
    size = x == 0.0f ? (y > 0.0f ? 0.0f : uintBitsToFloat(WEFT_BITS_INF)) : size;
    float r = odd && (floatBitsToUint(x) & WEFT_BITS_SIGN) != 0u ? -size : size;
    r = x < 0.0f && !whole ? uintBitsToFloat(WEFT_BITS_NAN) : r;
    return y == 0.0f || x == 1.0f ? 1.0f : r;
}

float weft_round(float x) { return roundEven(x); }
float weft_trunc(float x) { return trunc(x); }
float weft_floor(float x) { return floor(x); }
float weft_ceil(float x) { return ceil(x); }

#else

// Canonical form of x: a subnormal becomes the zero of its sign, any NaN becomes 0x7fc00000.
float weft_flush(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    uint r = a < WEFT_BITS_MIN_NORMAL ? (u & WEFT_BITS_SIGN) : u;
    return uintBitsToFloat(a > WEFT_BITS_INF ? WEFT_BITS_NAN : r);
}

// 2 x. Compilers take a product with a power of two for exact and fuse it with the sum that it goes into (RDNA2 and later), also
// where it is written x + x. When it overflows that is another result: inf + 2 x is NaN for x = -2^127, and fused it is inf.
float weft_twice(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    uint r = a < 0x7f000000u ? u + WEFT_BITS_MIN_NORMAL : (u & WEFT_BITS_SIGN) | WEFT_BITS_INF;
    r = a < WEFT_BITS_MIN_NORMAL ? u & WEFT_BITS_SIGN : r;
    return uintBitsToFloat(a > WEFT_BITS_INF ? WEFT_BITS_NAN : r);
}

// e^r - 1 for r = h + l in +-0.3475, |l| far below |h|: r + r^2 q(r) with q minimax, for a relative error of e^r of 2^-28.
float weft_impl_exp_less_1(float h, float l)
{
    float r = h + l;
    float q = 0.00138382358f;
    q = fma(q, r, 0.00836929679f);
    q = fma(q, r, 0.0416680872f);
    q = fma(q, r, 0.166665152f);
    q = fma(q, r, 0.49999994f);
    return h + fma(r * r, q, l);
}

// 2^bias * exp(h + l) with |l| < 0.15, where the result is a normal number; garbage elsewhere.
// exp(h + l) = 2^k exp(r), r in +-0.3475 (Cody and Waite's two-part log 2; k * 0.693145752 is
// exact). Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
float weft_impl_exp_pair(float h, float l, uint bias)
{
    float t = fma(h + l, 1.44269502f, 12582912.0f);
    float k = t - 12582912.0f;
    float p = 1.0f + weft_impl_exp_less_1(fma(k, -0.693145752f, h), fma(k, -1.42860677e-06f, l));
    return uintBitsToFloat(floatBitsToUint(p) + ((floatBitsToUint(t) + bias) << 23));
}

// weft_impl_exp_pair(h, 0, bias) in fewer steps.
float weft_impl_exp_single(float h, uint bias)
{
    float t = fma(h, 1.44269502f, 12582912.0f);
    float k = t - 12582912.0f;
    float p = 1.0f + weft_impl_exp_less_1(fma(k, -0.693145752f, h), k * -1.42860677e-06f);
    return uintBitsToFloat(floatBitsToUint(p) + ((floatBitsToUint(t) + bias) << 23));
}

// e^x. Measured maximum: 0.899 ulp, 0.877. exp(-inf) = +0, exp(+inf) = +inf.
#ifdef WEFT_BREAK_EXP
float weft_exp(float x) { return exp(x); }
#else
float weft_exp(float x)
{
    uint u = floatBitsToUint(x);
    float r = weft_impl_exp_single(x, 0u);
    r = int(u) > 0x42b17217 ? uintBitsToFloat(WEFT_BITS_INF) : r; // x > 88.7228317
    r = u > 0xc2aeac4fu ? 0.0f : r;                               // x < -87.3365402
    return (u & WEFT_BITS_ABS) > WEFT_BITS_INF ? uintBitsToFloat(WEFT_BITS_NAN) : r;
}
#endif

// Natural logarithm. Measured maximum: 0.861 ulp, 0.851. log(+-0) = -inf, log(x < 0) = NaN,
// log(+inf) = +inf.
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f) = f - f^2/2 + f^3 p(f), p minimax,
// relative error 2^-27; k * 0.693145752 is exact.
float weft_log(float x)
{
    uint u = floatBitsToUint(x);
    uint i = u + 0x004afb0du; // 1.0 - sqrt(1/2) in bits
    float k = float(int(i >> 23) - 127);
    float f = uintBitsToFloat((i & WEFT_BITS_FRACTION) + 0x3f3504f3u) - 1.0f;
    float z = f * f;
    float p = -0.0763576776f;
    p = fma(p, f, 0.127633885f);
    p = fma(p, f, -0.131605655f);
    p = fma(p, f, 0.142015427f);
    p = fma(p, f, -0.166232988f);
    p = fma(p, f, 0.200012341f);
    p = fma(p, f, -0.250008225f);
    p = fma(p, f, 0.333333313f);
    float tail = fma(z * f, p, k * 1.42860677e-06f);
    float y = fma(k, 0.693145752f, f + fma(z, -0.5f, tail));
    uint r = floatBitsToUint(y);
    r = u >= WEFT_BITS_INF ? (u == WEFT_BITS_INF ? u : WEFT_BITS_NAN) : r; // inf, NaN, x < 0
    r = (u & WEFT_BITS_ABS) < WEFT_BITS_MIN_NORMAL ? 0xff800000u : r;
    return uintBitsToFloat(r);
}

// -1 / d for 2^-100 < |d| < 2^100, to 1 part in 2^23. The seed, a subtraction of the bits, is within
// 0.0506; a step of third and one of second order follow. With this sign no step has to negate anything.
float weft_impl_minus_rcp(float d)
{
    float y = uintBitsToFloat(0xfef31000u - floatBitsToUint(d));
    float e = fma(d, y, 1.0f);
    y = fma(y, fma(e, e, e), y);
    e = fma(d, y, 1.0f);
    return fma(y, e, y);
}

// 1 / x, correctly rounded. 1 / +-0 = +-inf, 1 / +-inf = +-0.
// A float estimate of the quotient Q of significands, then the exact remainder 2^47 - Q B, of which
// the low 32 bits suffice, moves Q to the nearest integer. There are no ties.
float weft_rcp(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    uint sign = u & WEFT_BITS_SIGN;
    uint fraction = a & WEFT_BITS_FRACTION;
    float y = weft_impl_minus_rcp(uintBitsToFloat(fraction | WEFT_BITS_ONE));
    uint divisor = fraction | WEFT_BITS_MIN_NORMAL;
    uint q = uint(y * -16777216.0f);
    int remainder2 = int(0u - q * divisor) * 2;
    q = q + (remainder2 > int(divisor) ? 1u : 0u) - (remainder2 < -int(divisor) ? 1u : 0u);
    uint r = q + ((252u - (a >> 23)) << 23);
    r = int(r) < int(WEFT_BITS_MIN_NORMAL) ? 0u : r; // |x| > 2^126
    r = a < WEFT_BITS_MIN_NORMAL ? WEFT_BITS_INF : r;
    return uintBitsToFloat(a > WEFT_BITS_INF ? WEFT_BITS_NAN : sign | r);
}

// a / b, correctly rounded. x / +-0 = inf of the sign of the quotient, 0 / 0 = inf / inf = NaN.
// As weft_rcp, from an estimate that is less than 2.5 units off. Processors have instructions for this, weft_rcp and weft_sqrt
// (runtime/spirv/known.h).
float weft_div(float a, float b)
{
    uint ua = floatBitsToUint(a);
    uint ub = floatBitsToUint(b);
    uint sign = (ua ^ ub) & WEFT_BITS_SIGN;
    ua = ua & WEFT_BITS_ABS;
    ub = ub & WEFT_BITS_ABS;
    uint fa = ua & WEFT_BITS_FRACTION;
    uint fb = ub & WEFT_BITS_FRACTION;
    // Significands, the dividend's doubled where that makes the quotient at least 1.
    uint below = fa < fb ? 1u : 0u;
    uint dividend = (fa | WEFT_BITS_MIN_NORMAL) << below;
    uint divisor = fb | WEFT_BITS_MIN_NORMAL;
    float y = weft_impl_minus_rcp(uintBitsToFloat(fb | WEFT_BITS_ONE));
    float estimate = uintBitsToFloat((fa | WEFT_BITS_ONE) + (below << 23)) * y;
    uint q = uint(estimate * -8388608.0f);
    int remainder2 = int((dividend << 23) - q * divisor) * 2;
    int d = int(divisor);
    q = q + (remainder2 > d ? 1u : 0u) + (remainder2 > 3 * d ? 1u : 0u);
    q = q - (remainder2 < -d ? 1u : 0u) - (remainder2 < -3 * d ? 1u : 0u);

    int exponent = int(ua >> 23) - int(ub >> 23) - int(below) + 126; // less the leading bit of q
    uint r = q + (uint(exponent) << 23);
    bool a_zero = ua < WEFT_BITS_MIN_NORMAL;
    bool b_zero = ub < WEFT_BITS_MIN_NORMAL;
    bool a_inf = ua >= WEFT_BITS_INF;
    bool b_inf = ub >= WEFT_BITS_INF;
    r = exponent < 0 || a_zero || b_inf ? 0u : r;
    r = !a_zero && !b_inf && (exponent > 253 || b_zero || a_inf) ? WEFT_BITS_INF : r;
    bool nan = ua > WEFT_BITS_INF || ub > WEFT_BITS_INF || (a_zero && b_zero) || (a_inf && b_inf);
    return uintBitsToFloat(nan ? WEFT_BITS_NAN : sign | r);
}

// 1 / sqrt(-n) for 1 <= -n < 4 to 1 part in 2^13: a seed from the bits, within 0.035, and a step of
// third order. It takes the number negated so that no step has to negate anything.
float weft_impl_rsqrt(float n)
{
    float y = uintBitsToFloat(0x9f374400u - (floatBitsToUint(n) >> 1));
    float e = fma(n * y, y, 1.0f);
    return fma(y, e * fma(e, 0.375f, 0.5f), y);
}

// 1 / sqrt(x). Measured maximum: 0.505 ulp in both modes. rsqrt(+-0) = +-inf, rsqrt(x < 0) = NaN,
// rsqrt(+inf) = +0.
// An estimate y cut to 12 bits makes m y exact in two pieces, so that e = 1 - m y^2 keeps a
// relative error near 2^-24; the last step then adds a correction of at most 2^-10.
float weft_rsqrt(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    uint half_exponent = (a + WEFT_BITS_MIN_NORMAL) >> 24; // (e + 1) / 2 of the biased exponent e
    float n = uintBitsToFloat((a - ((half_exponent - 64u) << 24)) | WEFT_BITS_SIGN); // -m
    float y = weft_impl_rsqrt(n);
    y = uintBitsToFloat(floatBitsToUint(y) & 0xfffff000u);
    float nh = uintBitsToFloat(floatBitsToUint(n) & 0xfffff000u);
    float p = nh * y;
    float pl = (n - nh) * y;
    float ph = uintBitsToFloat(floatBitsToUint(p) & 0xfffff000u);
    float e = fma(pl, y, fma(p - ph, y, fma(ph, y, 1.0f)));
    y = fma(y, e * fma(e, 0.375f, 0.5f), y);
    uint r = floatBitsToUint(y) - ((half_exponent - 64u) << 23);
    r = u >= WEFT_BITS_INF ? (u == WEFT_BITS_INF ? 0u : WEFT_BITS_NAN) : r; // inf, NaN, x < 0
    r = a < WEFT_BITS_MIN_NORMAL ? (u | WEFT_BITS_INF) & 0xff800000u : r;
    return uintBitsToFloat(r);
}

// sqrt(x), correctly rounded. sqrt(+-0) = +-0, sqrt(x < 0) = NaN, sqrt(+inf) = +inf.
// As weft_rcp: the remainder M - Q^2 decides, and there are no ties.
float weft_sqrt(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    uint half_exponent = (a + WEFT_BITS_MIN_NORMAL) >> 24;
    uint mbits = a - ((half_exponent - 64u) << 24);
    float n = uintBitsToFloat(mbits | WEFT_BITS_SIGN);
    float y = weft_impl_rsqrt(n);
    float s = n * y;
    s = fma(0.5f * y, fma(s, s, n), s);
    uint q = uint(s * -8388608.0f);
    uint odd = (mbits >> 23) - 127u; // 1 for m in [2, 4)
    uint radicand = ((mbits & WEFT_BITS_FRACTION) | WEFT_BITS_MIN_NORMAL) << odd;
    int remainder = int((radicand << 23) - q * q);
    int root = int(q);
    q = q + (remainder > root ? 1u : 0u) - (remainder <= -root ? 1u : 0u);
    uint r = q + ((half_exponent + 62u) << 23);
    r = u >= WEFT_BITS_INF ? (u == WEFT_BITS_INF ? u : WEFT_BITS_NAN) : r; // inf, NaN, x < 0
    r = a < WEFT_BITS_MIN_NORMAL ? u & WEFT_BITS_SIGN : r;
    return uintBitsToFloat(r);
}

// tanh(x). Measured maximum: 1.911 ulp, 1.503. tanh(+-0) = +-0, tanh(+-inf) = +-1.
// An odd minimax polynomial, relative error 2^-28, below 0.55; above, where tanh exceeds 1/2,
// 1 - 2 E / (1 + E) with E = exp(-2|x|).
float weft_tanh(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    float v = uintBitsToFloat(a > 0x41200000u ? 0x41200000u : a); // min(|x|, 10)
    float z = v * v;
    float p = -0.00627348665f;
    p = fma(p, z, 0.0210711788f);
    p = fma(p, z, -0.0538521968f);
    p = fma(p, z, 0.133325845f);
    p = fma(p, z, -0.333333164f);
    float near = fma(v, z * p, v);
    // -2 v by its bits, since no compiler can fuse that with a sum; of no use below 0.55.
    float e = weft_impl_exp_single(uintBitsToFloat(floatBitsToUint(v) + 0x80800000u), 0u);
    float far = fma(e + e, weft_impl_minus_rcp(1.0f + e), 1.0f);
    uint w = floatBitsToUint(a < 0x3f0ccccdu ? near : far); // |x| < 0.55
    w = a < WEFT_BITS_MIN_NORMAL ? 0u : w;
    return uintBitsToFloat(a > WEFT_BITS_INF ? WEFT_BITS_NAN : (u & WEFT_BITS_SIGN) | w);
}

// erf(x). Measured maximum: 1.566 ulp. erf(+-0) = +-0, erf(+-inf) = +-1.
// An odd polynomial below 0.9215, 1 - exp(log(erfc|x|)) above, 1 beyond 3.95.
float weft_erf(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    float v = uintBitsToFloat(a > 0x407ccccdu ? 0x407ccccdu : a); // min(|x|, 3.95)
    float near = v * weft_impl_erf_ratio(v * v);
    float far = 1.0f - weft_impl_exp_single(weft_impl_log_erfc(v), 0u);
    uint w = floatBitsToUint(a < 0x3f6be76du ? near : far); // |x| < 0.9215
    w = a < WEFT_BITS_MIN_NORMAL ? 0u : w;
    return uintBitsToFloat(a > WEFT_BITS_INF ? WEFT_BITS_NAN : (u & WEFT_BITS_SIGN) | w);
}

// A non-negative angle as quadrant * pi/2 + r, |r| <= pi/4 (a little more at the seams).
struct weft_impl_angle {
    float r;
    uint quadrant; // modulo 4
};

// x = float with bits a, 4096 <= x < inf. Payne and Hanek's reduction in integers: with
// x = M 2^e (M of 24 bits), the product of M and 96 bits of 2/pi taken from the bit of weight
// 2^(1-e) on is x * 2/pi modulo 4; its top 64 bits have 62 after the point, cut by less than
// 2^-61, while no float32 comes closer than 2^-31 to a multiple of pi/2.
weft_impl_angle weft_impl_reduce_large(uint a)
{
    uint significand = (a & WEFT_BITS_FRACTION) | WEFT_BITS_MIN_NORMAL;
    uint start = (a >> 23) - 120u; // of the window in the string below: 19 .. 134
    // 2/pi after 32 zero bits; word[start / 32] and the three after it, selected in three halvings.
    uint w0 = 0u, w1 = 0xa2f9836eu, w2 = 0x4e441529u, w3 = 0xfc2757d1u;
    uint w4 = 0xf534ddc0u, w5 = 0xdb629599u, w6 = 0x3c439041u, w7 = 0xfe5163abu;
    bool skip4 = (start & 128u) != 0u;
    w0 = skip4 ? w4 : w0;
    w1 = skip4 ? w5 : w1;
    w2 = skip4 ? w6 : w2;
    w3 = skip4 ? w7 : w3;
    bool skip2 = (start & 64u) != 0u;
    w0 = skip2 ? w2 : w0;
    w1 = skip2 ? w3 : w1;
    w2 = skip2 ? w4 : w2;
    w3 = skip2 ? w5 : w3;
    w4 = skip2 ? w6 : w4;
    bool skip1 = (start & 32u) != 0u;
    w0 = skip1 ? w1 : w0;
    w1 = skip1 ? w2 : w1;
    w2 = skip1 ? w3 : w2;
    w3 = skip1 ? w4 : w3;
    uint up = start & 31u;
    uint down = 31u - up;
    w0 = (w0 << up) | ((w1 >> 1) >> down);
    w1 = (w1 << up) | ((w2 >> 1) >> down);
    w2 = (w2 << up) | ((w3 >> 1) >> down);

    uint high, low, lowest_high, lowest_low;
    umulExtended(significand, w2, lowest_high, lowest_low);
    umulExtended(significand, w1, high, low);
    low = low + lowest_high;
    high = high + (low < lowest_high ? 1u : 0u) + significand * w0;

    // Nearest integer and the signed rest, as sign and magnitude, the magnitude normalised.
    weft_impl_angle result;
    result.quadrant = ((high + 0x20000000u) >> 30) & 3u;
    high = high - (result.quadrant << 30);
    uint sign = high & WEFT_BITS_SIGN;
    uint flip = sign != 0u ? 0xffffffffu : 0u;
    high = high ^ flip;
    low = low ^ flip;
    uint lead = uint(findMSB(high | 1u));
    uint normalised = (high << (31u - lead)) | ((low >> 1) >> lead);
    uint unused;
    uint angle;
    umulExtended(normalised, 0xc90fdaa2u, angle, unused); // times pi/2 2^31
    float r = float(angle & 0xffffff00u) + float(angle & 0xffu);
    // high has 30 bits after the point, normalised 31 - lead more, angle one fewer.
    r = r * uintBitsToFloat((127u + lead - 60u) << 23);
    result.r = uintBitsToFloat(floatBitsToUint(r) ^ sign);
    return result;
}

// x = float with bits a. Below 4096, Cody and Waite's reduction with pi/2 in four parts: at most 12
// bits each for the first three, so that k times them is exact; the error of the third subtraction
// is recovered and joins the fourth part.
weft_impl_angle weft_impl_reduce(uint a)
{
    if (a >= 0x45800000u) {
        return weft_impl_reduce_large(a);
    }
    float x = uintBitsToFloat(a);
    float t = fma(x, 0.636619747f, 12582912.0f);
    float k = t - 12582912.0f;
    float r = fma(k, 4.47034836e-06f, fma(k, -1.57080078f, x));
    float part = k * 1.58906914e-08f; // exact, so that fma would give the same
    float s = r - part;
    float lost = (r - s) - part;
    weft_impl_angle result;
    result.r = s + fma(k, -2.56334407e-12f, lost);
    result.quadrant = floatBitsToUint(t) & 3u;
    return result;
}

struct weft_waves {
    float cosine;
    float sine;
};

// cos(x) and sin(x), which share most of the work.
weft_waves weft_cos_sin(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    uint sign = u & WEFT_BITS_SIGN;
    weft_impl_angle angle = weft_impl_reduce(a);
    uint c = floatBitsToUint(weft_impl_small_cos(angle.r));
    uint s = floatBitsToUint(weft_impl_small_sin(angle.r));
    bool odd = (angle.quadrant & 1u) != 0u;
    uint cosine = (odd ? s : c) ^ (((angle.quadrant + 1u) & 2u) << 30);
    uint sine = (odd ? c : s) ^ ((angle.quadrant & 2u) << 30) ^ sign;
    sine = a < WEFT_BITS_MIN_NORMAL ? sign : sine;
    bool number = a < WEFT_BITS_INF;
    weft_waves result;
    result.cosine = uintBitsToFloat(number ? cosine : WEFT_BITS_NAN);
    result.sine = uintBitsToFloat(number ? sine : WEFT_BITS_NAN);
    return result;
}

// sin(x), x in radians. Measured maximum: 1.562 ulp over the whole range, 1.534. sin(+-0) = +-0,
// sin(+-inf) = NaN.
float weft_sin(float x) { return weft_cos_sin(x).sine; }

// cos(x), x in radians. Measured maximum: 1.555 ulp over the whole range. cos(+-inf) = NaN.
float weft_cos(float x) { return weft_cos_sin(x).cosine; }

// e^x - 1. Measured maximum over every 1009th input: 1.445 ulp, 1.394. expm1(+-0) = +-0, expm1(-inf) = -1, expm1(+inf) = +inf.
// As weft_impl_exp_pair, with e^x = 2^k (1 + s): (2^k - 1) + 2^k s, in halves, since 2^k may overflow.
float weft_expm1(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    uint most = (u & WEFT_BITS_SIGN) != 0u ? 0x41f00000u : 0x42b20000u; // 30 and 89
    float v = uintBitsToFloat((u & WEFT_BITS_SIGN) | (a > most ? most : a));
    float t = fma(v, 1.44269502f, 12582912.0f);
    float k = t - 12582912.0f;
    float s = weft_impl_exp_less_1(fma(k, -0.693145752f, v), k * -1.42860677e-06f);
    float scale = uintBitsToFloat((floatBitsToUint(t) + 126u) << 23); // 2^(k-1)
    float y = weft_twice(fma(scale, s, scale - 0.5f));
    y = a < 0x33000000u ? x : y;                                      // |x| < 2^-25
    y = int(u) > 0x42b17217 ? uintBitsToFloat(WEFT_BITS_INF) : y;     // x > 88.7228317
    y = a < WEFT_BITS_MIN_NORMAL ? uintBitsToFloat(u & WEFT_BITS_SIGN) : y;
    return a > WEFT_BITS_INF ? uintBitsToFloat(WEFT_BITS_NAN) : y;
}

// log(1 + x). Measured maximum over every 1009th input: 1.438 ulp in both modes. log1p(+-0) = +-0, log1p(-1) = -inf, log1p(x < -1) = NaN, log1p(+inf) = +inf.
// The rounding error c of w = 1 + x is exact, and log(w + c) = log(w) + c / w to float32.
float weft_log1p(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    float w = 1.0f + x;
    float minus_c = int(u) > int(WEFT_BITS_ONE) ? (w - x) - 1.0f : (w - 1.0f) - x;
    bool far = a > 0x4c800000u; // 2^26
    float y = fma(far ? 0.0f : minus_c, weft_impl_minus_rcp(far ? 1.0f : w), weft_log(w));
    uint r = floatBitsToUint(y);
    r = a < 0x33000000u ? u : r; // |x| < 2^-25
    r = u == WEFT_BITS_INF ? u : r;
    r = u == (WEFT_BITS_SIGN | WEFT_BITS_ONE) ? WEFT_BITS_SIGN | WEFT_BITS_INF : r;
    r = a < WEFT_BITS_MIN_NORMAL ? u & WEFT_BITS_SIGN : r;
    return uintBitsToFloat(a > WEFT_BITS_INF || u > (WEFT_BITS_SIGN | WEFT_BITS_ONE) ? WEFT_BITS_NAN : r);
}

// A number as the sum of two floats.
struct weft_impl_sum {
    float h;
    float l;
};

float weft_impl_upper(float x) // its first 12 bits
{
    return uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u);
}

// log(x), x a normal number with bits a, to about 2^-34. x = 2^k m as in weft_log, and log(m) = 2 atanh(s) with
// s = (m - 1) / (m + 1): 2 s + 2/3 s^3, of which the leading parts are exact products of 12 bits (suffix h), and the rest.
weft_impl_sum weft_impl_log_sum(uint a)
{
    uint i = a + 0x004afb0du; // 1.0 - sqrt(1/2) in bits
    float k = float(int(i >> 23) - 127);
    float m = uintBitsToFloat((i & WEFT_BITS_FRACTION) + 0x3f3504f3u);
    float f = m - 1.0f;
    float n = -1.0f - m; // and its rounding error
    float nl = (-1.0f - n) - m;
    float nh = weft_impl_upper(n);
    float y = weft_impl_minus_rcp(n);
    float s = f * y;
    float sh = weft_impl_upper(s);
    float sl = fma(sh, nl, fma(sh, n - nh, fma(sh, nh, f))) * y;
    float square = sh * sh;
    float zh = weft_impl_upper(square);
    float cube = sh * zh;
    float cube_h = weft_impl_upper(cube);
    float cube_l = fma(sh, square - zh, 3.0f * (sl * fma(sh, sl, square)));
    float z = s * s;
    float p = 0.181818187f; // 2/11
    p = fma(p, z, 0.222222224f);
    p = fma(p, z, 0.285714298f);
    p = fma(p, z, 0.400000006f);
    float third = 0.666503906f * cube_h; // 2/3 is 0.666503906 + 0.000162760422
    float third_l = fma(cube - cube_h, 0.666503906f, fma(cube, 0.000162760422f, 0.666666687f * cube_l));
    float leading = k * 0.693145752f;
    float next = weft_twice(sh);
    float h = leading + next;
    float l = next - (h - leading);
    float sum = h + third;
    l = (l + (third - (sum - h))) + (weft_twice(sl) + (third_l + fma(s * z * z, p, k * 1.42860677e-06f)));
    weft_impl_sum result;
    result.h = sum + l;
    result.l = l - (result.h - sum);
    return result;
}

// x^y, as pow of C: 1 for y = +-0 and for x = 1, NaN for x < 0 unless y is whole.
// Measured maximum over 6 million pairs: 0.916 ulp, 0.852. exp(y log|x|), with the logarithm and the product as sums of two floats.
float weft_pow(float x, float y)
{
    uint ux = floatBitsToUint(x);
    uint uy = floatBitsToUint(y);
    uint ax = ux & WEFT_BITS_ABS;
    uint ay = uy & WEFT_BITS_ABS;
    bool below = (uy & WEFT_BITS_SIGN) != 0u;
    weft_impl_sum logarithm = weft_impl_log_sum(ax);
    float yh = weft_impl_upper(y);
    float lh = weft_impl_upper(logarithm.h);
    float product = y * logarithm.h;
    float rest = (yh * lh - product) + fma(yh, logarithm.h - lh, (y - yh) * lh); // yh lh is exact
    rest = fma(y - yh, logarithm.h - lh, rest);
    uint held = floatBitsToUint(product);
    bool over = int(held) > 0x42b20000;  // 89
    bool under = held > 0xc2af0000u;     // -87.5
    float h = over || under ? 0.0f : product;
    float l = over || under ? 0.0f : fma(y, logarithm.l, rest);
    uint r = floatBitsToUint(weft_impl_exp_pair(h, l, 0u));
    r = r > WEFT_BITS_INF || over ? WEFT_BITS_INF : r;
    r = r < WEFT_BITS_MIN_NORMAL || under ? 0u : r;
    r = ax < WEFT_BITS_MIN_NORMAL ? (below ? WEFT_BITS_INF : 0u) : r;
    r = ax == WEFT_BITS_INF ? (below ? 0u : WEFT_BITS_INF) : r;
    r = ay == WEFT_BITS_INF ? ((ax > WEFT_BITS_ONE) != below ? WEFT_BITS_INF : 0u) : r;
    r = ay == WEFT_BITS_INF && ax == WEFT_BITS_ONE ? WEFT_BITS_ONE : r;
    // Whether y is whole and odd: from 2^24 on all are even.
    uint exponent = ay >> 23;
    bool small = exponent < 127u;
    uint shift = small || exponent > 150u ? 0u : 150u - exponent;
    uint significand = (ay & WEFT_BITS_FRACTION) | WEFT_BITS_MIN_NORMAL;
    bool whole = !small && (significand & ((1u << shift) - 1u)) == 0u;
    bool odd = whole && exponent <= 150u && ((significand >> shift) & 1u) != 0u;
    r = odd ? r | (ux & WEFT_BITS_SIGN) : r;
    bool nan = ux > WEFT_BITS_SIGN && ax >= WEFT_BITS_MIN_NORMAL && ax < WEFT_BITS_INF && !whole;
    r = nan || ax > WEFT_BITS_INF || ay > WEFT_BITS_INF ? WEFT_BITS_NAN : r;
    return uintBitsToFloat(ay < WEFT_BITS_MIN_NORMAL || ux == WEFT_BITS_ONE ? WEFT_BITS_ONE : r);
}

// The nearest whole number, of two the even one. Adding 2^23 rounds; from there on all numbers are whole.
float weft_round(float x)
{
    uint u = floatBitsToUint(x);
    uint a = u & WEFT_BITS_ABS;
    float r = (uintBitsToFloat(a < 0x4b000000u ? a : 0u) + 8388608.0f) - 8388608.0f;
    return weft_flush(uintBitsToFloat(a < 0x4b000000u ? (u & WEFT_BITS_SIGN) | floatBitsToUint(r) : u));
}

// Without the fraction.
float weft_trunc(float x)
{
    uint u = floatBitsToUint(x);
    uint whole = floatBitsToUint(weft_round(x)) & WEFT_BITS_ABS;
    float down = uintBitsToFloat(whole) - 1.0f;
    uint size = whole > (u & WEFT_BITS_ABS) ? floatBitsToUint(down) : whole;
    return weft_flush(uintBitsToFloat((u & WEFT_BITS_SIGN) | size));
}

// The largest whole number that is not above x. floor(-0) = -0.
float weft_floor(float x)
{
    float r = weft_trunc(x);
    bool above = int(floatBitsToUint(x)) < 0 && floatBitsToUint(r) != floatBitsToUint(weft_flush(x));
    return above ? r - 1.0f : r;
}

float weft_ceil(float x)
{
    float r = weft_floor(uintBitsToFloat(floatBitsToUint(x) ^ WEFT_BITS_SIGN));
    return weft_flush(uintBitsToFloat(floatBitsToUint(r) ^ WEFT_BITS_SIGN));
}

#endif

// |a| modulo |b|, exact, for numbers with bits a and b, 2^-126 <= |b| < inf, |a| < inf: significands by integers, eight bits at a
// time.
uint weft_impl_remainder(uint a, uint b)
{
    uint divisor = (b & WEFT_BITS_FRACTION) | WEFT_BITS_MIN_NORMAL;
    uint rest = (a & WEFT_BITS_FRACTION) | WEFT_BITS_MIN_NORMAL;
    uint exponent = b >> 23;
    uint steps = (a >> 23) - exponent;
    if (a < b) {
        return a;
    }
    rest = rest % divisor;
    while (steps != 0u) {
        uint step = min(steps, 8u);
        rest = (rest << step) % divisor;
        steps -= step;
    }
    uint up = 23u - uint(findMSB(rest | 1u));
    bool vanishes = rest == 0u || exponent <= up; // below 2^-126
    return vanishes ? 0u : ((rest << up) & WEFT_BITS_FRACTION) | ((exponent - up) << 23);
}

bool weft_impl_has_remainder(uint a, uint b) // of bits without signs
{
    return a < WEFT_BITS_INF && b >= WEFT_BITS_MIN_NORMAL && b <= WEFT_BITS_INF;
}

// a - b floor(a / b), with the sign of b; exact but for one rounding where a and b have different signs. modulo(a, +-0) = NaN,
// modulo(+-inf, b) = NaN.
float weft_modulo(float a, float b)
{
    uint sign = floatBitsToUint(b) & WEFT_BITS_SIGN;
    uint ua = floatBitsToUint(a) & WEFT_BITS_ABS;
    uint ub = floatBitsToUint(b) & WEFT_BITS_ABS;
    if (!weft_impl_has_remainder(ua, ub)) {
        return uintBitsToFloat(WEFT_BITS_NAN);
    }
    uint r = ua < WEFT_BITS_MIN_NORMAL ? 0u : weft_impl_remainder(ua, ub);
    bool other = (floatBitsToUint(a) & WEFT_BITS_SIGN) != sign && r != 0u;
    float size = other ? uintBitsToFloat(ub) - uintBitsToFloat(r) : uintBitsToFloat(r);
    return weft_flush(uintBitsToFloat(floatBitsToUint(size) | sign));
}

// A whole number of any size: its first bits, at most 31, and those behind them, of which only this matters.
struct weft_impl_whole {
    uint first;
    uint behind; // how many
    bool some; // of them are 1
    bool all;
    bool left; // whether the quotient has a fraction, too
};

// floor(|a / b|), for numbers with bits a and b as of weft_impl_remainder: significands by integers, seven bits at a time.
weft_impl_whole weft_impl_quotient(uint a, uint b)
{
    uint divisor = (b & WEFT_BITS_FRACTION) | WEFT_BITS_MIN_NORMAL;
    uint rest = (a & WEFT_BITS_FRACTION) | WEFT_BITS_MIN_NORMAL;
    weft_impl_whole whole;
    whole.first = 0u;
    whole.behind = 0u;
    whole.some = false;
    whole.all = true;
    whole.left = a != 0u;
    if (a < b || a < WEFT_BITS_MIN_NORMAL) {
        return whole;
    }
    uint steps = (a >> 23) - (b >> 23);
    whole.first = rest / divisor;
    rest = rest % divisor;
    while (steps != 0u) {
        uint step = min(steps, 7u);
        uint digit = (rest << step) / divisor;
        rest = (rest << step) % divisor;
        steps -= step;
        if (whole.first < 0x1000000u) {
            whole.first = (whole.first << step) | digit;
        } else {
            whole.behind += step;
            whole.some = whole.some || digit != 0u;
            whole.all = whole.all && digit + 1u == 1u << step;
        }
    }
    whole.left = rest != 0u;
    return whole;
}

weft_impl_whole weft_impl_next(weft_impl_whole whole) // and 1
{
    bool carries = whole.behind == 0u || whole.all;
    whole.first += uint(carries);
    whole.some = !carries;
    return whole;
}

uint weft_impl_round_whole(weft_impl_whole whole) // the bits of the number nearest to it, an even one of two
{
    if (whole.first < 0x1000000u) {
        return floatBitsToUint(float(whole.first));
    }
    uint over = uint(findMSB(whole.first)) - 23u;
    uint kept = whole.first >> over;
    uint cut = (whole.first << (31u - over)) << 1; // what is cut off, from the highest bit on
    bool up = cut > 0x80000000u || (cut == 0x80000000u && (whole.some || (kept & 1u) != 0u));
    uint exponent = over + whole.behind + 149u; // of `kept` without its highest bit
    return min((exponent << 23) + kept + uint(up), WEFT_BITS_INF);
}

// floor(a / b), rounded once. By +-0 it is a / b; floor_divide(+-inf, b) = NaN, as Python has it.
float weft_floor_divide(float a, float b)
{
    uint ua = floatBitsToUint(a) & WEFT_BITS_ABS;
    uint ub = floatBitsToUint(b) & WEFT_BITS_ABS;
    if (!weft_impl_has_remainder(ua, ub)) {
        return ua == WEFT_BITS_INF && ub >= WEFT_BITS_MIN_NORMAL ? uintBitsToFloat(WEFT_BITS_NAN) : weft_div(a, b);
    }
    uint sign = (floatBitsToUint(a) ^ floatBitsToUint(b)) & WEFT_BITS_SIGN;
    weft_impl_whole whole = weft_impl_quotient(ua < WEFT_BITS_MIN_NORMAL ? 0u : ua, ub);
    if (sign != 0u && whole.left) {
        whole = weft_impl_next(whole);
    }
    return uintBitsToFloat(weft_impl_round_whole(whole) | sign);
}

#endif
