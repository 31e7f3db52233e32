# SPDX-License-Identifier: MIT
"""The functions of docs/numerics.md, section 3: each takes the machine and an array of float32."""

from __future__ import annotations

import numpy as np

from arithmetic import INFINITY_BITS, NAN_BITS, SIGN_BITS, Machine, absolute, bits, float_of, negative, number, upper

BIG = float_of(12582912.0)  # 1.5 2^23
ONE = np.float32(1)
TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163AB  # behind 32 zeros: 256 bits


def with_nan(x: np.ndarray, result: np.ndarray) -> np.ndarray:
    """NaN gives NaN."""
    return np.where(np.isnan(x), number(NAN_BITS), result)


def is_subnormal(x: np.ndarray) -> np.ndarray:
    """Or zero."""
    return bits(absolute(x)) < 0x00800000


def with_sign(x: np.ndarray, size: np.ndarray) -> np.ndarray:
    """An odd function of x from that of |x|; zeros and subnormals stay zeros."""
    return with_nan(x, number(np.where(is_subnormal(x), 0, bits(size)) | (bits(x) & SIGN_BITS)))


def at_most(x: np.ndarray, limit: float) -> np.ndarray:
    """min(|x|, limit)."""
    return number(np.minimum(bits(absolute(x)), bits(float_of(limit))))


# ---- exp ----

def less_1(m: Machine, high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """e^(high + low) - 1 of a reduced argument."""
    r = m.add(high, low)
    q = m.poly(r, 0.00138382358, 0.00836929679, 0.0416680872, 0.166665152, 0.49999994)
    return m.add(high, m.fma(m.mul(r, r), q, low))


def reduced(m: Machine, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The multiple of log 2, in the low bits of a number and as a number."""
    t = m.fma(x, float_of(1.44269502), BIG)
    return t, m.sub(t, BIG)


def exp_pair(m: Machine, high: np.ndarray, low: np.ndarray, exponent: int) -> np.ndarray:
    """2^exponent e^(high + low)."""
    t, k = reduced(m, m.add(high, low))
    p = m.add(ONE, less_1(m, m.fma(k, float_of(-0.693145752), high), m.fma(k, float_of(-1.42860677e-06), low)))
    return number(bits(p) + ((bits(t) + exponent) << 23))


def exp_1(m: Machine, x: np.ndarray, exponent: int) -> np.ndarray:
    """2^exponent e^x."""
    t, k = reduced(m, x)
    p = m.add(ONE, less_1(m, m.fma(k, float_of(-0.693145752), x), m.mul(k, float_of(-1.42860677e-06))))
    return number(bits(p) + ((bits(t) + exponent) << 23))


def exp(m: Machine, x: np.ndarray) -> np.ndarray:
    """e^x."""
    u = bits(x)
    r = np.where((u < SIGN_BITS) & (u > 0x42B17217), np.float32(np.inf), exp_1(m, x, 0))
    return with_nan(x, np.where(u > 0xC2AEAC4F, np.float32(0), r))


def expm1(m: Machine, x: np.ndarray) -> np.ndarray:
    """e^x - 1."""
    u, a = bits(x), bits(absolute(x))
    limit = np.where(u & SIGN_BITS, bits(float_of(30)), bits(float_of(89)))
    v = number(np.minimum(a, limit) | (u & SIGN_BITS))
    t, k = reduced(m, v)
    s = less_1(m, m.fma(k, float_of(-0.693145752), v), m.mul(k, float_of(-1.42860677e-06)))
    c = number((bits(t) + 126) << 23)
    y = m.twice(m.fma(c, s, m.sub(c, float_of(0.5))))
    y = np.where(a < 0x33000000, x, y)
    y = np.where((u < SIGN_BITS) & (u > 0x42B17217), np.float32(np.inf), y)
    return with_nan(x, np.where(is_subnormal(x), number(u & SIGN_BITS), y))


# ---- log and roots ----

def log(m: Machine, x: np.ndarray) -> np.ndarray:
    """The natural logarithm."""
    u = bits(x)
    i = (u + 0x004AFB0D) & 0xFFFFFFFF
    k = ((i >> 23) - 127).astype(np.float32)
    f = m.sub(number((i & 0x007FFFFF) + 0x3F3504F3), ONE)
    z = m.mul(f, f)
    p = m.poly(f, -0.0763576776, 0.127633885, -0.131605655, 0.142015427, -0.166232988, 0.200012341, -0.250008225, 0.333333313)
    tail = m.fma(m.mul(z, f), p, m.mul(k, float_of(1.42860677e-06)))
    y = m.fma(k, float_of(0.693145752), m.add(f, m.fma(z, float_of(-0.5), tail)))
    y = np.where(u >= INFINITY_BITS, number(np.where(u == INFINITY_BITS, u, NAN_BITS)), y)
    return with_nan(x, np.where(is_subnormal(x), np.float32(-np.inf), y))


def minus_rcp(m: Machine, d: np.ndarray) -> np.ndarray:
    """About -1 / d."""
    y = number(0xFEF31000 - bits(d))
    e = m.fma(d, y, ONE)
    y = m.fma(y, m.fma(e, e, e), y)
    return m.fma(y, m.fma(d, y, ONE), y)


def rsqrt(m: Machine, x: np.ndarray) -> np.ndarray:
    """1 / sqrt(x)."""
    u, a = bits(x), bits(absolute(x))
    h = (a + 0x00800000) >> 24
    n = number((a - ((h - 64) << 24)) | SIGN_BITS)
    y = number(0x9F374400 - (bits(n) >> 1))

    def better(y: np.ndarray, e: np.ndarray) -> np.ndarray:
        return m.fma(y, m.mul(e, m.fma(e, float_of(0.375), float_of(0.5))), y)
    y = upper(better(y, m.fma(m.mul(n, y), y, ONE)))
    high = upper(n)
    p, q = m.mul(high, y), m.mul(m.sub(n, high), y)
    g = upper(p)
    y = better(y, m.fma(q, y, m.fma(m.sub(p, g), y, m.fma(g, y, ONE))))
    r = number(bits(y) - ((h - 64) << 23))
    r = np.where(u >= INFINITY_BITS, number(np.where(u == INFINITY_BITS, 0, NAN_BITS)), r)
    return with_nan(x, np.where(is_subnormal(x), number(INFINITY_BITS | (u & SIGN_BITS)), r))


# ---- tanh and erf ----

def tanh(m: Machine, x: np.ndarray) -> np.ndarray:
    """The hyperbolic tangent."""
    v = at_most(x, 10)
    z = m.mul(v, v)
    p = m.poly(z, -0.00627348665, 0.0210711788, -0.0538521968, 0.133325845, -0.333333164)
    near = m.fma(v, m.mul(z, p), v)
    e = exp_1(m, negative(m.twice(v)), 0)
    far = m.fma(m.add(e, e), minus_rcp(m, m.add(ONE, e)), ONE)
    return with_sign(x, np.where(bits(absolute(x)) < 0x3F0CCCCD, near, far))


def erf(m: Machine, x: np.ndarray) -> np.ndarray:
    """The error function."""
    v = at_most(x, 3.95)
    z = m.mul(v, v)
    p = m.poly(z, 8.35764367e-05, -0.000814153114, 0.00520115485, -0.0268595908, 0.112837039, -0.376126349)
    near = m.mul(v, m.add(float_of(1.12837923), m.fma(p, z, float_of(-5.86353828e-08))))
    q = m.poly(v, 0.000194940498, -0.00303366757, 0.0221897252, -0.10385631, -0.637265801, -1.12762737, -0.000207017962)
    far = m.sub(ONE, exp_1(m, q, 0))
    return with_sign(x, np.where(bits(absolute(x)) < 0x3F6BE76D, near, far))


# ---- cosine and sine ----

def reduce_large(a: int) -> tuple[np.float32, int]:
    """r and the quadrant of the number with bits a, 4096 or more, in whole numbers."""
    significand = a & 0x007FFFFF | 0x00800000
    window = TWO_OVER_PI >> (256 - 96 - ((a >> 23) - 120)) & (1 << 96) - 1
    product = (significand * window >> 32) & (1 << 64) - 1
    high, low = product >> 32, product & 0xFFFFFFFF
    quadrant = (high + 0x20000000 & 0xFFFFFFFF) >> 30
    high = high - (quadrant << 30) & 0xFFFFFFFF
    below = high >> 31
    if below:
        high, low = high ^ 0xFFFFFFFF, low ^ 0xFFFFFFFF
    lead = (high | 1).bit_length() - 1
    normal = (high << (31 - lead) & 0xFFFFFFFF) | (low >> 1) >> lead
    size = np.float32(normal * 0xC90FDAA2 >> 32) * np.float32(2.0 ** (lead - 60))
    return -size if below else size, quadrant


def reduce_angle(m: Machine, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|x| as quadrant π/2 + r."""
    v = absolute(x)
    t = m.fma(v, float_of(0.636619747), BIG)
    k = m.sub(t, BIG)
    r0 = m.fma(k, float_of(4.47034836e-06), m.fma(k, float_of(-1.57080078), v))
    c = m.mul(k, float_of(1.58906914e-08))
    s = m.sub(r0, c)
    r = m.add(s, m.fma(k, float_of(-2.56334407e-12), m.sub(m.sub(r0, s), c)))
    quadrant = bits(t) & 3
    for i in np.flatnonzero((v >= 4096) & np.isfinite(v)):
        r.flat[i], quadrant.flat[i] = reduce_large(int(bits(v).flat[i]))
    return r, quadrant


def cos_sin(m: Machine, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine."""
    r, quadrant = reduce_angle(m, x)
    z = m.mul(r, r)
    s = m.fma(r, m.mul(z, m.poly(z, -0.000195180852, 0.00833218824, -0.166666552)), r)
    c = m.poly(z, 2.44306702e-05, -0.00138873013, 0.0416666456)
    g = m.mul(float_of(0.5), z)
    w = m.sub(ONE, g)
    c = m.add(w, m.fma(m.mul(z, z), c, m.sub(m.sub(ONE, w), g)))
    odd = quadrant & 1 == 1
    cosine = number(bits(np.where(odd, s, c)) ^ ((quadrant + 1 & 2) << 30))
    sine = number(bits(np.where(odd, c, s)) ^ ((quadrant & 2) << 30) ^ (bits(x) & SIGN_BITS))
    sine = np.where(is_subnormal(x), number(bits(x) & SIGN_BITS), sine)
    return tuple(np.where(np.isfinite(x), part, number(NAN_BITS)) for part in (cosine, sine))


# ---- activations ----

def logistic_256(m: Machine, x: np.ndarray, e: np.ndarray) -> np.ndarray:
    """256 / (1 + e^-z), e being 256 e^-|z| and z of the sign of x."""
    factor = np.where(bits(x) & SIGN_BITS, e, np.float32(256))
    return m.mul(factor, minus_rcp(m, m.fma(e, float_of(-0.00390625), np.float32(-1))))


def decay_256(m: Machine, x: np.ndarray) -> np.ndarray:
    """256 e^-|x|."""
    return exp_1(m, negative(at_most(x, 92)), 8)


def gate(m: Machine, x: np.ndarray, s: np.ndarray, zero_below: float) -> np.ndarray:
    """x times s / 256, and the special cases."""
    u, a = bits(x), bits(absolute(x))
    half = np.where(a < 0x01000000, u & SIGN_BITS, u - 0x00800000)
    r = np.where(a < 0x33800000, number(half), m.mul(m.mul(x, float_of(0.00390625)), s))
    r = np.where(u > SIGN_BITS | bits(float_of(zero_below)), np.float32(0), r)
    return with_nan(x, np.where(u == INFINITY_BITS, x, r))


def sigmoid(m: Machine, x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x)."""
    u = bits(x)
    s = m.mul(float_of(0.00390625), logistic_256(m, x, decay_256(m, x)))
    s = np.where((u < SIGN_BITS) & (u > bits(float_of(18))), ONE, s)
    return with_nan(x, np.where(u > 0xC2AEAC4F, np.float32(0), s))


def silu(m: Machine, x: np.ndarray) -> np.ndarray:
    """x sigmoid(x)."""
    return gate(m, x, logistic_256(m, x, decay_256(m, x)), 91.5)


def gelu_tanh(m: Machine, x: np.ndarray) -> np.ndarray:
    """GELU in its form by tanh."""
    v = negative(at_most(x, 10.1000004))
    f = upper(v)
    g = m.sub(v, f)
    s, t = m.mul(f, f), m.mul(g, m.add(v, f))
    z = upper(s)
    y = m.add(m.sub(s, z), t)
    a = m.mul(float_of(0.0713500977), z)
    b = m.fma(y, float_of(0.0713500977), m.fma(m.add(z, y), float_of(4.71861631e-06), float_of(6.59966026e-05)))
    first = float_of(1.59570312)
    w = upper(m.add(first, m.add(a, b)))
    c = m.add(m.add(m.sub(first, w), a), b)
    e = exp_pair(m, m.mul(f, w), m.fma(f, c, m.mul(g, m.add(w, c))), 8)
    return gate(m, x, logistic_256(m, x, e), 10.1000004)


def gelu_erf(m: Machine, x: np.ndarray) -> np.ndarray:
    """GELU by the error function."""
    v = at_most(x, 13.5)
    f = upper(v)
    half = float_of(-0.5)
    e = exp_pair(m, m.mul(half, m.mul(f, f)), m.mul(half, m.mul(m.sub(v, f), m.add(v, f))), 8)
    y = minus_rcp(m, m.sub(np.float32(-4), v))
    p = m.poly(m.mul(m.sub(v, np.float32(4)), y), 0.000414548384, 0.0015837783, -0.00365955872, -0.0075601046, 0.060435053,
               -0.186517015, 0.387134522, -0.607896805, 0.755285144)
    t = m.mul(m.mul(p, y), e)
    return gate(m, x, np.where(bits(x) & SIGN_BITS, t, m.sub(np.float32(256), t)), 13)


def relu(m: Machine, x: np.ndarray) -> np.ndarray:
    """Positive numbers alone."""
    u = bits(x)
    return with_nan(x, np.where((u & SIGN_BITS != 0) | (u < 0x00800000), np.float32(0), x))


def elu1(m: Machine, x: np.ndarray) -> np.ndarray:
    """elu(x) + 1."""
    u = bits(x)
    return np.where((u > 0) & (u < INFINITY_BITS), m.add(x, ONE), exp(m, x))


ACTIVATIONS = {"none": lambda m, x: x, "gelu_tanh": gelu_tanh, "gelu_erf": gelu_erf, "tanh": tanh, "relu": relu,
               "sigmoid": sigmoid, "silu": silu, "elu1": elu1, "exp": exp}

UNARY = {"neg": lambda m, x: negative(x), "abs": lambda m, x: absolute(x), "square": lambda m, x: m.mul(x, x),
         "sqrt": Machine.sqrt, "rsqrt": rsqrt, "reciprocal": Machine.rcp, "log": log, "expm1": expm1, "erf": erf,
         "sin": lambda m, x: cos_sin(m, x)[1], "cos": lambda m, x: cos_sin(m, x)[0]}
