# SPDX-License-Identifier: MIT
"""Rows for ONNX's sequences of tensors and optional ones: lists whose lengths are known, of which a program has the tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program.program import Value, resolved
from ..program.sizes import Size, divide
from .reader import Reader, row
from .refused import Refused

_MOST = 1024  # parts of a tensor


def _tensors(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise Refused("its sequence is none")
    return given


def _place(r: Reader, index: int, given: Any, count: int) -> int:
    """Which element of so many; the last one by default."""
    at = count - 1 if given is None else int(r.ints(index, given)[0])
    if not -count <= at < count:
        raise Refused(f"its position is {at}, of {count}")
    return at % count


@row("SequenceConstruct", "SequenceEmpty")
def _sequence(r: Reader, *parts: Any) -> list[Any]:
    r.attribute("dtype")
    return [list(parts)]


@row("SequenceInsert")
def _inserted(r: Reader, given: Any, part: Any, position: Any = None) -> list[Any]:
    parts = _tensors(given)
    at = _place(r, 2, position, len(parts) + 1)
    return [[*parts[:at], part, *parts[at:]]]


@row("SequenceErase")
def _erased(r: Reader, given: Any, position: Any = None) -> list[Any]:
    parts = _tensors(given)
    at = _place(r, 1, position, len(parts))
    return [[*parts[:at], *parts[at + 1:]]]


@row("SequenceAt")
def _element(r: Reader, given: Any, position: Any) -> list[Any]:
    parts = _tensors(given)
    return [parts[_place(r, 1, position, len(parts))]]


@row("SequenceLength")
def _length(r: Reader, given: Any) -> Any:
    return np.array(len(_tensors(given)), np.int64)


@row("ConcatFromSequence")
def _joined(r: Reader, given: Any) -> Value:
    b, axis = r.build, int(r.attribute("axis"))
    parts = [r.value(part) for part in _tensors(given)]
    if not parts:
        raise Refused("its sequence is empty")
    if r.attribute("new_axis", 0):
        axis = resolved(axis, parts[0].rank + 1)
        parts = [b.reshape(part, [*part.shape[:axis], 1, *part.shape[axis:]]) for part in parts]
    return b.concat(parts, axis)


@row("SplitToSequence")
def _split(r: Reader, x: Any, counts: Any = None) -> list[Any]:
    b, value = r.build, r.value(x)
    axis, keep = resolved(int(r.attribute("axis", 0)), value.rank), bool(r.attribute("keepdims", 1))
    extent = value.shape[axis]
    given = 1 if counts is None else r.numbers(1, counts)
    if np.ndim(given) == 1:
        sizes = np.asarray(given).tolist()
    else:
        size = int(np.asarray(given))
        number = -divide(-extent, size)
        if isinstance(number, Size):
            raise Refused(f"it splits an axis of {extent} elements, which is no number")
        if number > _MOST:
            raise Refused(f"it gives {number} parts: expected at most {_MOST}")
        sizes = [size] * (number - 1) + [extent - size * (number - 1)]
    if counts is None and not keep:
        return [[b.select(value, axis, at) for at in range(len(sizes))]]
    parts, start = [], 0
    for size in sizes:
        parts.append(b.slice(value, axis, start, size))
        start = start + size
    return [parts]


@row("Optional", "OptionalGetElement")
def _optional(r: Reader, given: Any = None) -> list[Any]:
    if given is None:
        raise Refused("it is of nothing")
    r.attribute("type")
    return [given]


@row("OptionalHasElement")
def _has_element(r: Reader, given: Any = None) -> Any:
    return np.array(given is not None)
