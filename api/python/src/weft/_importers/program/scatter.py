# SPDX-License-Identifier: MIT
"""Scattering of programs, which have no such op: gathers of what was put where, or comparisons of all pairs; and sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from .program import Value, resolved
from .sizes import Extent, product

if TYPE_CHECKING:
    from .ops import Builder

_MOST_LAYERS = 256  # updates of one element
_MOST_SORTED = 2048  # elements of an axis: all pairs are compared
_MOST_CHOSEN = 512  # that are chosen of more, part by part
_MOST_PARTS = 64

REDUCTIONS = {"none": "", "add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}
"""How updates meet what is there, in ONNX's words and in a program's."""


def scatter_rows(b: Builder, data: Value, places: Value, updates: Value, reduction: str) -> Value:
    """Rows of data [n, …], with updates [m, …] at places [m], the later ones on top of the earlier."""
    if reduction not in REDUCTIONS:
        raise errors.Unsupported(f"its reduction is {reduction}")
    if places.array is not None and isinstance(data.shape[0], int):
        return _at_known_places(b, data, places.array.astype(np.int64), updates, reduction)
    return _at_any_places(b, data, places, updates, reduction)


def _at_known_places(b: Builder, data: Value, places: np.ndarray[Any, Any], updates: Value, reduction: str) -> Value:
    count = int(str(data.shape[0]))
    if places.size == 0:
        return data
    both = b.concat([data, updates], 0)
    at = np.arange(count)
    if reduction == "none":
        at[places] = count + np.arange(len(places))
        return b.take(both, b.constant(at, "i32"), 0)
    order = np.argsort(places, kind="stable")
    of = places[order]
    nth = np.arange(len(of)) - np.searchsorted(of, of)  # which of its element's updates each one is
    if nth.max() >= _MOST_LAYERS:
        raise errors.Unsupported(f"an element has more than {_MOST_LAYERS} updates")
    found = data
    for layer in range(int(nth.max()) + 1):
        at, shown = np.zeros(count, np.int64), np.zeros(count, bool)
        at[of[nth == layer]], shown[of[nth == layer]] = order[nth == layer], True
        mask = b.constant(shown.reshape(-1, *[1] * (data.rank - 1)), "i32")
        layered = b.binary(REDUCTIONS[reduction], found, b.take(updates, b.constant(at, "i32"), 0))
        found = layered if shown.all() else b.where(mask, layered, found)
    return found


def _at_any_places(b: Builder, data: Value, places: Value, updates: Value, reduction: str) -> Value:
    """By comparing each element's place with all places of updates."""
    is_there = b.binary("equal", b.reshape(b.arange(data.shape[0]), [-1, 1]), b.reshape(places, [1, -1]))
    rows = b.reshape(updates, [updates.shape[0], product(updates.shape[1:])])
    if reduction == "add" and data.dtype == "f32":
        return b.add(data, b.reshape(b.matmul(b.convert(is_there, "f32"), rows), data.shape))
    if reduction != "none":
        wide = b.reshape(rows, [1, *rows.shape])
        total = _reduced(b, b.reshape(is_there, [*is_there.shape, 1]), wide, 1, reduction)
        return b.binary(REDUCTIONS[reduction], data, b.reshape(total, data.shape))
    at, any_ = _last(b, is_there, updates.shape[0])
    mask = b.reshape(any_, [-1, *[1] * (data.rank - 1)])
    return b.where(mask, b.take(updates, at, 0), data)


def _reduced(b: Builder, is_there: Value, updates: Value, axis: int, reduction: str) -> Value:
    """Sums, products … of the updates that are there."""
    kind, least, most = {"add": ("sum", 0, 0), "mul": ("product", 1, 1), "max": ("max", -2**31, -np.inf),
                         "min": ("min", 2**31 - 1, np.inf)}[reduction]
    none = b.constant(least if updates.dtype == "i32" else float(most), updates.dtype)
    return b.reduce(kind, b.where(is_there, updates, none), [axis], False)


def _last(b: Builder, is_there: Value, count: Extent) -> tuple[Value, Value]:
    """Where the last true element of each row is, and whether there is one."""
    none = b.constant(0, "i32")
    at = b.reduce("max", b.where(is_there, b.arange(count), b.constant(-1, "i32")), [-1], False)
    return b.binary("maximum", at, none), b.binary("greater_equal", at, none)


def scatter_elements(b: Builder, data: Value, indices: Value, updates: Value, axis: int, reduction: str) -> Value:
    """NumPy's put_along_axis with a reduction."""
    axis = resolved(axis, data.rank)
    if reduction not in REDUCTIONS:
        raise errors.Unsupported(f"its reduction is {reduction}")
    if indices.array is not None and all(isinstance(extent, int) for extent in data.shape):
        shape = [int(str(extent)) for extent in data.shape]
        at = list(np.indices(indices.array.shape, sparse=True))
        at[axis] = indices.array % shape[axis]
        places = np.ravel_multi_index(tuple(np.broadcast_arrays(*at)), shape).reshape(-1)
        flat = scatter_rows(b, b.reshape(data, [-1]), b.constant(places, "i32"), b.reshape(updates, [-1]), reduction)
        return b.reshape(flat, shape)
    rest = [at for at in range(data.rank) if at != axis]
    if any(data.shape[at] != indices.shape[at] for at in rest):
        raise errors.Unsupported("its indices are no constant, and cover a part of the other axes")
    return _along_axis(b, data, b.from_start(indices, data.shape[axis]), updates, axis, reduction)


def _along_axis(b: Builder, data: Value, indices: Value, updates: Value, axis: int, reduction: str) -> Value:
    x, at, new = (b.swap(one, axis, -1) for one in (data, indices, updates))
    line = b.reshape(b.arange(x.shape[-1]), [-1, 1])
    is_there = b.binary("equal", line, b.reshape(at, [*at.shape[:-1], 1, at.shape[-1]]))
    wide = b.reshape(new, [*new.shape[:-1], 1, new.shape[-1]])
    if reduction == "none":
        last, any_ = _last(b, is_there, at.shape[-1])
        found = b.where(any_, b.take_along(new, last, -1), x)
    else:
        found = b.binary(REDUCTIONS[reduction], x, _reduced(b, is_there, wide, wide.rank - 1, reduction))
    return b.swap(found, axis, -1)


def largest(b: Builder, x: Value, axis: int, count: int, is_largest: bool = True) -> tuple[Value, Value]:
    """The largest or least elements of an axis in order, and where they are; equal ones in the order that they have."""
    axis = resolved(axis, x.rank)
    extent = x.shape[axis]
    if isinstance(extent, int) and count > extent:
        raise errors.Unsupported(f"it gives {count} of {extent} elements")
    if isinstance(extent, int) and extent > _MOST_SORTED:
        return _largest_of_parts(b, x, axis, count, is_largest)
    shape = [*x.shape[:axis], count, *x.shape[axis + 1:]]
    at = b.program.node("top_k", [x], "i32", shape, axis=axis, count=count, smallest=not is_largest)
    return b.take_along(x, at, axis), at


def _largest_of_parts(b: Builder, x: Value, axis: int, count: int, is_largest: bool) -> tuple[Value, Value]:
    """Of a long axis: the first of each part, and of these the first again. Equal ones keep their order."""
    extent = int(str(x.shape[axis]))
    if count > _MOST_CHOSEN or extent > _MOST_SORTED * _MOST_PARTS:
        raise errors.Unsupported(f"it sorts {extent} elements, and at most {_MOST_SORTED} can be, or {_MOST_CHOSEN} chosen of "
                                 f"{_MOST_SORTED * _MOST_PARTS}")
    found, places = [], []
    for start in range(0, extent, _MOST_SORTED):
        size = min(_MOST_SORTED, extent - start)
        values, at = largest(b, b.slice(x, axis, start, size), axis, min(count, size), is_largest)
        found.append(values)
        places.append(b.add(at, b.constant(start, "i32")))
    values, which = largest(b, b.concat(found, axis), axis, count, is_largest)
    return values, b.take_along(b.concat(places, axis), which, axis)
