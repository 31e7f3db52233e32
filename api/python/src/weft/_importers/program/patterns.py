# SPDX-License-Identifier: MIT
"""Ops that frameworks write out as several: found again at the product that ends them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .program import Node, Value
from .rotary import rotated

if TYPE_CHECKING:
    from .ops import Builder

_NEAR = 1e-6  # relative: constants are rounded to float32


def product(b: Builder, one: Value, other: Value) -> Value | None:
    """The op that a · b is, if it is one: RMS norm, with or without its gain, or an activation."""
    for x, y in ((one, other), (other, one)):
        found = _rms_norm(b, x, y) or _with_gain(b, x, y) or _gated(b, x, y) or _gelu(b, x, y) or _hard_swish(b, x, y)
        if found is not None:
            return found
    return None


def total(b: Builder, one: Value, other: Value) -> Value | None:
    """The op that a + b is, if it is one: rotary positions as transformers writes them."""
    return rotated(b, one, other) or rotated(b, other, one)


def scaled(b: Builder, x: Value, scale: float, offset: float) -> Value | None:
    """The op that x · scale is, if it is one, and offset is 0."""
    inner, inverse, none = _affine(x)
    if inner is not None and offset == none == 0.0 and _node(inner, "unary", kind="hard_swish") and _near(inverse * scale, 1.0):
        return inner
    return _hard_sigmoid(b, x, scale) if offset == 0.0 else None


def quotient(b: Builder, one: Value, other: Value) -> Value | None:
    """The op that a / b is, if it is one: a piecewise linear activation that was multiplied by what it is divided by."""
    number = float(other.array.reshape(())) if other.array is not None and other.array.size == 1 else None
    return scaled(b, one, 1.0 / number, 0.0) if number and one.rank >= other.rank else None


def _node(x: Value | None, op: str, **fields: object) -> Node | None:
    """What gives x, if it is such a node."""
    node = x.node if x is not None else None
    if node is None or node.op != op or any(node.fields.get(name) != field for name, field in fields.items()):
        return None
    return node


def _affine(x: Value | None) -> tuple[Value | None, float, float]:
    """What x is a scale and an offset of."""
    node = _node(x, "affine")
    return (x, 1.0, 0.0) if node is None else (node.inputs[0], node.fields["scale"], node.fields["offset"])


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_NEAR)


def _rms_norm(b: Builder, x: Value, y: Value) -> Value | None:
    """x · rsqrt(mean(x²) + epsilon)."""
    root = _node(y, "unary", kind="rsqrt")
    inner, scale, epsilon = _affine(root.inputs[0]) if root else (None, 0.0, 0.0)
    mean = _node(inner, "reduce", kind="mean", axes=[x.rank - 1], keep_axes=True)
    square = _node(mean.inputs[0], "binary", kind="multiply") if mean and scale == 1.0 and epsilon >= 0.0 else None
    if square is None or square.inputs[0] is not x or square.inputs[1] is not x:
        return None
    return b.rms_norm(x, None, epsilon)


def _with_gain(b: Builder, x: Value, gain: Value) -> Value | None:
    moved = _node(x, "permute")
    norm = _node(moved.inputs[0] if moved else x, "rms_norm")
    if norm is None or norm.inputs[1] is not None or gain.array is None or gain.shape != x.shape[-1:] or (
            moved and moved.fields["axes"][-1] != x.rank - 1):
        return None
    assert norm.inputs[0] is not None
    found = b.rms_norm(norm.inputs[0], gain, norm.fields["epsilon"])
    return b.permute(found, moved.fields["axes"]) if moved else found


def _gated(b: Builder, x: Value, y: Value) -> Value | None:
    """x · sigmoid(x), x · sigmoid(1.702 x)."""
    gate = _node(y, "activation", activation="sigmoid")
    inner, scale, offset = _affine(gate.inputs[0]) if gate else (None, 0.0, 0.0)
    if inner is not x or offset != 0.0:
        return None
    return b.unary("silu", x) if scale == 1.0 else b.unary("quick_gelu", x) if _near(scale, 1.702) else None


def _slope(x: Value) -> tuple[Value, float, float] | None:
    """Of clip(z + 3, 0, 6), as exporters write a piecewise linear sigmoid: z, 6, and what it is multiplied by."""
    inner, scale, offset = _affine(x)
    clamp = _node(inner, "unary", kind="clamp", alpha=0.0)
    if clamp is None or offset != 0.0 or not 0.0 < clamp.fields["beta"] < math.inf:
        return None
    z, one, half = _affine(clamp.inputs[0])
    most = clamp.fields["beta"]
    return (z, most, scale) if z is not None and one == 1.0 and half == most / 2 else None


def _hard_sigmoid(b: Builder, x: Value, factor: float) -> Value | None:
    """clip(z + 3, 0, 6) / 6."""
    known = _slope(x)
    if known is None or not _near(known[1] * known[2] * factor, 1.0):
        return None
    return b.unary("hard_sigmoid", known[0], alpha=1.0 / known[1], beta=0.5)


def _hard_swish(b: Builder, x: Value, y: Value) -> Value | None:
    """x · clip(x + 3, 0, 6), also of a part of it, and x · hard_sigmoid(x)."""
    gate, known = _node(y, "unary", kind="hard_sigmoid"), _slope(y)
    if gate is not None and gate.inputs[0] is x:
        return b.unary("hard_swish", x, alpha=gate.fields["alpha"], beta=gate.fields["beta"])
    if known is None or known[0] is not x:
        return None
    found = b.unary("hard_swish", x, alpha=1.0 / known[1], beta=0.5)
    whole = known[1] * known[2]
    return b.affine(found, 1.0 if _near(whole, 1.0) else whole, 0.0)


def _gelu(b: Builder, half: Value, rest: Value) -> Value | None:
    """x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), x/2 · (1 + erf(x/√2))."""
    x, scale, offset = _affine(half)
    inner, one, also_one = _affine(rest)
    if x is None or (scale, offset, one, also_one) != (0.5, 0.0, 1.0, 1.0):
        return None
    erf, tanh = _node(inner, "unary", kind="erf"), _node(inner, "activation", activation="tanh")
    within, factor, shift = _affine((erf or tanh).inputs[0]) if erf or tanh else (None, 0.0, 0.0)  # type: ignore[union-attr]
    if shift != 0.0:
        return None
    if erf:
        return b.unary("gelu_erf", x) if within is x and _near(factor, math.sqrt(0.5)) else None
    total = _node(within, "binary", kind="add")
    if total is None or not _near(factor, math.sqrt(2 / math.pi)) or x not in total.inputs:
        return None
    cube, small, none = _affine(total.inputs[1 - total.inputs.index(x)])
    return b.unary("gelu_tanh", x) if _near(small, 0.044715) and none == 0.0 and _is_cube(cube, x) else None


def _is_cube(cube: Value | None, x: Value) -> bool:
    outer = _node(cube, "binary", kind="multiply")
    if outer is None or x not in outer.inputs:
        return False
    inner = _node(outer.inputs[1 - outer.inputs.index(x)], "binary", kind="multiply")
    return inner is not None and inner.inputs[0] is x and inner.inputs[1] is x
