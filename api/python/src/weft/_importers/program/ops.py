# SPDX-License-Identifier: MIT
"""The ops of programs, with the shapes that they give. Importers write programs by these functions alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors
from . import norms, patterns, rotary, windows
from .program import Kind, Program, Value, resolved, resolved_all
from .sizes import Extent, larger, product

_ACTIVATIONS = ("gelu_tanh", "gelu_erf", "tanh", "relu", "sigmoid", "silu", "elu1", "exp")
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_MOST_PARTS = 10  # inputs of a node
_LARGEST_FILLED = 4096  # elements: larger ones are made when a graph is built
_PATTERNS = {"multiply": patterns.product, "add": patterns.total, "divide": patterns.quotient}
_OF_NONE = {"sum": 0.0, "product": 1.0, "mean": math.nan}
"""What reductions make of no elements."""
_WHOLE = ("logical_not", "is_nan", "is_inf")  # unary ops with results i32


class Builder:
    """Adds nodes to a program. Movement of constants is done at once, and movement that moves nothing adds no node."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.products: dict[int, tuple[Value, Value | None, norms.Again]] = {}
        """By the ids of values: the value, its bias, and how it is made with other weights (norms.py)."""

    def constant(self, data: Any, dtype: Kind | None = None, name: str = "") -> Value:
        """A constant, of a type of one's choice."""
        array = np.asarray(data)
        if dtype is not None:
            array = array.astype(np.float64 if dtype == "f32" else np.int64)
        return self.program.constant(array, name)

    # ---- movement ----

    def reshape(self, x: Value, shape: Sequence[Extent]) -> Value:
        """The same elements in the same order; one extent may be -1."""
        shape = _whole_shape(x, list(shape))
        if tuple(shape) == x.shape:
            return x
        if x.array is not None and all(isinstance(extent, int) for extent in shape):
            return self.program.constant(x.array.reshape([int(str(extent)) for extent in shape]))
        if 0 in x.shape:
            return self.full(shape, 0, x.dtype)
        if x.node is not None and x.node.op == "reshape":
            assert x.node.inputs[0] is not None
            return self.reshape(x.node.inputs[0], shape)
        return self.program.node("reshape", [x], x.dtype, shape, shape=shape)

    def permute(self, x: Value, axes: Sequence[int]) -> Value:
        """Axis i of the result is axis axes[i] of x."""
        axes = [resolved(axis, x.rank) for axis in axes]
        if axes == list(range(x.rank)):
            return x
        if x.array is not None:
            found = self.program.constant(x.array.transpose(axes))
            found.transpose_of = x if axes == [1, 0] else None
            return found
        parts = _stacked_last(x)
        if parts is not None and axes[-1] != x.rank - 1 and _keeps_order(parts[0], axes):  # whole rows are joined, then
            return self.concat([self.permute(part, axes) for part in parts], axes.index(x.rank - 1))
        if x.node is not None and x.node.op == "permute":
            first = x.node.fields["axes"]
            assert x.node.inputs[0] is not None
            return self.permute(x.node.inputs[0], [first[axis] for axis in axes])
        shape = [x.shape[axis] for axis in axes]
        if _keeps_order(x, axes):
            return self.reshape(x, shape)
        return self.program.node("permute", [x], x.dtype, shape, axes=axes)

    def swap(self, x: Value, a: int, b: int) -> Value:
        """Two axes in each other's place."""
        axes = list(range(x.rank))
        a, b = resolved(a, x.rank), resolved(b, x.rank)
        axes[a], axes[b] = axes[b], axes[a]
        return self.permute(x, axes)

    def slice(self, x: Value, axis: int, start: Extent, count: Extent, step: int = 1) -> Value:
        """Elements start, start + step …, count of them."""
        axis = resolved(axis, x.rank)
        if start == 0 and step == 1 and count == x.shape[axis]:
            return x
        if x.array is not None and isinstance(start, int) and isinstance(count, int):
            return self.program.constant(np.take(x.array, start + step * np.arange(count), axis))
        known = windows.without_padding(self, x, axis, count) if (start, step) == (0, 1) else None
        if known is not None:
            return known
        if count == 1 and x.node is not None and x.node.op == "permute":
            axes, source = x.node.fields["axes"], x.node.inputs[0]
            assert source is not None
            if _keeps_order(source, [one for one in axes if one != axes[axis]]):  # nothing else needs the permutation
                return self.permute(self.slice(source, axes[axis], start, 1), axes)
        shape = [*x.shape[:axis], count, *x.shape[axis + 1:]]
        return self.program.node("slice", [x], x.dtype, shape, axis=axis, start=start, count=count, step=step)

    def select(self, x: Value, axis: int, index: Extent) -> Value:
        """One element of an axis, which vanishes."""
        axis = resolved(axis, x.rank)
        index = x.shape[axis] + index if index < 0 else index
        part = self.slice(x, axis, index, 1)
        return self.reshape(part, [*x.shape[:axis], *x.shape[axis + 1:]])

    def concat(self, parts: Sequence[Value], axis: int) -> Value:
        """One behind the other; those without elements are left out."""
        parts = [part for part in parts if part.shape != (0,)] or [parts[0]]
        axis = resolved(axis, parts[0].rank)
        parts = [part for part in parts if part.shape[axis] != 0] or [parts[0]]
        if len(parts) == 1:
            return parts[0]
        if all(part.array is not None for part in parts):
            return self.program.constant(np.concatenate([part.array for part in parts if part.array is not None], axis))
        if len(parts) > _MOST_PARTS:
            groups = [parts[at:at + _MOST_PARTS] for at in range(0, len(parts), _MOST_PARTS)]
            return self.concat([self.concat(group, axis) for group in groups], axis)
        known = rotary.of_first_channels(self, parts) if axis == parts[0].rank - 1 else None
        if known is not None:
            return known
        whole = _whole_of(parts, axis)
        if whole is not None:
            return whole
        total: Extent = 0
        for part in parts:
            total = total + part.shape[axis]
        shape = list(parts[0].shape)
        shape[axis] = total
        return self.program.node("concat", parts, parts[0].dtype, shape, axis=axis)

    def pad(self, x: Value, axis: int, before: Extent, after: Extent, value: float = 0.0) -> Value:
        """A constant around; a negative number of elements takes them away."""
        axis = resolved(axis, x.rank)
        start, end = larger(-before, 0), larger(-after, 0)
        if start != 0 or end != 0:
            x = self.slice(x, axis, start, x.shape[axis] - start - end)
            before, after = larger(before, 0), larger(after, 0)
        if before == 0 and after == 0:
            return x
        if x.array is not None and isinstance(before, int) and isinstance(after, int):
            widths = [(before, after) if at == axis else (0, 0) for at in range(x.rank)]
            return self.program.constant(np.pad(x.array, widths, constant_values=value))
        shape = list(x.shape)
        shape[axis] = before + x.shape[axis] + after
        if 0 in x.shape and 0 not in shape:
            return self.full(shape, value, x.dtype)
        return self.program.node("pad", [x], x.dtype, shape, axis=axis, before=before, after=after, value=float(value))

    def expand(self, x: Value, shape: Sequence[Extent]) -> Value:
        """Broadcast to a shape, as NumPy does."""
        shape = list(shape)
        if tuple(shape) == x.shape:
            return x
        if product(shape) == product(x.shape):
            return self.reshape(x, shape)
        if x.array is not None and all(isinstance(extent, int) for extent in shape) and x.array.size == 1:
            return self.program.constant(np.broadcast_to(x.array, [int(str(extent)) for extent in shape]))
        return self.program.node("expand", [x], x.dtype, shape, shape=shape)

    def take(self, x: Value, indices: Value, axis: int) -> Value:
        """NumPy's take: the indices' shape is in the place of the axis."""
        axis = resolved(axis, x.rank)
        shape = [*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]]
        return self.program.node("take", [x, self.convert(indices, "i32")], x.dtype, shape, axis=axis)

    def take_along(self, x: Value, indices: Value, axis: int) -> Value:
        """NumPy's take_along_axis; the other axes of x may be longer than the indices'."""
        axis = resolved(axis, x.rank)
        for other in range(x.rank):
            if other != axis:
                x = self.slice(x, other, 0, indices.shape[other])
        return self.program.node("take_along", [x, self.convert(indices, "i32")], x.dtype, indices.shape, axis=axis)

    def from_start(self, indices: Value, extent: Extent) -> Value:
        """Indices into an axis, of which negative ones counted from its end."""
        if indices.array is not None and ((indices.array >= 0).all() or isinstance(extent, int)):
            return self.constant(indices.array % extent if isinstance(extent, int) else indices.array, "i32")
        if _is_count(indices):
            return indices
        below = self.binary("less", indices, self.constant(0, indices.dtype))
        return self.where(below, self.add(indices, self.size(extent)), indices)

    def linear_indices(self, parts: Sequence[Value], extents: Sequence[Extent]) -> Value:
        """Of indices into several axes, those into their product."""
        linear: Value | None = None
        for index, extent in zip(parts, extents):
            index = self.from_start(index, extent)
            linear = index if linear is None else self._next_index(linear, extent, index)
        assert linear is not None
        return linear

    def _next_index(self, linear: Value, extent: Extent, index: Value) -> Value:
        if linear.array is not None and index.array is not None and isinstance(extent, int):
            return self.constant(linear.array.astype(np.int64) * extent + index.array, "i32")
        return self.add(self.multiply(linear, self.size(extent)), index)

    def arange(self, count: Extent, start: Extent = 0, step: Extent = 1) -> Value:
        """Whole numbers."""
        if isinstance(count, int) and isinstance(start, int) and isinstance(step, int):
            return self.program.constant(start + step * np.arange(count))
        return self.program.node("arange", [], "i32", [count], start=start, step=step, count=count)

    def full(self, shape: Sequence[Extent], value: float, dtype: Kind) -> Value:
        """One number everywhere."""
        number: Any = float(value) if dtype == "f32" else int(value)
        if all(isinstance(extent, int) for extent in shape) and product(shape) <= _LARGEST_FILLED:
            return self.constant(np.full([int(str(extent)) for extent in shape], number), dtype)
        return self.program.node("full", [], dtype, shape, shape=list(shape), value=number, dtype=dtype)

    def size(self, extent: Extent) -> Value:
        """A size as a number, i32 []."""
        if isinstance(extent, int):
            return self.constant(extent, "i32")
        return self.program.node("full", [], "i32", [], shape=[], value=extent, dtype="i32")

    # ---- arithmetic ----

    def convert(self, x: Value, dtype: Kind) -> Value:
        """In another type."""
        if x.dtype == dtype:
            return x
        if x.array is not None:
            return self.constant(np.trunc(x.array), dtype)
        whole = x.node.inputs[0] if x.node is not None and x.node.op == "convert" else None
        if whole is not None and whole.dtype == dtype == "f32" and _is_small_whole(whole):
            return whole
        return self.program.node("convert", [x], dtype, x.shape, dtype=dtype)

    def rounded_to_half(self, x: Value) -> Value:
        """The nearest float16, in f32."""
        if x.array is not None:
            with np.errstate(over="ignore"):
                return self.constant(x.array.astype(np.float16), "f32")
        half = self.program.node("convert", [x], "f16", x.shape, dtype="f16")  # type: ignore[arg-type]
        return self.program.node("convert", [half], "f32", x.shape, dtype="f32")

    def binary(self, kind: str, a: Value, b: Value) -> Value:
        """Elementwise with broadcasting; both have one type."""
        if a.dtype != b.dtype:
            raise errors.InvalidArgument(f"{kind}: expected two values of one type, found {a} and {b}")
        shape = broadcast(a.shape, b.shape)
        if kind == "subtract" and _is_scalar(a) == 0.0 and a.dtype == "f32" and b.shape == tuple(shape):
            return self.unary("neg", b)
        scale_offset = _affine(kind, a, b, shape)
        if scale_offset is not None:
            x, scale, offset = scale_offset
            return patterns.scaled(self, x, scale, offset) or self.affine(x, scale, offset)
        pattern = _PATTERNS.get(kind)
        known = pattern(self, a, b) if pattern is not None and a.dtype == "f32" else None
        if known is not None:
            return known
        whole = kind in _COMPARISONS
        return self.program.node("binary", [a, b], "i32" if whole else a.dtype, shape, kind=kind)

    def affine(self, x: Value, scale: float, offset: float) -> Value:
        """scale · x + offset."""
        if scale == 1.0 and offset == 0.0:
            return x
        if x.array is not None:
            return self.program.constant(x.array * np.float32(scale) + np.float32(offset))
        return self.program.node("affine", [x], "f32", x.shape, scale=scale, offset=offset)

    def add(self, a: Value, b: Value) -> Value:
        return self.binary("add", a, b)

    def subtract(self, a: Value, b: Value) -> Value:
        return self.binary("subtract", a, b)

    def multiply(self, a: Value, b: Value) -> Value:
        return self.binary("multiply", a, b)

    def divide(self, a: Value, b: Value) -> Value:
        return self.binary("divide", a, b)

    def unary(self, kind: str, x: Value, **fields: float) -> Value:
        """An elementwise function."""
        if kind in _ACTIVATIONS:
            return self.program.node("activation", [x], "f32", x.shape, activation=kind)
        return self.program.node("unary", [x], "i32" if kind in _WHOLE else x.dtype, x.shape, kind=kind, **fields)

    def clamp(self, x: Value, low: float | None, high: float | None) -> Value:
        """Between two numbers, of which None is no bound."""
        return self.unary("clamp", x, alpha=-math.inf if low is None else float(low),
                          beta=math.inf if high is None else float(high))

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        """a where the condition is not 0, else b."""
        shape = broadcast(condition.shape, broadcast(a.shape, b.shape))
        return self.program.node("where", [condition, a, b], a.dtype, shape)

    def reduce(self, kind: str, x: Value, axes: Sequence[int] | None, keep: bool) -> Value:
        """sum, mean, max, min or product over axes; None: all."""
        axes = list(range(x.rank)) if axes is None else resolved_all(axes, x.rank)
        kept = [1 if at in axes else extent for at, extent in enumerate(x.shape)]
        shape = kept if keep else [extent for at, extent in enumerate(x.shape) if at not in axes]
        if not axes:
            return x
        if 0 in x.shape and 0 not in shape and kind in _OF_NONE:
            return self.full(shape, _OF_NONE[kind], x.dtype)
        return self.program.node("reduce", [x], x.dtype, shape, kind=kind, axes=axes, keep_axes=keep)

    def logsumexp(self, x: Value, axes: Sequence[int] | None, keep: bool) -> Value:
        """log(Σ exp(x)) over axes; infinities are what they are in it."""
        if 0 in x.shape:
            return self.unary("log", self.reduce("sum", x, axes, keep))
        largest = self.reduce("max", x, axes, True)
        finite = self.where(self.unary("is_inf", largest), self.constant(0.0, "f32"), largest)
        total = self.unary("log", self.reduce("sum", self.unary("exp", self.subtract(x, finite)), axes, keep))
        return self.add(total, finite if keep else self.reshape(finite, total.shape))

    def arg(self, kind: str, x: Value, axis: int, keep: bool) -> Value:
        """argmax or argmin."""
        axis = resolved(axis, x.rank)
        shape = [*x.shape[:axis], *([1] if keep else []), *x.shape[axis + 1:]]
        return self.program.node(kind, [x], "i32", shape, axis=axis, keep_axis=keep)

    def cumsum(self, x: Value, axis: int, exclusive: bool = False, reverse: bool = False) -> Value:
        """Sums of what comes before, with the element itself as a rule."""
        return self.program.node("cumsum", [x], x.dtype, x.shape, axis=resolved(axis, x.rank), exclusive=exclusive,
                                 reverse=reverse)

    def softmax(self, x: Value, axis: int, log: bool = False) -> Value:
        """Over an axis."""
        axis = resolved(axis, x.rank)
        if not log and axis == x.rank - 1:
            return self.program.node("softmax", [x], "f32", x.shape)
        return self.program.node("log_softmax" if log else "softmax_axis", [x], "f32", x.shape, axis=axis)

    # ---- products ----

    def matmul(self, a: Value, b: Value) -> Value:
        """NumPy's matmul. A transpose of the last two axes before it is taken into it."""
        if a.rank == 1 and b.rank == 1:
            return self.reshape(self.matmul(self.reshape(a, [1, -1]), self.reshape(b, [-1, 1])), [])
        if a.rank == 1:
            product_ = self.matmul(self.reshape(a, [1, a.shape[0]]), b)
            return self.reshape(product_, [*product_.shape[:-2], product_.shape[-1]])
        if b.rank == 1:
            product_ = self.matmul(a, self.reshape(b, [b.shape[0], 1]))
            return self.reshape(product_, product_.shape[:-1])
        a, transpose_a = _untransposed(a)
        b, transpose_b = _untransposed(b)
        batch = broadcast(a.shape[:-2], b.shape[:-2])
        if b.rank > 2 or (a.rank == 2 and batch):
            a = self.expand(a, [*batch, *a.shape[-2:]]) if a.rank > 2 else a  # one matrix is there for all
            b = self.expand(b, [*batch, *b.shape[-2:]])
        rows = a.shape[-1 if transpose_a else -2]
        columns = b.shape[-2 if transpose_b else -1]
        if 0 in a.shape and 0 not in (*batch, rows, columns):
            return self.full([*batch, rows, columns], 0.0, "f32")
        return self.program.node("matmul", [a, b], "f32", [*batch, rows, columns], transpose_a=transpose_a,
                                 transpose_b=transpose_b, alpha=1.0)

    def linear(self, x: Value, weight: Value, bias: Value | None) -> Value:
        """x weightᵀ + bias, as PyTorch has it."""
        shape = [*x.shape[:-1], weight.shape[0]]
        flat = self.reshape(x, [1, x.shape[0]]) if x.rank == 1 else x
        if 0 in x.shape and 0 not in shape:
            y = self.full(shape, 0.0, "f32")
        else:
            y = self.program.node("matmul", [flat, weight], "f32", [*flat.shape[:-1], weight.shape[0]], transpose_a=False,
                                  transpose_b=True, alpha=1.0)
        y = self.reshape(y, shape)
        y = y if bias is None else self.add(y, bias)
        norms.note_affine(self, y, weight, bias, lambda scale, term: self.linear(
            x, norms.times(self, weight, scale[:, None]), term))
        return y

    # ---- norms and mixers ----

    def layer_norm(self, x: Value, gamma: Value | None, beta: Value | None, epsilon: float, axis: int = -1) -> Value:
        """Over the axes from that one on, whose extents gamma and beta have."""
        flat = self._one_axis_from(x, axis)
        gamma = self.full([flat.shape[-1]], 1.0, "f32") if gamma is None else self.reshape(gamma, [-1])
        beta = self.full([flat.shape[-1]], 0.0, "f32") if beta is None else self.reshape(beta, [-1])
        return self.reshape(self.program.node("layer_norm", [flat, gamma, beta], "f32", flat.shape, epsilon=epsilon), x.shape)

    def rms_norm(self, x: Value, gain: Value | None, epsilon: float, axis: int = -1) -> Value:
        """Over the axes from that one on, whose extents the gain has."""
        if x.node is not None and x.node.op == "permute" and axis == -1 and x.node.fields["axes"][-1] == x.rank - 1:
            assert x.node.inputs[0] is not None  # rows are where they are: heads may still be moved behind it
            return self.permute(self.rms_norm(x.node.inputs[0], gain, epsilon), x.node.fields["axes"])
        flat = self._one_axis_from(x, axis)
        gain = None if gain is None else self.reshape(gain, [-1])
        return self.reshape(self.program.node("rms_norm", [flat, gain], "f32", flat.shape, epsilon=epsilon), x.shape)

    def _one_axis_from(self, x: Value, axis: int) -> Value:
        axis = resolved(axis, x.rank)
        return self.reshape(x, [*x.shape[:axis], product(x.shape[axis:])])

    def attention(self, q: Value, k: Value, v: Value, *, heads: int, kv_heads: int, causal: bool, scale: float,
                  bias: Value | None) -> Value:
        """Softmax attention of [B, n, heads · d], [B, m, kv_heads · d] twice."""
        return self.program.node("attention", [q, k, v, None, bias], "f32", q.shape, heads=heads,
                                 kv_heads=kv_heads, causal=causal, scale=scale)


def _keeps_order(x: Value, axes: Sequence[int]) -> bool:
    """Whether elements lie as before with these axes of x in that order: only axes of one element move."""
    longer = [axis for axis in axes if x.shape[axis] != 1]
    return longer == sorted(longer)


def _stacked_last(x: Value) -> list[Value] | None:
    """What was stacked along the last axis, if x is that."""
    if x.node is None or x.node.op != "concat" or x.node.fields["axis"] != x.rank - 1:
        return None
    parts = [part for part in x.node.inputs if part is not None and part.shape[-1] == 1]
    return parts if len(parts) == len(x.node.inputs) else None


def _whole_of(parts: Sequence[Value], axis: int) -> Value | None:
    """The tensor of which the parts are all slices along an axis, in order."""
    nodes = [part.node for part in parts]
    source = nodes[0].inputs[0] if nodes[0] is not None and nodes[0].op == "slice" else None
    at: Extent = 0
    for node in nodes:
        if node is None or node.op != "slice" or node.inputs[0] is not source or node.fields["axis"] != axis or (
                node.fields["start"] != at or node.fields["step"] != 1):
            return None
        at = at + node.fields["count"]
    return source if source is not None and source.shape[axis] == at else None


def within_bits(b: Builder, x: Value, bits: int, sign: int) -> Value:
    """Whole numbers as a type of fewer bits has them: `bits` are its bits, `sign` is the one of the sign, or 0."""
    if x.array is not None:
        low_ = x.array.astype(np.int64) & bits
        return b.constant((low_ ^ sign) - sign, "i32")
    low = b.binary("bitwise_and", x, b.constant(bits, "i32"))
    if not sign:
        return low
    return b.subtract(b.binary("bitwise_xor", low, b.constant(sign, "i32")), b.constant(sign, "i32"))


def broadcast(a: Sequence[Extent], b: Sequence[Extent]) -> list[Extent]:
    """The shape of two that are broadcast together."""
    rank = max(len(a), len(b))
    pairs = zip([1] * (rank - len(a)) + list(a), [1] * (rank - len(b)) + list(b))
    return [_common(one, other, a, b) for one, other in pairs]


def _common(one: Extent, other: Extent, a: Sequence[Extent], b: Sequence[Extent]) -> Extent:
    if one == other or other == 1:
        return one
    if one == 1:
        return other
    if isinstance(one, int) and isinstance(other, int):
        raise errors.ShapeMismatch(f"shapes {list(a)} and {list(b)} do not broadcast")
    return other if isinstance(other, int) else one  # they are equal, or the run fails


def _whole_shape(x: Value, shape: list[Extent]) -> list[Extent]:
    """The shape without -1."""
    if -1 not in shape:
        return shape
    at = shape.index(-1)
    known = product(extent for index, extent in enumerate(shape) if index != at)
    shape[at] = product(x.shape) // known
    return shape


def _is_scalar(x: Value) -> float | None:
    """The number of a constant of one element."""
    return float(x.array.reshape(())) if x.array is not None and x.array.size == 1 else None


def _affine(kind: str, a: Value, b: Value, shape: list[Extent]) -> tuple[Value, float, float] | None:
    """The same as a scale and an offset, exactly, where one operand is a number."""
    if a.dtype != "f32":
        plus = kind == "add" or kind == "subtract"
        return (a, 1.0, 0.0) if plus and _is_scalar(b) == 0 and a.shape == tuple(shape) else None
    for x, other, first in ((a, b, True), (b, a, False)):
        number = _is_scalar(other)
        if number is None or not math.isfinite(number) or x.shape != tuple(shape) or x.array is not None:
            continue
        if kind == "add":
            return x, 1.0, number
        if kind == "subtract":
            return (x, 1.0, -number) if first else (x, -1.0, number)
        if kind == "multiply":
            return x, number, 0.0
        if kind == "divide" and first and number != 0 and math.frexp(number)[0] in (0.5, -0.5):
            return x, 1.0 / number, 0.0
    return None


def _is_count(x: Value) -> bool:
    """Whether it is made of an arange from 0 on."""
    while x.node is not None and x.node.op in ("reshape", "permute", "expand"):
        assert x.node.inputs[0] is not None
        x = x.node.inputs[0]
    return x.node is not None and x.node.op == "arange" and x.node.fields["start"] == 0 and x.node.fields["step"] == 1


def _is_small_whole(x: Value) -> bool:
    """Whether it is f32 that a clamp keeps within 2^24, of whole numbers."""
    node = x.node
    if node is None or (node.op, node.fields.get("kind")) != ("unary", "clamp"):
        return False
    bounds = node.fields["alpha"], node.fields["beta"]
    return all(bound.is_integer() and abs(bound) <= 2**24 for bound in bounds) and _is_whole(node.inputs[0])


def _is_whole(x: Value | None) -> bool:
    node = x.node if x is not None else None
    if x is None or node is None:
        return x is not None and x.array is not None and bool((x.array == np.trunc(x.array)).all())
    if node.op == "affine":
        return node.fields["scale"] == 1.0 and node.fields["offset"].is_integer() and _is_whole(node.inputs[0])
    if node.op == "unary":
        return node.fields["kind"] in ("round", "floor", "ceil", "trunc") or (
            node.fields["kind"] == "clamp" and _is_small_whole(x))
    return node.op == "convert" or node.op == "binary" and node.fields["kind"] in ("add", "subtract") and all(
        map(_is_whole, node.inputs))


def _untransposed(x: Value) -> tuple[Value, bool]:
    """What the last two axes were swapped of, if they were."""
    node = x.node
    last = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    if node is not None and node.op == "permute" and node.fields["axes"] == last:
        assert node.inputs[0] is not None
        return node.inputs[0], True
    return x, False

