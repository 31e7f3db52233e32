# SPDX-License-Identifier: MIT
"""Elements of a tensor at places that another one says, between whole ones, too."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import errors
from .program import Value
from .resize import cubic_weight
from .sizes import Extent, product

if TYPE_CHECKING:
    from .ops import Builder

_MODES = ("linear", "nearest", "cubic")
_AROUND = ("zeros", "border", "reflection")


def grid_sample(b: Builder, x: Value, grid: Value, mode: str, around: str, corners: bool) -> Value:
    """x [B, C, …] at grid [B, places …, axes], whose numbers are from -1 to 1, of the last axis of x first.

    `corners`: whether -1 and 1 are the centres of the outermost elements, or else their outer edges."""
    axes = x.rank - 2
    if mode not in _MODES or around not in _AROUND or (mode == "cubic" and axes != 2):
        raise errors.Unsupported(f"it is {mode}, of {axes} axes, with {around} around")
    places = []
    for at, extent in enumerate(x.shape[2:]):
        size = b.convert(b.size(extent), "f32")
        number = b.affine(b.select(grid, -1, axes - 1 - at), 1.0, 1.0)
        spread = b.multiply(number, b.affine(size, 1.0, -1.0)) if corners else b.affine(b.multiply(number, size), 1.0, -1.0)
        places.append(b.affine(spread, 0.5, 0.0))
    if mode == "cubic":
        return _cubic(b, x, places, around, corners)
    places = [_held(b, own, extent, around, corners) for own, extent in zip(places, x.shape[2:])]
    if mode == "nearest":
        return _at(b, x, [b.unary("round", own) for own in places])
    first = [b.unary("floor", own) for own in places]
    rest = [b.subtract(own, start) for own, start in zip(places, first)]
    found = []
    for ends in itertools.product((0, 1), repeat=axes):
        weights = [part if end else b.affine(part, -1.0, 1.0) for part, end in zip(rest, ends)]
        corner = _at(b, x, [b.affine(start, 1.0, float(end)) for start, end in zip(first, ends)])
        found.append(_weighted(b, corner, weights))
    return _sum(b, found)


def _cubic(b: Builder, x: Value, places: Sequence[Value], around: str, corners: bool) -> Value:
    """Of 16 elements, each of which is where `around` says, and not the place itself."""
    first = [b.unary("floor", own) for own in places]
    rest = [b.subtract(own, start) for own, start in zip(places, first)]
    found = []
    for steps in itertools.product((-1, 0, 1, 2), repeat=2):
        at = [_held(b, b.affine(start, 1.0, float(step)), extent, around, corners)
              for start, step, extent in zip(first, steps, x.shape[2:])]
        found.append(_weighted(b, _at(b, x, at), [cubic_weight(b, part, step, -0.75) for part, step in zip(rest, steps)]))
    return _sum(b, found)


def _held(b: Builder, place: Value, extent: Extent, around: str, corners: bool) -> Value:
    """A place within an axis; zeros are what is outside, and elsewhere."""
    if around == "zeros":
        return place
    size = b.convert(b.size(extent), "f32")
    most = b.affine(size, 1.0, -1.0)
    if around == "reflection":
        low, span = (0.0, b.binary("maximum", most, b.constant(1.0, "f32"))) if corners else (-0.5, size)
        way = b.unary("abs", b.affine(place, 1.0, -low))
        beyond = b.binary("modulo", way, span)
        turns = b.binary("modulo", b.unary("floor", b.divide(way, span)), b.constant(2.0, "f32"))
        back = b.binary("not_equal", turns, b.constant(0.0, "f32"))
        place = b.affine(b.where(back, b.subtract(span, beyond), beyond), 1.0, low)
    return b.binary("minimum", b.binary("maximum", place, b.constant(0.0, "f32")), most)


def _at(b: Builder, x: Value, places: Sequence[Value]) -> Value:
    """[B, C, places …]: x at whole places [B, places …], and zeros outside."""
    batch, channels, *extents = x.shape
    linear = inside = None
    for own, extent in zip(places, extents):
        most = b.convert(b.size(extent - 1), "f32")
        held = b.binary("minimum", b.binary("maximum", own, b.constant(0.0, "f32")), most)
        is_in = b.binary("equal", held, own)
        inside = is_in if inside is None else b.binary("logical_and", inside, is_in)
        index = b.convert(held, "i32")
        linear = index if linear is None else b.add(b.multiply(linear, b.size(extent)), index)
    assert linear is not None and inside is not None
    shape = linear.shape[1:]
    flat = b.reshape(linear, [batch, 1, product(shape)])
    rows = b.reshape(x, [batch, channels, product(extents)])
    found = b.reshape(b.take_along(rows, b.expand(flat, [batch, channels, product(shape)]), 2), [batch, channels, *shape])
    return b.where(b.reshape(inside, [batch, 1, *shape]), found, b.constant(0.0, "f32"))


def _weighted(b: Builder, x: Value, weights: Sequence[Value]) -> Value:
    weight = weights[0]
    for one in weights[1:]:
        weight = b.multiply(weight, one)
    return b.multiply(x, b.reshape(weight, [weight.shape[0], 1, *weight.shape[1:]]))


def _sum(b: Builder, parts: Sequence[Value]) -> Value:
    found = parts[0]
    for part in parts[1:]:
        found = b.add(found, part)
    return found
