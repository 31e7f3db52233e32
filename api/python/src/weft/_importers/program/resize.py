# SPDX-License-Identifier: MIT
"""Interpolation along an axis: a gather, sums of gathers with weights, or a product with a matrix."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from .program import Value, resolved
from .sizes import Extent

if TYPE_CHECKING:
    from .ops import Builder

_MOST_GATHERS = 4  # taps of an output: more are a product with a matrix
_FREE = 8  # the extent with which is tried whether an axis is only repeated

_SHIFTS = {"round_prefer_floor": (True, -0.5), "round_prefer_ceil": (False, 0.5), "floor": (False, 0.0), "ceil": (True, 0.0)}
"""Of each way to the nearest element: whether it is rounded up, and what is added before."""


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Where an output of an axis comes from, and of what it is made, in ONNX's words."""

    mode: str = "nearest"
    """nearest, linear or cubic."""
    transform: str = "half_pixel"
    nearest: str = "round_prefer_floor"
    cubic: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation: float = 0.0
    roi: tuple[float, float] = (0.0, 1.0)
    """Of tf_crop_and_resize: the first and the last place, as fractions."""


def resize_axis(b: Builder, x: Value, axis: int, count: Extent, scale: float | tuple[Extent, Extent], how: Sampling) -> Value:
    """`count` elements in the place of an axis's. `scale`: by how much it grows, or the two sizes whose quotient that is."""
    axis = resolved(axis, x.rank)
    extent = x.shape[axis]
    factor = _number(scale)
    if factor is not None and _repeats(how, factor):
        return repeat(b, x, axis, round(factor))
    if isinstance(extent, int) and isinstance(count, int) and factor is not None:
        places = _places(how, extent, count, factor)
        found = _of_places(b, x, axis, places, how, factor)
        if how.transform != "tf_crop_and_resize":
            return found
        outside = (places < 0) | (places > extent - 1)
        if not outside.any():
            return found
        return b.where(b.constant(_along(outside, axis, x.rank), "i32"), b.constant(how.extrapolation, "f32"), found)
    return _of_free_size(b, x, axis, count, scale, how)


def repeat(b: Builder, x: Value, axis: int, times: Extent) -> Value:
    """Each element of an axis so often."""
    before, after = list(x.shape[:axis + 1]), list(x.shape[axis + 1:])
    wide = b.expand(b.reshape(x, [*before, 1, *after]), [*before, times, *after])
    return b.reshape(wide, [*before[:-1], before[-1] * times, *after])


def _number(scale: float | tuple[Extent, Extent]) -> float | None:
    if not isinstance(scale, tuple):
        return float(scale)
    after, before = scale
    quotient = after // before
    if isinstance(quotient, int) and quotient * before == after:
        return float(quotient)
    return after / before if isinstance(after, int) and isinstance(before, int) else None


def _repeats(how: Sampling, factor: float) -> bool:
    """Whether each element is taken so often, whatever the size of the axis."""
    if how.mode != "nearest" or not factor.is_integer() or factor < 1:
        return False
    if how.transform not in ("asymmetric", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
        return False
    count = round(factor) * _FREE
    at = _nearest(_places(how, _FREE, count, factor), how.nearest).clip(0, _FREE - 1)
    return bool((at == np.arange(count) // round(factor)).all())


# ---- sizes that are known ----

def _places(how: Sampling, extent: int, count: int, factor: float) -> np.ndarray[Any, Any]:
    """Where each output comes from."""
    at, width = np.arange(count, dtype=np.float64), factor * extent
    if how.transform == "align_corners":
        return at * 0.0 if width == 1 else at * (extent - 1) / (width - 1)
    if how.transform == "asymmetric":
        return at / factor
    if how.transform == "tf_crop_and_resize":
        first, last = how.roi
        if width == 1:
            return at * 0.0 + (first + last) * (extent - 1) / 2
        return first * (extent - 1) + at * (last - first) * (extent - 1) / (width - 1)
    if how.transform == "tf_half_pixel_for_nn":
        return (at + 0.5) / factor
    if how.transform == "pytorch_half_pixel" and width == 1:
        return at * 0.0 - 0.5
    if how.transform in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
        offset = extent / 2 * (1 - count / width) if how.transform == "half_pixel_symmetric" else 0.0
        return offset + (at + 0.5) / factor - 0.5
    raise errors.Unsupported(f"its places are those of {how.transform}")


def _nearest(places: np.ndarray[Any, Any], word: str) -> np.ndarray[Any, Any]:
    if word not in _SHIFTS:
        raise errors.Unsupported(f"its nearest element is that of {word}")
    upward, shift = _SHIFTS[word]
    return np.asarray(np.ceil(places + shift) if upward else np.floor(places + shift), np.int64)


def _of_places(b: Builder, x: Value, axis: int, places: np.ndarray[Any, Any], how: Sampling, factor: float) -> Value:
    extent = int(str(x.shape[axis]))
    if how.mode == "nearest":
        at = _nearest(places, how.nearest).clip(0, extent - 1)
        return b.take(x, b.constant(at, "i32"), axis)
    at, weights = _taps(places, how, factor)
    if how.exclude_outside:
        weights = np.where((at < 0) | (at >= extent), 0.0, weights)
        weights = weights / weights.sum(0)
    at = at.clip(0, extent - 1)
    if len(at) > _MOST_GATHERS:
        matrix = np.zeros((len(places), extent))
        for index, weight in zip(at, weights):
            np.add.at(matrix, (np.arange(len(places)), index), weight)
        return by_matrix(b, x, axis, matrix)
    return _sum(b, [b.multiply(b.take(x, b.constant(index, "i32"), axis), b.constant(_along(weight, axis, x.rank), "f32"))
                    for index, weight in zip(at, weights) if weight.any()])


def by_matrix(b: Builder, x: Value, axis: int, matrix: np.ndarray[Any, Any]) -> Value:
    """Sums over an axis: a row of the matrix [new, old] for each new element."""
    return b.swap(b.matmul(b.swap(x, axis, -1), b.constant(matrix.T, "f32")), axis, -1)


def _taps(places: np.ndarray[Any, Any], how: Sampling, factor: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """[taps, outputs]: the elements of which an output is made, and their weights."""
    whole = np.floor(places)
    rest = places - whole
    reach = 1 if how.mode == "linear" else 2
    narrow = min(factor, 1.0) if how.antialias else 1.0
    first = math.floor(-reach / narrow) + 1
    steps = np.arange(first, 2 - first)[:, None]
    distance = np.abs(steps - rest) * narrow
    weights = (1 - distance).clip(0, 1) if how.mode == "linear" else _cubic(distance, how.cubic)
    if how.antialias:
        weights = weights / weights.sum(0)
    return (whole + steps).astype(np.int64), weights


def _cubic(x: np.ndarray[Any, Any], a: float) -> np.ndarray[Any, Any]:
    """Keys' kernel at a distance."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _along(numbers: np.ndarray[Any, Any], axis: int, rank: int) -> np.ndarray[Any, Any]:
    return numbers.reshape([-1 if at == axis else 1 for at in range(rank)])


def _sum(b: Builder, parts: list[Value]) -> Value:
    found = parts[0]
    for part in parts[1:]:
        found = b.add(found, part)
    return found


# ---- sizes that are free ----

def _of_free_size(b: Builder, x: Value, axis: int, count: Extent, scale: float | tuple[Extent, Extent], how: Sampling) -> Value:
    """The same in float32 as a program computes it."""
    if how.antialias or how.exclude_outside:
        raise errors.Unsupported(f"the size of axis {axis} is no number, and its weights depend on that")
    last = b.size(x.shape[axis] - 1)
    places = _free_places(b, x.shape[axis], count, scale, how)

    def taken(at: Value) -> Value:
        inside = b.binary("minimum", b.binary("maximum", b.convert(at, "i32"), b.constant(0, "i32")), last)
        return b.take(x, inside, axis)

    if how.mode == "nearest":
        return taken(_free_nearest(b, places, how.nearest))
    whole = b.unary("floor", places)
    rest = b.subtract(places, whole)
    steps = (0, 1) if how.mode == "linear" else (-1, 0, 1, 2)
    shape: list[Extent] = [-1 if at == axis else 1 for at in range(x.rank)]
    parts = []
    for step in steps:
        weight = _free_weight(b, rest, step, how)
        parts.append(b.multiply(taken(b.affine(whole, 1.0, float(step))), b.reshape(weight, shape)))
    return _sum(b, parts)


def _free_places(b: Builder, extent: Extent, count: Extent, scale: float | tuple[Extent, Extent], how: Sampling) -> Value:
    def number(size: Extent) -> Value:
        return b.convert(b.size(size), "f32")

    at = b.convert(b.arange(count), "f32")
    factor = b.divide(number(scale[0]), number(scale[1])) if isinstance(scale, tuple) else b.constant(scale, "f32")
    if how.transform == "align_corners":
        width = number(count) if isinstance(scale, tuple) else b.multiply(number(extent), factor)
        span = b.binary("maximum", b.affine(width, 1.0, -1.0), b.constant(2.0**-24, "f32"))
        return b.divide(b.multiply(at, number(extent - 1)), span)
    if how.transform == "asymmetric":
        return b.divide(at, factor)
    if how.transform in ("half_pixel", "pytorch_half_pixel"):
        return b.affine(b.divide(b.affine(at, 1.0, 0.5), factor), 1.0, -0.5)
    raise errors.Unsupported(f"its places are those of {how.transform}, and a size is no number")


def _free_nearest(b: Builder, places: Value, word: str) -> Value:
    if word not in _SHIFTS:
        raise errors.Unsupported(f"its nearest element is that of {word}")
    upward, shift = _SHIFTS[word]
    return b.unary("ceil" if upward else "floor", b.affine(places, 1.0, shift))


def _free_weight(b: Builder, rest: Value, step: int, how: Sampling) -> Value:
    """Of the element so many places behind the whole part of a place."""
    distance = b.affine(rest, 1.0 if step <= 0 else -1.0, float(-step if step <= 0 else step))
    return b.affine(distance, -1.0, 1.0) if how.mode == "linear" else _cubic_of(b, distance, step, how.cubic)


def cubic_weight(b: Builder, rest: Value, step: int, a: float) -> Value:
    """Keys' weight of the element so many places behind the whole part of a place, of which `rest` is what is left."""
    return _free_weight(b, rest, step, Sampling("cubic", cubic=a))


def _cubic_of(b: Builder, distance: Value, step: int, a: float) -> Value:
    near = step in (0, 1)
    factors = (a + 2, -(a + 3), 0.0, 1.0) if near else (a, -5 * a, 8 * a, -4 * a)
    found = b.affine(distance, factors[0], factors[1])
    for factor in factors[2:]:
        found = b.affine(b.multiply(found, distance), 1.0, factor)
    return found
