# SPDX-License-Identifier: MIT
"""Rows for arrays of sizes that are not known yet, in whole numbers or floats: what models compute of shapes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx

from ..program.ratios import Inexact, Ratio, ratio
from ..program.sizes import equal, larger, smaller, truncated
from .ops import cast
from .reader import SHAPE_ROWS, Reader, Row, row, sizes_array

_END = 2**31 - 1
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)
_WHOLE = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)


def _shape_row(*types: str) -> Callable[[Row], Row]:
    return row(*types, table=SHAPE_ROWS)


def _each(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    found: Callable[[Any, Any], Any] = np.frompyfunc(function, 2, 1)
    return found


def _quotient(a: Any, b: Any) -> Any:
    return a / b if isinstance(a, Ratio) or isinstance(b, Ratio) else truncated(a, b)


def _equal(a: Any, b: Any) -> Any:
    return equal((ratio(a) - b).above, 0) if isinstance(a, Ratio) or isinstance(b, Ratio) else equal(a, b)


def _numbers(r: Reader, index: int, given: Any) -> list[int]:
    """Of an input that shapes an array of sizes; where they are sizes themselves, the array is one of the program."""
    found = r.ints(index, given)
    if not all(isinstance(one, int) for one in found):
        raise Inexact
    return found


def _sized(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of(a: Any, b: Any) -> Any:
        if isinstance(a, Ratio) or isinstance(b, Ratio):
            raise Inexact
        return function(a, b)
    return of


def _of_each(function: Callable[[Any], Any], x: Any) -> Any:
    found = np.empty(np.shape(x), object)
    found.reshape(-1)[:] = [function(one) for one in np.asarray(x, object).reshape(-1)]
    return found


def _rest(a: Any, b: Any) -> Any:
    """With the sign of a."""
    return a - b * truncated(a, b)


for _type, _do in {"Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b, "Div": _each(_quotient),
                   "Equal": _each(_equal), "Less": lambda a, b: a < b,
                   "Greater": lambda a, b: a > b, "GreaterOrEqual": lambda a, b: a >= b,
                   "LessOrEqual": lambda a, b: a <= b}.items():
    _shape_row(_type)(lambda r, a, b, do=_do: _array(do(np.asarray(a, object), np.asarray(b, object))))
_shape_row("Mod")(lambda r, a, b: _array(_each(_sized(_rest if r.attribute("fmod", 0) else operator.mod))(
    np.asarray(a, object), np.asarray(b, object))))
_shape_row("Max")(lambda r, *given: _array(_folded(_sized(larger), given)))
_shape_row("Min")(lambda r, *given: _array(_folded(_sized(smaller), given)))
_shape_row("Neg")(lambda r, x: _array(-x))
for _type, _rounded in {"Floor": Ratio.floor, "Ceil": Ratio.ceil, "Round": Ratio.rounded}.items():
    _shape_row(_type)(lambda r, x, rounded=_rounded: _array(_of_each(lambda one: Ratio(rounded(ratio(one))), x)))
_shape_row("Identity")(lambda r, x: x)
_shape_row("Squeeze")(lambda r, x, axes=None: np.squeeze(x, None if axes is None else tuple(r.ints(1, axes))))
_shape_row("Unsqueeze")(lambda r, x, axes: np.expand_dims(x, tuple(r.ints(1, axes))))
_shape_row("Concat")(
    lambda r, *parts: _array(np.concatenate([np.asarray(part, object) for part in parts], r.attribute("axis"))))
_shape_row("Gather")(lambda r, x, at: _array(np.take(x, np.asarray(at, np.int64), r.attribute("axis", 0))))
_shape_row("Reshape")(lambda r, x, shape: np.reshape(x, _numbers(r, 1, shape)))
_shape_row("Transpose")(lambda r, x: np.transpose(x, r.attribute("perm")))
_shape_row("Flatten")(lambda r, x: x.reshape(int(np.prod(x.shape[:r.attribute("axis", 1)])), -1))
_shape_row("Expand")(lambda r, x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(_numbers(r, 1, shape)))))
_shape_row("Tile")(lambda r, x, times: np.tile(x, _numbers(r, 1, times)))
_shape_row("Shape")(lambda r, x: np.array(np.shape(x), np.int64))
_shape_row("ReduceProd")(lambda r, x, axes=None: _array(np.prod(x, keepdims=bool(r.attribute("keepdims", 1)))))
_shape_row("Where")(lambda r, c, a, b: _array(np.where(np.asarray(c, bool), np.asarray(a, object), np.asarray(b, object))))


def _array(found: Any) -> Any:
    array = np.asarray(found)
    if array.dtype != object:
        return array
    truths = array.size > 0 and all(isinstance(one, (bool, np.bool_)) for one in array.reshape(-1))
    return array.astype(bool) if truths else sizes_array(array)


def _folded(function: Any, given: Any) -> Any:
    found = np.asarray(given[0], object)
    for one in given[1:]:
        found = np.frompyfunc(function, 2, 1)(found, np.asarray(one, object))
    return found


@_shape_row("Cast")
def _cast_sizes(r: Reader, x: Any) -> Any:
    to = r.attribute("to")
    if to in _WHOLE:
        return _array(_of_each(lambda one: one.truncated() if isinstance(one, Ratio) else one, x))
    if to in _FLOATS:
        if to == onnx.TensorProto.DOUBLE:
            r.gives("float64")
        return _of_each(ratio, x)
    return cast(r, x)


@_shape_row("Slice")
def _slice_sizes(r: Reader, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    first, last = r.ints(1, starts), r.ints(2, ends)
    at = list(range(len(first))) if axes is None else r.ints(3, axes)
    every = [1] * len(first) if steps is None else r.ints(4, steps)
    cuts = [slice(None)] * x.ndim
    for axis, start, end, step in zip(at, first, last, every):
        cuts[axis] = slice(start, None if step < 0 and end < -_END else end, step)
    return _array(x[tuple(cuts)])
