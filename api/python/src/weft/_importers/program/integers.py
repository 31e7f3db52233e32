# SPDX-License-Identifier: MIT
"""Exact arithmetic of quantized numbers: products and convolutions of bytes in float32, which has whole numbers up to 2^24."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from .program import Value
from .windows import Windows, conv

if TYPE_CHECKING:
    from .ops import Builder

_EXACT = 2**24
_MOST_PARTS = 256  # that a sum is split into

Limits = tuple[int, int]


def quantized(b: Builder, x: Value, scale: Value, zero: Value | None, limits: Limits) -> Value:
    """round(x / scale) + zero within limits, as whole numbers."""
    rounded = b.unary("round", b.divide(x, scale))
    if zero is not None:
        rounded = b.add(rounded, b.convert(zero, "f32"))
    return b.convert(b.clamp(rounded, *limits), "i32")


def dequantized(b: Builder, x: Value, scale: Value, zero: Value | None) -> Value:
    """(x - zero) · scale."""
    return b.multiply(centred(b, x, zero), scale)


def centred(b: Builder, x: Value, zero: Value | None) -> Value:
    """x - zero in float32: exact for numbers of at most 24 bits, and rounded once for others."""
    if zero is None or (zero.array is not None and not zero.array.any()):
        return b.convert(x, "f32")
    if x.array is not None and zero.array is not None:
        return b.constant(x.array.astype(np.int64) - zero.array, "f32")
    return b.subtract(b.convert(x, "f32"), b.convert(zero, "f32"))


def quantized_dynamically(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Bytes from 0 to 255, their scale and their zero, by the least and the greatest number of x."""
    zero = b.constant(0.0, "f32")
    least = b.binary("minimum", b.reduce("min", x, None, False), zero)
    most = b.binary("maximum", b.reduce("max", x, None, False), zero)
    span = b.subtract(most, least)
    none = b.binary("equal", span, zero)
    scale = b.where(none, b.constant(1.0, "f32"), b.divide(span, b.constant(255.0, "f32")))
    point = b.clamp(b.unary("round", b.clamp(b.divide(b.unary("neg", least), scale), 0.0, 255.0)), 0.0, 255.0)
    rounded = b.clamp(b.add(b.unary("round", b.divide(x, scale)), point), 0.0, 255.0)
    return b.convert(rounded, "i32"), scale, b.convert(point, "i32")


def matmul(b: Builder, x: Value, weight: Value, most: int) -> Value:
    """The product of whole numbers in float32, of which those of x are at most so large; as i32."""
    if weight.array is not None:
        sizes = np.abs(weight.array.astype(np.int64))
        sizes = sizes[:, None] if weight.rank == 1 else np.moveaxis(sizes, -2, 0).reshape(sizes.shape[-2], -1)
    else:
        sizes = np.full((_number(x.shape[-1]), 1), 255)
    axis = max(weight.rank - 2, 0)

    def part(start: int, count: int) -> Value:
        return b.matmul(b.slice(x, -1, start, count), b.slice(weight, axis, start, count))

    return _in_parts(b, sizes * most, part)


def convolution(b: Builder, x: Value, weight: Value, windows: Windows, groups: int, most: int) -> Value:
    """The same of a convolution, split over the channels of each group."""
    inner = int(str(weight.shape[1]))
    if weight.array is not None:
        sizes = np.abs(weight.array.astype(np.int64)).reshape(*weight.array.shape[:2], -1).sum(-1).T
    else:
        taps = int(np.prod([int(str(extent)) for extent in weight.shape[2:]]))
        sizes = np.full((inner, 1), 255 * taps)

    def part(start: int, count: int) -> Value:
        if count == inner:
            return conv(b, x, weight, None, windows, groups)
        split = b.reshape(x, [x.shape[0], groups, inner, *x.shape[2:]])
        own = b.slice(split, 2, start, count)
        own = b.reshape(own, [x.shape[0], groups * count, *x.shape[2:]])
        return conv(b, own, b.slice(weight, 1, start, count), None, windows, groups)

    return _in_parts(b, sizes * most, part)


def _in_parts(b: Builder, sizes: np.ndarray[Any, Any], part: Callable[[int, int], Value]) -> Value:
    """The sum of parts, each of which float32 has exactly in any order. `sizes`: how large an element of the sum can be for
    each output, [elements, outputs]."""
    total: Value | None = None
    for start, count in _cuts(sizes):
        found = b.convert(part(start, count), "i32")
        total = found if total is None else b.add(total, found)
    assert total is not None
    return total


def _cuts(sizes: np.ndarray[Any, Any]) -> Sequence[tuple[int, int]]:
    cuts: list[tuple[int, int]] = []
    start = 0
    while start < len(sizes):
        sums = np.cumsum(sizes[start:], 0).max(-1)
        count = int(np.searchsorted(sums, _EXACT, side="right"))
        if count == 0 or len(cuts) == _MOST_PARTS:
            raise errors.Unsupported("its sums are too large to be exact in float32, even in parts")
        cuts.append((start, count))
        start += count
    return cuts


def _number(extent: Any) -> int:
    if not isinstance(extent, int):
        raise errors.Unsupported(f"it sums over {extent} products, and how many those are is not known")
    return extent
