# SPDX-License-Identifier: MIT
"""Rows for ONNX's ops with graphs inside: a branch that is known is read in place of `If`, and loops are unrolled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program.program import Node, Value, resolved
from .reader import Reader, row
from .refused import NotNumbers, Refused

_MOST_TRIPS = 1024  # that a loop is unrolled to


def _truth(r: Reader, given: Any, what: str) -> bool:
    """Of a condition that is known."""
    if isinstance(given, Value):
        if given.array is None:
            names = _inputs_of(given)
            told = f"the input{'s' if len(names) > 1 else ''} {', '.join(names)}: give it in `fixed`" if names else "the inputs"
            raise Refused(f"its {what} depends on {told}")
        given = given.array
    return bool(np.asarray(given).reshape(-1)[0])


def _inputs_of(value: Value) -> list[str]:
    """The names of the inputs that a value is made of."""
    found: dict[str, None] = {}
    seen: set[int] = set()
    waiting: list[Value | None] = [value]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        node: Node | None = one.node
        if node is not None:
            waiting.extend(node.inputs)
        elif one.array is None:
            found[one.name] = None
    return sorted(found)


@row("If")
def _if(r: Reader, condition: Any) -> list[Any]:
    branches = {truth: r.attribute(name) for truth, name in ((True, "then_branch"), (False, "else_branch"))}
    return r.inner(branches[_truth(r, condition, "condition")], [])


@row("Loop")
def _loop(r: Reader, trips: Any, condition: Any, *carried: Any) -> list[Any]:
    body, state = r.attribute("body"), list(carried)
    count = None if trips is None else int(r.ints(0, trips)[0])
    goes_on = True if condition is None else _truth(r, condition, "condition")
    columns: list[list[Any]] = [[] for _ in range(len(body.output) - 1 - len(state))]
    trip = 0
    while goes_on and (count is None or trip < count):
        if trip == _MOST_TRIPS:
            raise Refused(f"it has more than {_MOST_TRIPS} trips")
        found = r.inner(body, [np.array(trip, np.int64), np.array(True), *state])
        goes_on = _truth(r, found[0], "condition inside")
        state = found[1:1 + len(state)]
        for column, one in zip(columns, found[1 + len(state):]):
            column.append(one)
        trip += 1
    return [*state, *(_stacked(r, column, 0) for column in columns)]


@row("Scan")
def _scan(r: Reader, *given: Any) -> list[Any]:
    body, count = r.attribute("body"), int(r.attribute("num_scan_inputs"))
    state, scanned = list(given[:len(given) - count]), given[len(given) - count:]
    results = len(body.output) - len(state)
    axes, reversed_ = r.attribute("scan_input_axes", [0] * count), r.attribute("scan_input_directions", [0] * count)
    out_axes, out_reversed = (r.attribute(f"scan_output_{word}", [0] * results) for word in ("axes", "directions"))
    values = [r.value(one) for one in scanned]
    trips = values[0].shape[resolved(int(axes[0]), values[0].rank)]
    if not isinstance(trips, int):
        raise NotNumbers(f"the number of its trips is {trips}", trips)
    if trips > _MOST_TRIPS:
        raise Refused(f"it has more than {_MOST_TRIPS} trips")
    columns: list[list[Any]] = [[] for _ in range(results)]
    for trip in range(trips):
        parts = [r.build.select(value, int(axis), trips - 1 - trip if back else trip)
                 for value, axis, back in zip(values, axes, reversed_)]
        found = r.inner(body, [*state, *parts])
        state = found[:len(state)]
        for column, one in zip(columns, found[len(state):]):
            column.append(one)
    return [*state, *(_stacked(r, column[::-1] if back else column, int(axis))
                      for column, axis, back in zip(columns, out_axes, out_reversed))]


def _stacked(r: Reader, parts: Sequence[Any], axis: int) -> Any:
    """What the trips gave, along a new axis."""
    if not parts:
        raise Refused("it has no trips, and gives what they collect")
    if all(isinstance(part, np.ndarray) and part.dtype != object for part in parts):
        return np.stack(parts, axis)
    values = [r.value(part) for part in parts]
    axis = resolved(axis, values[0].rank + 1)
    return r.build.concat([r.build.reshape(one, [*one.shape[:axis], 1, *one.shape[axis:]]) for one in values], axis)
