# SPDX-License-Identifier: MIT
"""Functions of one or two numbers that a program lacks, of those that it has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .program import Value
from .sizes import Extent, bounds, smaller

if TYPE_CHECKING:
    from .ops import Builder

_TANGENT = math.tan(math.pi / 8)
_ATAN = (1.0, -0.333333075, 0.199981824, -0.142395333, 0.105698287, -0.0602630526)
"""Of s², for atan(s) / s up to that tangent: interpolated at Chebyshev's points."""
_LARGE = 1e9  # x² + 1 is x² in float32 long before

# M. Giles, Approximating the erfinv function (2012), single precision, in w = -log(1 - x²)
_ERFINV_NEAR = (1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06,
                3.43273939e-07, 2.81022636e-08)
_ERFINV_FAR = (2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322,
               0.000100950558, -0.000200214257)


def polynomial(b: Builder, x: Value, factors: Sequence[float]) -> Value:
    """Σ factors[i] · xⁱ."""
    found = b.affine(x, factors[-1], factors[-2])
    for factor in reversed(factors[:-2]):
        found = b.affine(b.multiply(found, x), 1.0, factor)
    return found


def _number(b: Builder, number: float) -> Value:
    return b.constant(number, "f32")


def _atan_to_1(b: Builder, x: Value) -> Value:
    """The arc tangent of numbers from 0 to 1."""
    far = b.binary("greater", x, _number(b, _TANGENT))
    turned = b.divide(b.affine(x, 1.0, -1.0), b.affine(x, 1.0, 1.0))
    s = b.where(far, turned, x)
    found = b.multiply(s, polynomial(b, b.multiply(s, s), _ATAN))
    return b.where(far, b.affine(found, 1.0, math.pi / 4), found)


def _is_negative(b: Builder, x: Value) -> Value:
    """Whether its sign is, of zeros too."""
    zero = _number(b, 0.0)
    return b.binary("logical_or", b.binary("less", x, zero), b.binary("less", b.unary("reciprocal", x), zero))


def atan2(b: Builder, y: Value, x: Value, signed_zeros: bool = True) -> Value:
    """The angle of (x, y). `signed_zeros`: whether a y of -0 is below 0, as in IEEE 754."""
    height, width = b.unary("abs", y), b.unary("abs", x)
    least, most = b.binary("minimum", height, width), b.binary("maximum", height, width)
    same = b.binary("equal", least, most)  # two zeros or infinities, too
    ratio = b.where(same, _number(b, 1.0), b.divide(least, most))
    zero = b.binary("equal", most, _number(b, 0.0))
    angle = b.where(zero, _number(b, 0.0), _atan_to_1(b, ratio))
    steep = b.binary("greater", height, width)
    angle = b.where(steep, b.affine(angle, -1.0, math.pi / 2), angle)
    angle = b.where(_is_negative(b, x), b.affine(angle, -1.0, math.pi), angle)
    below = _is_negative(b, y) if signed_zeros else b.binary("less", y, _number(b, 0.0))
    return b.where(below, b.unary("neg", angle), angle)


def atan(b: Builder, x: Value) -> Value:
    """The arc tangent."""
    size = b.unary("abs", x)
    steep = b.binary("greater", size, _number(b, 1.0))
    found = _atan_to_1(b, b.where(steep, b.unary("reciprocal", size), size))
    found = b.where(steep, b.affine(found, -1.0, math.pi / 2), found)
    return b.where(b.binary("less", x, _number(b, 0.0)), b.unary("neg", found), found)


def _other_side(b: Builder, x: Value) -> Value:
    """√(1 - x²)."""
    return b.unary("sqrt", b.multiply(b.affine(x, -1.0, 1.0), b.affine(x, 1.0, 1.0)))


def asin(b: Builder, x: Value) -> Value:
    """The arc sine."""
    return atan2(b, x, _other_side(b, x))


def acos(b: Builder, x: Value) -> Value:
    """The arc cosine."""
    return atan2(b, _other_side(b, x), x)


def asinh(b: Builder, x: Value) -> Value:
    """The inverse of sinh."""
    size = b.unary("abs", x)
    square = b.multiply(size, size)
    root = b.affine(b.unary("sqrt", b.affine(square, 1.0, 1.0)), 1.0, 1.0)
    found = b.unary("log1p", b.add(size, b.divide(square, root)))
    large = b.affine(b.unary("log", size), 1.0, math.log(2))
    found = b.where(b.binary("greater", size, _number(b, _LARGE)), large, found)
    return b.where(b.binary("less", x, _number(b, 0.0)), b.unary("neg", found), found)


def acosh(b: Builder, x: Value) -> Value:
    """The inverse of cosh."""
    more = b.affine(x, 1.0, -1.0)
    found = b.unary("log1p", b.add(more, b.unary("sqrt", b.multiply(more, b.affine(more, 1.0, 2.0)))))
    large = b.affine(b.unary("log", x), 1.0, math.log(2))
    return b.where(b.binary("greater", x, _number(b, _LARGE)), large, found)


def atanh(b: Builder, x: Value) -> Value:
    """The inverse of tanh."""
    return b.affine(b.subtract(b.unary("log1p", x), b.unary("log1p", b.unary("neg", x))), 0.5, 0.0)


def sinh(b: Builder, x: Value) -> Value:
    """(eˣ - e⁻ˣ) / 2."""
    return b.affine(b.subtract(b.unary("expm1", x), b.unary("expm1", b.unary("neg", x))), 0.5, 0.0)


def cosh(b: Builder, x: Value) -> Value:
    """(eˣ + e⁻ˣ) / 2."""
    return b.affine(b.add(b.unary("exp", x), b.unary("exp", b.unary("neg", x))), 0.5, 0.0)


def erfinv(b: Builder, x: Value) -> Value:
    """The inverse of erf."""
    w = b.unary("neg", b.unary("log", b.multiply(b.affine(x, -1.0, 1.0), b.affine(x, 1.0, 1.0))))
    near = polynomial(b, b.affine(w, 1.0, -2.5), _ERFINV_NEAR)
    far = polynomial(b, b.affine(b.unary("sqrt", w), 1.0, -3.0), _ERFINV_FAR)
    found = b.multiply(x, b.where(b.binary("less", w, _number(b, 5.0)), near, far))
    ends = b.binary("equal", b.unary("abs", x), _number(b, 1.0))
    return b.where(ends, b.multiply(x, _number(b, math.inf)), found)


FUNCTIONS: dict[str, Callable[[Builder, Value], Value]] = {
    "acos": acos, "acosh": acosh, "asin": asin, "asinh": asinh, "atan": atan, "atanh": atanh, "cosh": cosh, "erfinv": erfinv,
    "sinh": sinh}
"""Of one number, by their usual names."""


def cumulative_product(b: Builder, x: Value, axis: int) -> Value:
    """Products of what comes before an element and the element, in as many steps as its extent has bits."""
    extent: Extent = x.shape[axis]
    most, step = bounds(extent)[1], 1
    while step < most:
        shift = smaller(step, extent)
        before = b.pad(b.slice(x, axis, 0, extent - shift), axis, shift, 0, 1.0)
        x = b.multiply(x, before)
        step *= 2
    return x
