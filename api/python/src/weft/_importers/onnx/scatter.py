# SPDX-License-Identifier: MIT
"""Rows for ONNX's ops that scatter, sort or select."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program.program import Value, resolved
from ..program.scatter import largest, scatter_elements, scatter_rows
from ..program.sizes import product
from .reader import Reader, row
from .refused import Refused


@row("ScatterElements", "Scatter")
def _scatter_elements(r: Reader, data: Any, indices: Any, updates: Any) -> Value:
    return scatter_elements(r.build, r.value(data), r.value(indices), r.value(updates), int(r.attribute("axis", 0)),
                            r.attribute("reduction", "none"))


@row("ScatterND")
def _scatter_nd(r: Reader, data: Any, indices: Any, updates: Any) -> Value:
    b, value, at, new = r.build, r.value(data), r.value(indices), r.value(updates)
    depth = at.shape[-1]
    if not isinstance(depth, int):
        raise Refused("the length of an index is no number")
    places = b.linear_indices([b.select(at, -1, axis) for axis in range(depth)], value.shape[:depth])
    inner = value.shape[depth:]
    rows = b.reshape(value, [product(value.shape[:depth]), *inner])
    found = scatter_rows(b, rows, b.reshape(places, [-1]), b.reshape(new, [product(at.shape[:-1]), *inner]),
                         r.attribute("reduction", "none"))
    return b.reshape(found, value.shape)


@row("TopK")
def _top_k(r: Reader, x: Any, count: Any) -> list[Value]:
    r.attribute("sorted", 1)  # sorted ones will do for those that ask for none
    wanted = r.ints(1, count)[0]
    if not isinstance(wanted, int):
        raise Refused("how many it gives is no number")
    return list(largest(r.build, r.value(x), int(r.attribute("axis", -1)), wanted, bool(r.attribute("largest", 1))))


@row("Compress")
def _compress(r: Reader, x: Any, condition: Any) -> Value:
    value, axis = r.value(x), r.attribute("axis")
    kept = np.flatnonzero(r.numbers(1, condition))
    if axis is None:
        value, axis = r.build.reshape(value, [-1]), 0
    return r.build.take(value, r.build.constant(kept, "i32"), resolved(int(axis), value.rank))
