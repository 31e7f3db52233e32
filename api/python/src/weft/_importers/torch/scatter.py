# SPDX-License-Identifier: MIT
"""Rows for PyTorch's ops that scatter or sort."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch

from ..program.ops import broadcast
from ..program.program import Value, resolved
from ..program.scatter import largest, scatter_elements, scatter_rows
from ..program.sizes import product
from .movement import complex_of
from .reader import Reader, pair_of, row
from .types import Refused

_REDUCTIONS = {"add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min"}

_NONE = {"add": 0.0, "mul": 1.0, "max": -math.inf, "min": math.inf}
"""What each makes of nothing."""


@row("aten.scatter.src", "aten.scatter.value", "aten.scatter.reduce", "aten.scatter.value_reduce", "aten.scatter_add.default")
def _scatter(r: Reader, x: Any, axis: int, indices: Any, updates: Any, *, reduce: str | None = None, **_: Any) -> Value:
    value, at = r.operand(x), r.value(indices)
    new = r.operand(updates)
    new = r.build.expand(new, at.shape) if new.rank == 0 else _cut(r, new, at)
    word = "add" if "scatter_add" in str(r.node.target) else "none" if reduce is None else _REDUCTIONS[reduce]
    return scatter_elements(r.build, value, at, new, axis, word) if value.rank else new


def _cut(r: Reader, x: Value, like: Value) -> Value:
    """As much of x as there are indices."""
    for axis in range(x.rank):
        x = r.build.slice(x, axis, 0, like.shape[axis])
    return x


@row("aten.scatter_reduce.two")
def _scatter_reduce(r: Reader, x: Any, axis: int, indices: Any, updates: Any, reduce: str, *,
                    include_self: bool = True) -> Value:
    b, value, at = r.build, r.operand(x), r.value(indices)
    new, word = _cut(r, r.operand(updates), at), _REDUCTIONS["sum" if reduce == "mean" else reduce]
    if include_self and reduce != "mean":
        return scatter_elements(b, value, at, new, axis, word)
    ones = [b.full(shape, 1, r.kind) for shape in (value.shape, at.shape)]
    count = scatter_elements(b, b.full(value.shape, 0, r.kind), at, ones[1], axis, "add")
    is_there = b.binary("greater", count, b.constant(0, r.kind))
    if not include_self:
        value = b.where(is_there, b.constant(_NONE[word], r.kind), value)
    found = scatter_elements(b, value, at, new, axis, word)
    if reduce != "mean":
        return found
    if r.kind != "f32":
        raise Refused("it takes means of whole numbers")
    return b.divide(found, b.add(count, ones[0]) if include_self else b.binary("maximum", count, ones[0]))


@row("aten.index_put.default", "aten._unsafe_index_put.default", "aten.index_put_.default")
def _index_put(r: Reader, x: Any, indices: list[Any], values: Any, accumulate: bool = False) -> Value:
    b, value = r.build, r.operand(x)
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    if any(_is_truth(r, at) for at in axes):
        return _masked_put(r, value, indices, r.operand(values), accumulate)
    if axes != list(range(axes[0], axes[-1] + 1)):
        raise Refused("its indices are of axes with others between them")
    at = [r.value(indices[axis], "i32") for axis in axes]
    shape = functools.reduce(broadcast, (list(one.shape) for one in at))
    places = b.linear_indices([b.expand(one, shape) for one in at], [value.shape[axis] for axis in axes])
    first, count = axes[0], len(shape)
    before, after = value.shape[:first], value.shape[axes[-1] + 1:]
    new = b.expand(r.operand(values), [*before, *shape, *after])
    new = b.permute(new, [*range(first, first + count), *range(first), *range(first + count, new.rank)])
    rest = [axis for axis in range(value.rank) if axis not in axes]
    moved = b.permute(value, [*axes, *rest])
    rows = b.reshape(moved, [product(value.shape[axis] for axis in axes), *before, *after])
    new = b.reshape(new, [product(shape), *before, *after])
    found = scatter_rows(b, rows, b.reshape(places, [-1]), new, "add" if accumulate else "none")
    order = [*axes, *rest]
    return b.permute(b.reshape(found, moved.shape), [order.index(axis) for axis in range(value.rank)])


def _is_truth(r: Reader, at: int) -> bool:
    given: Any = r.node.args[1]
    example = given[at].meta.get("val") if isinstance(given[at], torch.fx.Node) else given[at]
    return isinstance(example, torch.Tensor) and example.dtype == torch.bool


def _masked_put(r: Reader, value: Value, indices: list[Any], new: Value, accumulate: bool) -> Value:
    """One number where a mask says so."""
    if accumulate or len(indices) != 1 or product(new.shape) != 1:
        raise Refused("an index is a mask, and what it puts is not one number")
    mask = r.value(indices[0], "i32")
    mask = r.build.reshape(mask, [*mask.shape, *[1] * (value.rank - mask.rank)])
    return r.build.where(mask, r.build.reshape(new, []), value)


@row("aten.index_add.default", "aten.index_copy.default")
def _index_add(r: Reader, x: Any, axis: int, indices: Any, updates: Any, alpha: Any = 1) -> Value:
    b, value, new = r.build, r.operand(x), r.operand(updates)
    axis = resolved(axis, value.rank)
    adds = "index_add" in str(r.node.target)
    new = new if alpha == 1 else b.multiply(new, r.operand(alpha))
    places = b.from_start(r.value(indices, "i32"), value.shape[axis])
    found = scatter_rows(b, b.swap(value, axis, 0), b.reshape(places, [-1]), b.swap(new, axis, 0), "add" if adds else "none")
    return b.swap(found, axis, 0)


@row("aten.slice_scatter.default", "aten.select_scatter.default")
def _slice_scatter(r: Reader, x: Any, updates: Any, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    if r.dtype.is_complex:
        whole, part = complex_of(r, x), complex_of(r, updates)
        return pair_of(_with_slice(r, whole.real, part.real, axis, start, step),
                       _with_slice(r, whole.imaginary, part.imaginary, axis, start, step))
    return _with_slice(r, r.operand(x), r.operand(updates), axis, start, step)


def _with_slice(r: Reader, value: Value, new: Value, axis: int, start: Any, step: int) -> Value:
    b = r.build
    axis = resolved(axis, value.rank)
    if "select" in str(r.node.target):
        first = r.extent(start)
        first = value.shape[axis] + first if first < 0 else first
        new = b.reshape(new, [*value.shape[:axis], 1, *value.shape[axis + 1:]])
    else:
        first = 0 if start is None else r.extent(start)
        first = value.shape[axis] + first if first < 0 else first
        if step != 1:
            raise Refused("it has a step")
    count = new.shape[axis]
    after = value.shape[axis] - first - count
    return b.concat([b.slice(value, axis, 0, first), new, b.slice(value, axis, first + count, after)], axis)


# ---- sorting ----

@row("aten.topk.default")
def _topk(r: Reader, x: Any, count: Any, axis: int = -1, is_largest: bool = True, *_: Any) -> list[Value]:
    wanted = r.extent(count)
    if not isinstance(wanted, int):
        raise Refused("how many it gives is no number")
    return list(largest(r.build, r.value(x), axis, wanted, is_largest))


@row("aten.sort.default", "aten.sort.stable", "aten.argsort.default", "aten.argsort.stable", "aten.msort.default")
def _sort(r: Reader, x: Any, *rest: Any, stable: Any = None, dim: int | None = None, descending: bool | None = None) -> Any:
    value, given = r.value(x), [one for one in rest if one is not None]
    axis = dim if dim is not None else next((one for one in given if not isinstance(one, bool)), -1)
    down = bool(descending if descending is not None else next((one for one in given if isinstance(one, bool)), False))
    axis = 0 if "msort" in str(r.node.target) else axis
    extent = value.shape[resolved(axis, value.rank)]
    if not isinstance(extent, int):
        raise Refused("how many it sorts is no number")
    found = list(largest(r.build, value, axis, extent, down))
    return found[1] if "argsort" in str(r.node.target) else found[0] if "msort" in str(r.node.target) else found
