# SPDX-License-Identifier: MIT
"""Rows for ONNX's ops that move elements, make constants or compute with shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import numpy_helper

from ..program.ops import broadcast
from ..program.program import Value, resolved
from ..program.ratios import Ratio
from ..program.sizes import Extent, Size, divide, equal, is_below_zero, larger, product, smaller
from ..program.transposed import summed_windows
from ..program.windows import Windows
from .reader import Reader, row, sizes_array
from .refused import Refused

_END = 2**31 - 1


@row("Shape")
def _shape(r: Reader, x: Any) -> Any:
    extents = r.value(x).shape
    return sizes_array(list(extents[slice(r.attribute("start", 0), r.attribute("end"))]))


@row("Reshape")
def _reshape(r: Reader, x: Any, shape: Any) -> Value:
    value, wanted = r.value(x), r.ints(1, shape)
    if not r.attribute("allowzero", 0):
        wanted = [value.shape[at] if extent == 0 else extent for at, extent in enumerate(wanted)]
    return r.build.reshape(value, wanted)


@row("Transpose")
def _transpose(r: Reader, x: Any) -> Value:
    value = r.value(x)
    return r.build.permute(value, r.attribute("perm", list(range(value.rank))[::-1]))


@row("Squeeze")
def _squeeze(r: Reader, x: Any, axes: Any = None) -> Value:
    value = r.value(x)
    gone = [at for at, extent in enumerate(value.shape) if equal(extent, 1)] if axes is None else [
        resolved(int(axis), value.rank) for axis in r.ints(1, axes)]
    return r.build.reshape(value, [extent for at, extent in enumerate(value.shape) if at not in gone])


@row("Unsqueeze")
def _unsqueeze(r: Reader, x: Any, axes: Any) -> Value:
    value, given = r.value(x), r.ints(1, axes)
    rank = value.rank + len(given)
    new, rest = {int(axis) % rank for axis in given}, iter(value.shape)
    return r.build.reshape(value, [1 if at in new else next(rest) for at in range(rank)])


@row("Flatten")
def _flatten(r: Reader, x: Any) -> Value:
    value, axis = r.value(x), int(r.attribute("axis", 1))
    axis = axis + value.rank if axis < 0 else axis
    return r.build.reshape(value, [product(value.shape[:axis]), product(value.shape[axis:])])


@row("Concat")
def _concat(r: Reader, *parts: Any) -> Value:
    return r.build.concat([r.value(part) for part in parts], int(r.attribute("axis")))


@row("Split")
def _split(r: Reader, x: Any, counts: Any = None) -> list[Value]:
    value = r.value(x)
    axis = resolved(int(r.attribute("axis", 0)), value.rank)
    if counts is not None:
        sizes = r.ints(1, counts)
    else:
        many = int(r.attribute("num_outputs", r.outputs))
        each = divide(value.shape[axis] + many - 1, many)
        sizes = [each] * (many - 1) + [value.shape[axis] - each * (many - 1)]
    found, start = [], 0
    for count in sizes:
        found.append(r.build.slice(value, axis, start, count))
        start = start + count
    return found


@row("Slice")
def _slice(r: Reader, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Value:
    value = r.value(x)
    first, last = r.ints(1, starts), r.ints(2, ends)
    at = list(range(len(first))) if axes is None else r.ints(3, axes)
    every = [1] * len(first) if steps is None else r.ints(4, steps)
    for axis, start, end, step in zip(at, first, last, every):
        axis = resolved(int(axis), value.rank)
        value = _sliced(r, value, axis, start, end, int(step))
    return value


def _sliced(r: Reader, x: Value, axis: int, start: Extent, end: Extent, step: int) -> Value:
    whole = x.shape[axis]
    lowest, highest = (0, whole) if step > 0 else (-1, whole - 1)
    first = _bound(start, whole, lowest, highest)
    last = _bound(end, whole, lowest, highest)
    count = divide(last - first + step - 1, step) if step > 0 else divide(first - last - step - 1, -step)
    return r.build.slice(x, axis, first, larger(count, 0), step)


def _bound(at: Extent, whole: Extent, lowest: Extent, highest: Extent) -> Extent:
    if isinstance(at, int) and at >= _END:
        return highest
    if isinstance(at, int) and at < -_END:
        return lowest
    if is_below_zero(at):
        return larger(smaller(at + whole, highest), lowest)
    return smaller(at, highest)  # and where a size turns out to be below 0, the run says so


@row("Gather")
def _gather(r: Reader, x: Any, indices: Any) -> Value:
    value = r.value(x)
    axis = resolved(int(r.attribute("axis", 0)), value.rank)
    if isinstance(indices, np.ndarray) and indices.ndim == 0:
        return r.build.select(value, axis, indices.item())
    return r.build.take(value, r.build.from_start(r.value(indices), value.shape[axis]), axis)


@row("GatherElements")
def _gather_elements(r: Reader, x: Any, indices: Any) -> Value:
    value, axis = r.value(x), int(r.attribute("axis", 0))
    return r.build.take_along(value, r.build.from_start(r.value(indices), value.shape[axis]), axis)


@row("GatherND")
def _gather_nd(r: Reader, x: Any, indices: Any) -> Value:
    b, value, at = r.build, r.value(x), r.value(indices)
    batches, depth = int(r.attribute("batch_dims", 0)), at.shape[-1]
    if not isinstance(depth, int):
        raise Refused("the length of an index is no number")
    parts = [b.reshape(b.arange(value.shape[axis]), [-1 if one == axis else 1 for one in range(at.rank - 1)])
             for axis in range(batches)]
    parts += [b.select(at, -1, axis) for axis in range(depth)]
    depth += batches
    linear = b.linear_indices(parts, value.shape[:depth])
    return b.take(b.reshape(value, [product(value.shape[:depth]), *value.shape[depth:]]), linear, 0)


@row("Expand")
def _expand(r: Reader, x: Any, shape: Any) -> Value:
    value = r.value(x)
    return r.build.expand(value, broadcast(value.shape, r.ints(1, shape)))


@row("Tile")
def _tile(r: Reader, x: Any, repeats: Any) -> Value:
    value, times = r.value(x), r.ints(1, repeats)
    split, wide, shape = [], [], []
    for extent, count in zip(value.shape, times):
        split += [1, extent]
        wide += [count, extent]
        shape.append(extent * count)
    return r.build.reshape(r.build.expand(r.build.reshape(value, split), wide), shape)


@row("Trilu")
def _trilu(r: Reader, x: Any, diagonal: Any = None) -> Value:
    value, b = r.value(x), r.build
    shift = 0 if diagonal is None else int(r.ints(1, diagonal)[0])
    upper = bool(r.attribute("upper", 1))
    rows = b.add(b.reshape(b.arange(value.shape[-2]), [-1, 1]), b.constant(shift, "i32"))
    keeps = b.binary("greater_equal" if upper else "less_equal", b.reshape(b.arange(value.shape[-1]), [1, -1]), rows)
    return b.where(keeps, value, b.constant(0, value.dtype))


@row("EyeLike")
def _eye_like(r: Reader, x: Any) -> Value:
    value, b = r.value(x), r.build
    to = r.attribute("dtype")
    if to not in (None, 1, 6, 7, 9):
        raise Refused("its type is not float, int32, int64 or bool")
    kind = value.dtype if to is None else "f32" if to == 1 else "i32"
    rows = b.add(b.reshape(b.arange(value.shape[0]), [-1, 1]), b.constant(int(r.attribute("k", 0)), "i32"))
    return b.convert(b.binary("equal", b.reshape(b.arange(value.shape[1]), [1, -1]), rows), kind)


@row("OneHot")
def _one_hot(r: Reader, indices: Any, depth: Any, values: Any) -> Value:
    b, at = r.build, r.value(indices, "i32")
    count = int(r.ints(1, depth)[0])
    rank = at.rank + 1
    axis = int(r.attribute("axis", -1)) % rank
    at = b.reshape(at, [*at.shape[:axis], 1, *at.shape[axis:]])
    below = b.binary("less", at, b.constant(0, "i32"))
    at = b.where(below, b.add(at, b.constant(count, "i32")), at)
    line = b.reshape(b.arange(count), [-1 if one == axis else 1 for one in range(rank)])
    pair = r.value(values)
    return b.where(b.binary("equal", at, line), b.select(pair, 0, 1), b.select(pair, 0, 0))


@row("DepthToSpace")
def _depth_to_space(r: Reader, x: Any) -> Value:
    b, value, size = r.build, r.value(x), int(r.attribute("blocksize"))
    batch, channels, height, width = value.shape
    inner = divide(channels, size * size)
    if r.attribute("mode", "DCR") == "DCR":
        split = b.permute(b.reshape(value, [batch, size, size, inner, height, width]), [0, 3, 4, 1, 5, 2])
    else:
        split = b.permute(b.reshape(value, [batch, inner, size, size, height, width]), [0, 1, 4, 2, 5, 3])
    return b.reshape(split, [batch, inner, height * size, width * size])


@row("SpaceToDepth")
def _space_to_depth(r: Reader, x: Any) -> Value:
    b, value, size = r.build, r.value(x), int(r.attribute("blocksize"))
    batch, channels, height, width = value.shape
    rows, columns = divide(height, size), divide(width, size)
    order = [0, 3, 5, 1, 2, 4] if r.attribute("mode", "DCR") == "DCR" else [0, 1, 3, 5, 2, 4]
    split = b.permute(b.reshape(value, [batch, channels, rows, size, columns, size]), order)
    return b.reshape(split, [batch, channels * size * size, rows, columns])


@row("ConstantOfShape")
def _constant_of_shape(r: Reader, shape: Any) -> Value:
    tensor = r.attribute("value")
    number = np.zeros(1, np.float32) if tensor is None else numpy_helper.to_array(tensor)
    kind = "f32" if number.dtype.kind == "f" else "i32"
    return r.build.full(r.ints(0, shape), number.reshape(-1)[0].item(), kind)  # type: ignore[arg-type]


@row("Range")
def _range(r: Reader, start: Any, limit: Any, step: Any) -> Value:
    given = [r.numbers(at, one).reshape(-1)[0] for at, one in enumerate((start, limit, step))]
    first, end, by = map(_whole, given)
    if not isinstance(by, int) or by == 0:
        raise Refused(f"its step is {by}")
    count = divide(end - first + by - (1 if by > 0 else -1), by)
    found = r.build.arange(larger(count, 0), first, by)
    return r.build.convert(found, "f32") if any(isinstance(one, (float, np.floating, Ratio)) for one in given) else found


def _whole(number: Any) -> Extent:
    """A number or size that may be told in floats."""
    if isinstance(number, Size):
        return number
    if isinstance(number, Ratio) and number.below == 1:
        return number.above
    if isinstance(number, Ratio) or number != int(number):
        raise Refused("it counts in fractions up to what depends on an input")
    return int(number)


@row("Col2Im")
def _col2im(r: Reader, x: Any, size: Any, block: Any) -> Value:
    kernel, axes = r.ints(2, block), len(r.ints(2, block))
    windows = Windows([int(one) for one in kernel], [int(one) for one in r.attribute("strides", [1] * axes)],
                      [int(one) for one in r.attribute("pads", [0] * 2 * axes)],
                      [int(one) for one in r.attribute("dilations", [1] * axes)])
    return summed_windows(r.build, r.value(x), r.ints(1, size), windows)
