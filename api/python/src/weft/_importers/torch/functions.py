# SPDX-License-Identifier: MIT
"""Rows for PyTorch's norms, distances and functions that programs lack."""

from __future__ import annotations

import math
from typing import Any

from ..program.functions import FUNCTIONS, atan2, cumulative_product
from ..program.program import Value, resolved
from .movement import truth
from .reader import Pair, Reader, row
from .types import Refused

for _word in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erfinv", "sinh"):
    row(f"aten.{_word}.default")(lambda r, x, word=_word: FUNCTIONS[word](r.build, r.value(x, "f32")))

_BASES = {"log2": math.log(2), "log10": math.log(10)}
for _word, _base in _BASES.items():
    row(f"aten.{_word}.default")(
        lambda r, x, base=_base: r.build.affine(r.build.unary("log", r.value(x, "f32")), 1 / base, 0.0))


@row("aten.exp2.default")
def _exp2(r: Reader, x: Any) -> Value:
    return r.build.binary("power", r.build.constant(2.0, "f32"), r.value(x, "f32"))


@row("aten.frac.default")
def _frac(r: Reader, x: Any) -> Value:
    value = r.value(x)
    return r.build.subtract(value, r.build.unary("trunc", value))


@row("aten.hypot.default")
def _hypot(r: Reader, x: Any, y: Any) -> Value:
    b = r.build
    return b.unary("sqrt", b.add(*(b.multiply(one, one) for one in (r.value(x, "f32"), r.value(y, "f32")))))


@row("aten.atan2.default")
def _atan2(r: Reader, y: Any, x: Any) -> Value:
    return atan2(r.build, r.value(y, "f32"), r.value(x, "f32"))


@row("aten.angle.default")
def _angle(r: Reader, x: Any) -> Value:
    b = r.build
    if isinstance(x, Pair):
        return atan2(b, x.imaginary, x.real, signed_zeros=False)  # spectra have zeros of either sign
    value = r.value(x, "f32")
    found = b.where(b.binary("less", value, b.constant(0.0, "f32")), b.constant(math.pi, "f32"), b.constant(0.0, "f32"))
    return b.where(b.unary("is_nan", value), value, found)


@row("aten.cumprod.default")
def _cumprod(r: Reader, x: Any, axis: int, **_: Any) -> Value:
    value = r.value(x, r.kind)
    return cumulative_product(r.build, value, resolved(axis, value.rank)) if value.rank else value


# ---- norms and distances ----

def _norm(r: Reader, x: Value, order: float, axes: list[int] | None, keep: bool) -> Value:
    """Σ |x|ᵖ, and what is understood by p of 0 and infinity."""
    b = r.build
    if order == 2.0:
        return b.unary("sqrt", b.reduce("sum", b.multiply(x, x), axes, keep))
    size = b.unary("abs", x)
    if math.isinf(order):
        return b.reduce("max" if order > 0 else "min", size, axes, keep)
    if order == 0.0:
        return b.reduce("sum", b.convert(truth(r, x), "f32"), axes, keep)
    if order == 1.0:
        return b.reduce("sum", size, axes, keep)
    total = b.reduce("sum", b.binary("power", size, b.constant(order, "f32")), axes, keep)
    return b.binary("power", total, b.constant(1.0 / order, "f32"))


@row("aten.linalg_vector_norm.default")
def _vector_norm(r: Reader, x: Any, order: Any = 2, axes: Any = None, keep: bool = False, **_: Any) -> Value:
    if isinstance(x, Pair):
        raise Refused("it is of a complex tensor")
    axes = None if axes is None else [axes] if isinstance(axes, int) else list(axes) or None
    return _norm(r, r.value(x, "f32"), float(order), axes, keep)


@row("aten.norm.Scalar", "aten.norm.ScalarOpt_dim")
def _old_norm(r: Reader, x: Any, order: Any = 2, axes: Any = None, keep: bool = False) -> Value:
    return _norm(r, r.value(x, "f32"), 2.0 if order is None else float(order), None if axes is None else list(axes), keep)


@row("aten.cdist.default", "aten._cdist_forward.default")
def _cdist(r: Reader, one: Any, other: Any, order: float = 2.0, *_: Any) -> Value:
    b, x, y = r.build, r.value(one), r.value(other)
    left = b.reshape(x, [*x.shape[:-1], 1, x.shape[-1]])
    right = b.reshape(y, [*y.shape[:-2], 1, *y.shape[-2:]])
    return _norm(r, b.subtract(left, right), float(order), [max(left.rank, right.rank) - 1], False)


# ---- counting ----

@row("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def _bucketize(r: Reader, x: Any, bounds: Any, *, right: bool = False, **_: Any) -> Value:
    return _searched(r, r.value(bounds), r.value(x), right)


@row("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def _searchsorted(r: Reader, sequence: Any, x: Any, *, right: bool = False, side: str | None = None, sorter: Any = None,
                  **_: Any) -> Value:
    if sorter is not None:
        raise Refused("it has a sorter")
    return _searched(r, r.value(sequence), r.value(x), right or side == "right")


def _searched(r: Reader, sequence: Value, x: Value, right: bool) -> Value:
    """How many of a sorted sequence are less than x, or with `right` not more."""
    b = r.build
    kind = "f32" if "f32" in (sequence.dtype, x.dtype) else "i32"
    line = b.reshape(sequence, [*sequence.shape[:-1], 1, sequence.shape[-1]] if sequence.rank > 1 else sequence.shape)
    pairs = b.binary("less_equal" if right else "less", b.convert(line, kind),  # type: ignore[arg-type]
                     b.convert(b.reshape(x, [*x.shape, 1]), kind))  # type: ignore[arg-type]
    return b.reduce("sum", pairs, [-1], False)


@row("aten._embedding_bag.default", "aten._embedding_bag_forward_only.default")
def _embedding_bag(r: Reader, table: Any, tokens: Any, offsets: Any, scale: bool = False, mode: int = 0, sparse: bool = False,
                   weights: Any = None, last: bool = False, padding: int = -1) -> list[Any]:
    b, at, starts = r.build, r.value(tokens), r.value(offsets)
    node = starts.node
    if node is None or node.op != "arange" or node.fields["start"] != 0 or last or padding >= 0:
        raise Refused("its bags are not all of one size, or have padding")
    rows = b.reshape(at, [starts.shape[0], node.fields["step"]])
    found = b.take(r.value(table), rows, 0)
    if weights is not None:
        found = b.multiply(found, b.reshape(r.value(weights), [*rows.shape, 1]))
    total = b.reduce(("sum", "mean", "max")[mode], found, [1], False)
    return [total, None, None, None]

