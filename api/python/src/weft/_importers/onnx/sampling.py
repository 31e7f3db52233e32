# SPDX-License-Identifier: MIT
"""Rows for ONNX's ops that take elements from places that a tensor says, and for norms over windows."""

from __future__ import annotations

import math
from typing import Any

from ..program.ops import Builder
from ..program.program import Value, resolved
from ..program.windows import pool
from .networks import rounded_up, windows_of
from .reader import Reader, row
from .refused import Refused

_MOST_CHANNELS = 64  # that LRN sums over


@row("ReverseSequence")
def _reverse_sequence(r: Reader, x: Any, lengths: Any) -> Value:
    b, value = r.build, r.value(x)
    batch, time = (resolved(int(r.attribute(f"{word}_axis", default)), value.rank)
                   for word, default in (("batch", 1), ("time", 0)))
    at = b.reshape(b.arange(value.shape[time]), [-1 if axis == time else 1 for axis in range(value.rank)])
    ends = b.reshape(r.value(lengths, "i32"), [-1 if axis == batch else 1 for axis in range(value.rank)])
    back = b.subtract(b.subtract(ends, b.constant(1, "i32")), at)
    places = b.where(b.binary("less", at, ends), back, at)
    return b.take_along(value, b.expand(places, value.shape), time)


# ---- grids ----

@row("GridSample")
def _grid_sample(r: Reader, x: Any, grid: Any) -> Value:
    """x [B, C, H, W] at grid [B, h, w, 2], whose numbers are x and y from -1 to 1."""
    b, value, places = r.build, r.value(x), r.value(grid)
    mode, around = str(r.attribute("mode", "linear")), str(r.attribute("padding_mode", "zeros"))
    corners = bool(r.attribute("align_corners", 0))
    if value.rank != 4 or mode not in ("linear", "bilinear", "nearest") or around not in ("zeros", "border"):
        raise Refused(f"it is of {value.rank} axes, {mode}, with {around} around: expected 4, linear or nearest, and zeros "
                      "or border")
    at = []
    for axis, part in ((2, 1), (3, 0)):
        size = b.convert(b.size(value.shape[axis]), "f32")
        least = b.subtract(size, b.constant(1.0, "f32"))
        number = b.affine(b.select(places, -1, part), 1.0, 1.0)
        spread = b.multiply(number, least) if corners else b.affine(b.multiply(number, size), 1.0, -1.0)
        own = b.affine(spread, 0.5, 0.0)
        if around == "border":
            own = b.binary("minimum", b.binary("maximum", own, b.constant(0.0, "f32")), least)
        at.append(own)
    if mode == "nearest":
        return _at(b, value, *(b.unary("round", own) for own in at))
    return _between(b, value, *at)


def _between(b: Builder, x: Value, row_: Value, column: Value) -> Value:
    """The four elements around places, by how near they are."""
    first = [b.unary("floor", own) for own in (row_, column)]
    late = [b.subtract(own, start) for own, start in zip((row_, column), first)]
    total: Value | None = None
    for down in (0, 1):
        for right in (0, 1):
            weights = [part if second else b.affine(part, -1.0, 1.0) for part, second in zip(late, (down, right))]
            corner = _at(b, x, *(b.affine(start, 1.0, float(second)) for start, second in zip(first, (down, right))))
            weight = b.multiply(*weights)
            part = b.multiply(corner, b.reshape(weight, [weight.shape[0], 1, *weight.shape[1:]]))
            total = part if total is None else b.add(total, part)
    assert total is not None
    return total


def _at(b: Builder, x: Value, row_: Value, column: Value) -> Value:
    """[B, C, h, w]: x [B, C, H, W] at whole places [B, h, w], and zeros outside."""
    batch, channels, height, width = x.shape
    inside, index = None, []
    for own, extent in ((row_, height), (column, width)):
        most = b.convert(b.size(extent - 1), "f32")
        held = b.binary("minimum", b.binary("maximum", own, b.constant(0.0, "f32")), most)
        is_in = b.binary("equal", held, own)
        inside = is_in if inside is None else b.binary("logical_and", inside, is_in)
        index.append(b.convert(held, "i32"))
    assert inside is not None
    linear = b.add(b.multiply(index[0], b.size(width)), index[1])
    flat = b.reshape(linear, [batch, 1, linear.shape[1] * linear.shape[2]])
    found = b.take_along(b.reshape(x, [batch, channels, height * width]), b.expand(flat, [batch, channels, flat.shape[2]]), 2)
    found = b.reshape(found, [batch, channels, *linear.shape[1:]])
    return b.where(b.reshape(inside, [batch, 1, *linear.shape[1:]]), found, b.constant(0.0, "f32"))


# ---- norms over windows ----

@row("LRN")
def _local_response(r: Reader, x: Any) -> Value:
    """x / (bias + alpha / size · Σ x²)^beta over `size` channels around each."""
    b, value, size = r.build, r.value(x), int(r.attribute("size"))
    alpha, beta, bias = (float(r.attribute(*one)) for one in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    if not 1 <= size <= _MOST_CHANNELS:
        raise Refused(f"its size is {size}: expected at most {_MOST_CHANNELS}")
    squares = b.pad(b.multiply(value, value), 1, (size - 1) // 2, size - 1 - (size - 1) // 2)
    total = b.slice(squares, 1, 0, value.shape[1])
    for at in range(1, size):
        total = b.add(total, b.slice(squares, 1, at, value.shape[1]))
    return b.divide(value, b.binary("power", b.affine(total, alpha / size, bias), b.constant(beta, "f32")))


def _powers(b: Builder, x: Value, p: int) -> Value:
    size = b.unary("abs", x)
    return size if p == 1 else b.multiply(x, x) if p == 2 else b.binary("power", size, b.constant(float(p), "f32"))


def _root(b: Builder, x: Value, p: int) -> Value:
    return x if p == 1 else b.unary("sqrt", x) if p == 2 else b.binary("power", x, b.constant(1 / p, "f32"))


@row("GlobalLpPool")
def _global_lp(r: Reader, x: Any) -> Value:
    b, value, p = r.build, r.value(x), int(r.attribute("p", 2))
    return _root(b, b.reduce("sum", _powers(b, value, p), list(range(2, value.rank)), True), p)


@row("LpPool")
def _lp_pool(r: Reader, x: Any) -> Value:
    b, value, p = r.build, r.value(x), int(r.attribute("p", 2))
    kernel = [int(one) for one in r.attribute("kernel_shape")]
    windows = windows_of(r, kernel, value.shape[2:])
    if r.attribute("ceil_mode", 0):
        windows = rounded_up(windows, value.shape[2:])
    means = pool(b, "average", _powers(b, value, p), windows, True)
    return _root(b, b.affine(means, float(math.prod(kernel)), 0.0), p)
