# SPDX-License-Identifier: MIT
"""Rows for PyTorch's pooling, over windows or to a size, with the places of the largest elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..program.places import known, places_of_largest, unpooled, window_places
from ..program.program import Value
from ..program.sizes import Extent, larger
from ..program.windows import Windows, pool
from .networks import several
from .reader import Reader, row

_AXES = {f"{axes}d": axes for axes in (1, 2, 3)}


def _axes_of(r: Reader) -> int:
    """Of how many the op is: max_pool2d, of two."""
    name = str(r.node.target)
    return next(count for word, count in _AXES.items() if f"pool{word}" in name)


def _reads(r: Reader, at: int) -> bool:
    """Whether something reads that result of several."""
    return any(user.args[1:] == (at,) and user.users for user in r.node.users)


# ---- over windows ----

@row("aten.max_pool1d.default", "aten.max_pool2d.default", "aten.max_pool3d.default")
def _max_pool(r: Reader, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
              ceil: bool = False) -> Value:
    return _pool(r, "max", x, r.shape, _windows(r, kernel, stride, padding, dilation), ceil, True)


@row("aten.max_pool1d_with_indices.default", "aten.max_pool2d_with_indices.default", "aten.max_pool3d_with_indices.default")
def _max_pool_with_indices(r: Reader, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
                           ceil: bool = False) -> list[Value | None]:
    shape = [r.extent(one) for one in r.node.meta["val"][0].shape]
    windows = _windows(r, kernel, stride, padding, dilation)
    found = _pool(r, "max", x, shape, windows, ceil, True)
    if not _reads(r, 1):
        return [found, None]
    return [found, places_of_largest(r.build, r.value(x), window_places(windows, shape[-len(windows.kernel):]))]


@row("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def _avg_pool(r: Reader, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, ceil: bool = False, count_pads: bool = True,
              divisor: Any = None) -> Value:
    windows, shape = _windows(r, kernel, stride, padding, 1), r.shape
    if divisor is None:
        return _pool(r, "average", x, shape, windows, ceil, count_pads)
    b, value, axes = r.build, r.value(x), len(windows.kernel)
    for at in range(-axes, 0):  # so that every window has all its elements
        reach = (shape[at] - 1) * windows.strides[at] + windows.kernel[at]
        value = b.pad(value, at, windows.pads[at], larger(reach - value.shape[at] - windows.pads[at], 0), 0.0)
        value = b.slice(value, at, 0, reach)
    whole = Windows(windows.kernel, windows.strides, [0] * 2 * axes, windows.dilations)
    return b.affine(_pool(r, "average", value, shape, whole, False, True), math.prod(windows.kernel) / int(divisor), 0.0)


def _windows(r: Reader, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Windows:
    axes = _axes_of(r)
    kernels = several(kernel, axes)
    strides = several(stride, axes) if stride not in ([], ()) else kernels
    return Windows(kernels, strides, several(padding, axes) * 2, several(dilation, axes))


def _pool(r: Reader, kind: str, x: Any, shape: list[Extent], windows: Windows, ceil: bool, count_pads: bool) -> Value:
    value, axes = r.value(x), len(windows.kernel)
    batched = value if value.rank == axes + 2 else r.build.reshape(value, [1, *value.shape])
    found = pool(r.build, kind, batched, windows, count_pads, shape[-axes:] if ceil else None)
    return r.build.reshape(found, shape)


@row("aten.max_unpool2d.default", "aten.max_unpool3d.default")
def _max_unpool(r: Reader, x: Any, places: Any, *_: Any) -> Value:
    """Zeros but where largest elements were: places within the last axes together."""
    return unpooled(r.build, r.value(x), r.value(places, "i32"), r.shape[-(2 if "2d" in str(r.node.target) else 3):])


# ---- to a size ----

@row("aten.adaptive_avg_pool1d.default", "aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default",
     "aten.adaptive_avg_pool3d.default", "aten._adaptive_avg_pool3d.default")
def _adaptive_average(r: Reader, x: Any, size: Any) -> Value:
    return _adapted(r, x, size, r.shape, "mean", _means)


@row("aten.adaptive_max_pool1d.default", "aten.adaptive_max_pool2d.default", "aten.adaptive_max_pool3d.default")
def _adaptive_max(r: Reader, x: Any, size: Any) -> list[Value | None]:
    shape, value, axes = [r.extent(one) for one in r.node.meta["val"][0].shape], r.value(x), _axes_of(r)
    found = _adapted(r, value, size, shape, "max", _maxima)
    if not _reads(r, 1):
        return [found, None]
    places = [_stretches(known(before), known(after)) for before, after in zip(value.shape[-axes:], shape[-axes:])]
    return [found, places_of_largest(r.build, value, places)]


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
    places = _stretches(known(x.shape[axis]), known(count))
    return r.build.reduce("max", r.build.take(x, r.build.constant(places, "i32"), axis), [axis + 1], False)


def _stretches(extent: int, count: int) -> np.ndarray[Any, Any]:
    """[count, elements] of each stretch of an axis, of which short ones repeat their last element."""
    first = np.arange(count) * extent // count
    end = -(-(np.arange(count) + 1) * extent // count)
    return np.asarray(np.minimum(first[:, None] + np.arange(int((end - first).max())), end[:, None] - 1))
