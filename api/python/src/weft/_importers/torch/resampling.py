# SPDX-License-Identifier: MIT
"""Rows for PyTorch's interpolation and adaptive pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..program.program import Value
from ..program.resize import Sampling, resize_axis
from ..program.sizes import Extent
from .reader import Reader, row
from .types import Refused

_HOW = {
    "upsample_nearest": Sampling("nearest", "asymmetric", "floor"),
    "_upsample_nearest_exact": Sampling("nearest", "tf_half_pixel_for_nn", "floor"),
    "upsample_linear": Sampling("linear", "half_pixel"), "upsample_bilinear": Sampling("linear", "half_pixel"),
    "upsample_trilinear": Sampling("linear", "half_pixel"), "upsample_bicubic": Sampling("cubic", "half_pixel"),
}
_ALIGNED = {"linear": Sampling("linear", "align_corners"), "cubic": Sampling("cubic", "align_corners")}
_AXES = {"upsample_nearest": (1, 2, 3), "_upsample_nearest_exact": (1, 2, 3), "upsample_linear": (1,),
         "upsample_bilinear": (2,), "upsample_trilinear": (3,), "upsample_bicubic": (2,)}


def _upsampled(r: Reader, name: str, x: Any, aligned: bool, scales: Sequence[Any] | None) -> Value:
    """Of [B, C, …]; scales that the caller gave say where elements come from, and sizes do otherwise."""
    value, shape = r.value(x), r.shape
    how = _HOW[name]
    how = _ALIGNED[how.mode] if aligned else how
    given = list(scales or [None] * (value.rank - 2))
    for axis in range(2, value.rank):
        count, extent, scale = shape[axis], value.shape[axis], given[axis - 2]
        if count != extent or scale not in (None, 1.0):
            step = (count, extent) if scale is None or aligned else float(scale)
            value = resize_axis(r.build, value, axis, count, step, how)
    return value


def _register(name: str, axes: int) -> None:
    flags = name in ("upsample_nearest", "_upsample_nearest_exact")

    @row(f"aten.{name}{axes}d.vec")
    def _vec(r: Reader, x: Any, size: Any, *rest: Any) -> Value:
        aligned, scales = (False, rest[0] if rest else None) if flags else (bool(rest[0]), rest[1] if len(rest) > 1 else None)
        return _upsampled(r, name, x, aligned, scales)

    @row(f"aten.{name}{axes}d.default")
    def _default(r: Reader, x: Any, size: Any, *rest: Any) -> Value:
        aligned = False if flags else bool(rest[0])
        scales = list(rest[0 if flags else 1:])
        return _upsampled(r, name, x, aligned, scales if any(one is not None for one in scales) else None)


for _name, _numbers in _AXES.items():
    for _axes in _numbers:
        _register(_name, _axes)


# ---- adaptive pooling ----

@row("aten.adaptive_avg_pool1d.default", "aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default",
     "aten.adaptive_avg_pool3d.default", "aten._adaptive_avg_pool3d.default")
def _adaptive_average(r: Reader, x: Any, size: Any) -> Value:
    return _adapted(r, x, size, r.shape, "mean", _means)


@row("aten.adaptive_max_pool1d.default", "aten.adaptive_max_pool2d.default")
def _adaptive_max(r: Reader, x: Any, size: Any) -> list[Any]:
    shape = [r.extent(one) for one in r.node.meta["val"][0].shape]
    return [_adapted(r, x, size, shape, "max", _maxima), None]


def _adapted(r: Reader, x: Any, size: Any, shape: Sequence[Extent], reduction: str,
             uneven: Callable[[Reader, Value, int, Extent], Value]) -> Value:
    """Each of the last axes in so many stretches, from floor(i · n / count) to ceil((i + 1) · n / count)."""
    value = r.value(x)
    for axis in range(value.rank - (len(size) if isinstance(size, (list, tuple)) else 1), value.rank):
        if shape[axis] == 1 and value.shape[axis] != 1:
            value = r.build.reduce(reduction, value, [axis], True)
        elif shape[axis] != value.shape[axis]:
            value = uneven(r, value, axis, shape[axis])
    return value


def _means(r: Reader, x: Value, axis: int, count: Extent) -> Value:
    b, extent = r.build, x.shape[axis]
    if isinstance(extent, int) and isinstance(count, int) and extent % count == 0:
        split = b.reshape(x, [*x.shape[:axis], count, extent // count, *x.shape[axis + 1:]])
        return b.reduce("mean", split, [axis + 1], False)
    places = b.reshape(b.arange(count), [-1, 1])
    first = b.binary("floor_divide", b.multiply(places, b.size(extent)), b.size(count))
    above = b.add(b.multiply(b.add(places, b.constant(1, "i32")), b.size(extent)), b.size(count - 1))
    end, line = b.binary("floor_divide", above, b.size(count)), b.reshape(b.arange(extent), [1, -1])
    inside = b.binary("logical_and", b.binary("greater_equal", line, first), b.binary("less", line, end))
    weights = b.divide(b.convert(inside, "f32"), b.convert(b.subtract(end, first), "f32"))
    return b.swap(b.matmul(b.swap(x, axis, -1), b.swap(weights, 0, 1)), axis, -1)


def _maxima(r: Reader, x: Value, axis: int, count: Extent) -> Value:
    b, extent = r.build, x.shape[axis]
    if not isinstance(extent, int) or not isinstance(count, int):
        raise Refused(f"the size of axis {axis} is no number")
    first = np.arange(count) * extent // count
    end = -(-(np.arange(count) + 1) * extent // count)
    width = int((end - first).max())
    at = np.minimum(first[:, None] + np.arange(width), end[:, None] - 1)
    wide = b.take(x, b.constant(at, "i32"), axis)
    return b.reduce("max", wide, [axis + 1], False)

