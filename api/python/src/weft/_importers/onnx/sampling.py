# SPDX-License-Identifier: MIT
"""Rows for ONNX's ops that take elements from places that a tensor says, and for norms over windows."""

from __future__ import annotations

import math
from typing import Any

from ..program.grids import grid_sample
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
    mode = str(r.attribute("mode", "linear"))
    return grid_sample(r.build, r.value(x), r.value(grid), mode.removeprefix("bi").removeprefix("tri"),
                       str(r.attribute("padding_mode", "zeros")), bool(r.attribute("align_corners", 0)))


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
