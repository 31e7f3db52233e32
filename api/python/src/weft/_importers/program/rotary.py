# SPDX-License-Identifier: MIT
"""Rotary positions that frameworks write out: x · cos + (-x₂, x₁) · sin with tables of cosines and sines."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from .indices import positions
from .program import Node, Value
from .sizes import Extent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .ops import Builder

_NEAR = 1e-6  # relative: frequencies are rounded to float32
_ROUNDED = 2e-7  # by position: what float32 makes of an angle, and of its cosine


def rotated(b: Builder, one: Value, other: Value) -> Value | None:
    """The node rope, where `one` is x · cos and `other` (-x₂, x₁) · sin, of heads before tokens or behind them."""
    plain, turned = _product(one), _product(other)
    if plain is None or turned is None:
        return None
    for (x, cosine), (half, sine) in itertools.product((plain, plain[::-1]), (turned, turned[::-1])):
        if x.rank != 4 or _turned(half) is not x:
            continue
        if cosine.shape != sine.shape:
            return None
        if cosine.array is not None and sine.array is not None:
            return _of_tables(b, x, cosine.shape, cosine.array, sine.array)
        angles, same = _angles(cosine, "cos"), _angles(sine, "sin")
        return _rope(b, x, cosine.shape, angles) if angles is not None and angles is same else None
    return None


def of_first_channels(b: Builder, parts: Sequence[Value]) -> Value | None:
    """The node rope of some channels, where the others are put behind what it gave of the first."""
    if len(parts) != 2:
        return None
    node, rest = parts[0].node, _first_of(parts[1], "slice")
    if node is None or node.op != "rope" or node.fields["heads"] != 1 or node.fields["width"] is not None or rest is None:
        return None
    first = _first_of(node.inputs[0], "slice")
    x = first.inputs[0] if first is not None else None
    if first is None or x is None or rest.inputs[0] is not x or x.rank != 4:
        return None
    width, last = parts[0].shape[-1], x.rank - 1
    whole = (first.fields["axis"], first.fields["start"], first.fields["step"]) == (last, 0, 1) and (
        rest.fields["axis"], rest.fields["start"], rest.fields["step"]) == (last, width, 1)
    if not whole or width + parts[1].shape[-1] != x.shape[-1]:
        return None
    fields = {name: field for name, field in node.fields.items() if name not in ("heads", "width")}
    return _of_heads_first(b, x, node.inputs[1:], {**fields, "width": width})


def _first_of(x: Value | None, op: str) -> Node | None:
    return x.node if x is not None and x.node is not None and x.node.op == op else None


def _product(x: Value) -> tuple[Value, Value] | None:
    node = _first_of(x, "binary")
    if node is None or node.fields["kind"] != "multiply":
        return None
    a, b = node.inputs
    return None if a is None or b is None else (a, b)


def _turned(half: Value) -> Value | None:
    """x of (-x₂, x₁), its halves along the last axis."""
    node = _first_of(half, "concat")
    if node is None or len(node.inputs) != 2 or node.fields["axis"] != half.rank - 1:
        return None
    neg = node.inputs[0].node if node.inputs[0] is not None else None
    if neg is None or (neg.op, neg.fields.get("kind")) != ("unary", "neg"):
        return None
    second, first = _first_of(neg.inputs[0], "slice"), _first_of(node.inputs[1], "slice")
    width = half.shape[-1]
    if first is None or second is None or not isinstance(width, int) or first.inputs[0] is not second.inputs[0]:
        return None
    for part, start in ((first, 0), (second, width // 2)):
        if (part.fields["axis"], part.fields["start"], part.fields["count"], part.fields["step"]) != (
                half.rank - 1, start, width // 2, 1):
            return None
    return first.inputs[0]


def _angles(table: Value, kind: str) -> Value | None:
    """What both halves of a table are the cosines or sines of."""
    node = _first_of(table, "reshape")
    node = _first_of(node.inputs[0], "unary") if node is not None else _first_of(table, "unary")
    if node is None or node.fields["kind"] != kind:
        return None
    both = _first_of(node.inputs[0], "concat")
    if both is None or node.inputs[0] is None or both.fields["axis"] != node.inputs[0].rank - 1 or len(both.inputs) != 2:
        return None
    return both.inputs[0] if both.inputs[0] is both.inputs[1] else None


def _heads_behind(x: Value, table: tuple[Extent, ...]) -> bool | None:
    """Whether x is [B, n, heads, d] and not [B, heads, n, d], by the shape of the tables; None: they fit neither."""
    shape = (*[1] * (4 - len(table)), *table)
    if shape[1] == 1 and shape[2:] == x.shape[2:]:
        return False
    return True if shape[2] == 1 and (shape[1], shape[3]) == (x.shape[1], x.shape[3]) else None


def _of_tables(b: Builder, x: Value, shape: tuple[Extent, ...], cosines: Any, sines: Any) -> Value | None:
    """The same of tables that are constants, of the positions 0, 1 …"""
    behind, width = _heads_behind(x, shape), cosines.shape[-1]
    length = cosines.size // width
    if behind is None or length < 2 or width % 2 or (len(shape) == 4 and shape[0] != 1):
        return None
    import numpy as np

    half = width // 2
    pairs = [table.reshape(length, width).astype(np.float64) for table in (cosines, sines)]
    if any(not np.array_equal(table[:, :half], table[:, half:]) for table in pairs):
        return None
    cosines, sines = (table[:, :half] for table in pairs)
    slowest = float(np.arctan2(sines[1, -1], cosines[1, -1]))
    if slowest <= 0.0:
        return None
    exact = slowest ** (-half / (half - 1)) if half > 1 else 10000.0
    for digits in range(1, 8):  # the roundest base that gives these tables
        base = float(f"{exact:.{digits - 1}e}")
        angles = np.arange(length)[:, None] * base ** (-np.arange(half) / half) if base >= 1.0 else np.inf
        error = max(np.abs(np.cos(angles) - cosines).max(), np.abs(np.sin(angles) - sines).max())
        if error <= _ROUNDED * (10 + length):
            fields = {"width": None, "base": base, "interleaved": False, "offset": None}
            return _of_heads_last(b, x, [], fields) if behind else _of_heads_first(b, x, [], fields)
    return None


def _rope(b: Builder, x: Value, table: tuple[Extent, ...], angles: Value) -> Value | None:
    factors = _product(angles)
    if factors is None:
        return None
    for frequencies, times in (factors, factors[::-1]):
        base = _base(frequencies, x.shape[-1])
        convert = _first_of(times, "convert")
        tokens = convert.inputs[0] if convert is not None else None
        if base is None or tokens is None or tokens.rank < 2 or tokens.shape[-1] != 1:
            continue
        behind = _heads_behind(x, table)
        if behind is None or tokens.shape[-2] != x.shape[1 if behind else 2]:
            return None
        offset = positions(tokens, tokens.rank - 2)
        given: list[Value] = []
        if offset is None:
            if tokens.rank != 3 or tokens.shape[0] != x.shape[0]:
                return None
            given = [b.reshape(tokens, tokens.shape[:2])]
        fields: dict[str, Any] = {"width": None, "base": base, "interleaved": False, "offset": offset or None}
        return _of_heads_last(b, x, given, fields) if behind else _of_heads_first(b, x, given, fields)
    return None


def _base(frequencies: Value, width: Extent) -> float | None:
    """Of frequencies base^(-2j / width), as rope takes it."""
    array = frequencies.array
    if array is None or not isinstance(width, int) or array.size != width // 2 or frequencies.shape[-1:] != (width // 2,):
        return None
    import numpy as np

    found, count = array.reshape(-1).astype(np.float64), width // 2
    if not (found > 0).all():
        return None
    exact = float(found[-1]) ** (-count / (count - 1)) if count > 1 else 10000.0
    for base in (float(round(exact)), float(np.float32(exact))):
        if 1.0 <= base < 1e30 and np.allclose(base ** (-np.arange(count) / count), found, rtol=_NEAR, atol=0.0):
            return base
    return None


def _of_heads_first(b: Builder, x: Value, given: Sequence[Value | None], fields: dict[str, Any]) -> Value:
    """Of [B, heads, n, d]; where that was [B, n, heads, d], it is again, as attention takes it."""
    node = _first_of(x, "permute")
    source = node.inputs[0] if node is not None and node.fields["axes"] == [0, 2, 1, 3] else None
    if source is not None:
        return b.permute(_of_heads_last(b, source, given, fields), [0, 2, 1, 3])
    return b.program.node("rope", [x, *given], "f32", x.shape, heads=1, **fields)


def _of_heads_last(b: Builder, x: Value, given: Sequence[Value | None], fields: dict[str, Any]) -> Value:
    """Of [B, n, heads, d]."""
    batch, length, heads, width = x.shape
    flat = b.reshape(x, [batch, length, heads * width])
    return b.reshape(b.program.node("rope", [flat, *given], "f32", flat.shape, heads=heads, **fields), x.shape)
