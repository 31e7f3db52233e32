# SPDX-License-Identifier: MIT
"""Rows for PyTorch's ops that move elements or make constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from ..program import spectra
from ..program.padding import pad_by_own
from ..program.program import Value, resolved
from ..program.sizes import Extent, Size, divide, is_below_zero, larger, smaller
from .reader import Pair, Reader, WholePair, pair_of, row
from .types import Refused, number_of

_END = 2**62


def _each(r: Reader, x: Any, do: Any) -> Any:
    """Of both parts, where it is complex."""
    return pair_of(do(x.real), do(x.imaginary)) if isinstance(x, Pair) else do(r.value(x))


@row("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default", "aten.view_copy.default", moves=True)
def _view(r: Reader, x: Any, shape: Any) -> Any:
    return _each(r, x, lambda part: r.build.reshape(part, r.shape))


@row("aten.unsqueeze.default", "aten.squeeze.dim", "aten.squeeze.dims", "aten.squeeze.default", "aten.flatten.using_ints",
     "aten.unflatten.int", "aten.view_as.default", "aten.reshape_as.default", "aten.atleast_2d.default", moves=True)
def _reshaped(r: Reader, x: Any, *_: Any, **__: Any) -> Any:
    return _each(r, x, lambda part: r.build.reshape(part, r.shape))


@row("aten.transpose.int", "aten.swapaxes.default", "aten.swapdims.default", moves=True)
def _transpose(r: Reader, x: Any, a: int, b: int) -> Any:
    return _each(r, x, lambda part: r.build.swap(part, a, b))


@row("aten.t.default", "aten.mT.default", "aten.numpy_T.default", moves=True)
def _t(r: Reader, x: Any) -> Any:
    return _each(r, x, lambda part: r.build.swap(part, -1, -2) if part.rank > 1 else part)


@row("aten.permute.default", moves=True)
def _permute(r: Reader, x: Any, axes: list[int]) -> Any:
    return _each(r, x, lambda part: r.build.permute(part, axes))


@row("aten.movedim.intlist", "aten.movedim.int", moves=True)
def _movedim(r: Reader, x: Any, source: Any, target: Any) -> Any:
    rank = len(x.shape)
    come = [resolved(axis, rank) for axis in (source if isinstance(source, (list, tuple)) else [source])]
    go = [resolved(axis, rank) for axis in (target if isinstance(target, (list, tuple)) else [target])]
    axes: list[int] = [-1] * rank
    for a, b in zip(come, go):
        axes[b] = a
    rest = iter([axis for axis in range(rank) if axis not in come])
    axes = [next(rest) if axis < 0 else axis for axis in axes]
    return _each(r, x, lambda part: r.build.permute(part, axes))


@row("aten.clone.default", "aten.contiguous.default", "aten.detach.default", "aten.alias.default",
     "aten.lift_fresh_copy.default", "aten.detach_.default", "aten.dropout.default", "aten.feature_dropout.default",
     "aten.alpha_dropout.default", "aten.feature_alpha_dropout.default", moves=True)
def _same(r: Reader, x: Any, *_: Any, **__: Any) -> Any:
    """Dropout that draws numbers does not come here."""
    return x if isinstance(x, Pair) else r.value(x)


@row("aten.native_dropout.default", moves=True)
def _native_dropout(r: Reader, x: Any, *_: Any) -> list[Value]:
    value = r.value(x)
    return [value, r.build.full(value.shape, 1, "i32")]


@row("aten._to_copy.default", "aten.to.dtype", "aten.to.dtype_layout", "aten.type_as.default", "aten.to.device",
     "aten.float.default")
def _to(r: Reader, x: Any, *_: Any, **__: Any) -> Any:
    if r.dtype.is_complex:
        return x if isinstance(x, Pair) else complex_of(r, x)
    if isinstance(x, Pair):
        return x.real
    value, source = r.value(x), r.node.args[0]
    if isinstance(source, Node) and source.meta["val"].dtype == r.dtype:
        return value
    if r.dtype == torch.bool:
        return truth(r, value)
    value = r.build.convert(value, r.kind)
    return r.build.rounded_to_half(value) if r.dtype == torch.float16 else value


@row("aten.copy.default")
def _copy(r: Reader, x: Any, source: Any, *_: Any) -> Any:
    """The numbers of another tensor, in the place and type of x."""
    if isinstance(source, Pair):
        return source if r.dtype.is_complex else source.real
    return _each(r, _to(r, source), lambda part: r.build.expand(part, r.shape))


def truth(r: Reader, x: Value) -> Value:
    """0 and 1 of any number."""
    return r.build.binary("not_equal", x, r.build.constant(0, x.dtype))


def complex_of(r: Reader, x: Any) -> Pair:
    """A complex tensor of what may be real."""
    if isinstance(x, Pair):
        return x
    if isinstance(x, torch.Tensor) and x.is_complex():
        x = x.resolve_conj()
        return pair_of(r.value(x.real.contiguous()), r.value(x.imag.contiguous()))
    if isinstance(x, complex):
        return pair_of(r.value(x.real, "f32"), r.value(x.imag, "f32"))
    value = r.value(x, "f32")
    return Pair(lambda: value, lambda: r.build.full(value.shape, 0.0, "f32"), value.shape)


@row("aten.slice.Tensor", moves=True)
def _slice(r: Reader, x: Any, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    rank = len(x.shape)
    axis = resolved(axis, rank)
    whole = x.shape[axis] if not isinstance(x, torch.Tensor) else int(x.shape[axis])
    first = _bound(0 if start is None else r.extent(start), whole)
    last = _bound(_END if end is None else r.extent(end), whole)
    count = divide(larger(last - first, 0) + step - 1, step)
    convolved = r.convolutions.get(id(x))
    if convolved is not None and axis == rank - 1 and first == 0 and step == 1:
        found = _causal_convolution(r, *convolved, count)
        if found is not None:
            return found
    if isinstance(x, WholePair):
        shape = [*x.shape[:axis], count, *x.shape[axis + 1:]]
        return WholePair(r.build, lambda: r.build.slice(x.whole(r.build), axis, first, count, step), shape)
    return _each(r, x, lambda part: r.build.slice(part, axis, first, count, step))


def _causal_convolution(r: Reader, one: Value, other: Value, length: Extent, count: Extent) -> Value | None:
    """The first elements of a product of spectra, by a Toeplitz matrix: of [B, d, n] and [d, n]."""
    x, kernel = (one, other) if one.rank == 3 else (other, one)
    if kernel.rank == 3 and kernel.shape[0] == 1:
        kernel = r.build.reshape(kernel, kernel.shape[1:])
    if x.rank != 3 or kernel.rank != 2 or x.shape[1] != kernel.shape[0]:
        return None
    lags = kernel.shape[1]
    if count != x.shape[2] or lags != count or (length - 2 * count + 1 < 0):
        return None
    rows = r.build.swap(x, 1, 2)
    y = r.program.node("toeplitz", [rows, r.build.swap(kernel, 0, 1)], "f32", rows.shape, causal=True)
    return r.build.swap(y, 1, 2)


def _bound(at: Extent, whole: Extent) -> Extent:
    """An end of a slice, from 0 to the whole."""
    if isinstance(at, int) and at >= _END:
        return whole
    if is_below_zero(at):
        return larger(whole + at, 0)
    return smaller(at, whole)


@row("aten.select.int", moves=True)
def _select(r: Reader, x: Any, axis: int, index: Any) -> Any:
    if isinstance(x, tuple):  # view_as_real
        if resolved(axis, len(r.shape) + 1) == len(r.shape):
            return x[0].real if index in (0, -2) else x[0].imaginary
        x = r.value(x)
    return _each(r, x, lambda part: r.build.select(part, axis, r.extent(index)))


@row("aten.view_as_real.default")
def _view_as_real(r: Reader, x: Pair) -> Any:
    return (complex_of(r, x),)


@row("aten.view_as_complex.default")
def _view_as_complex(r: Reader, x: Any) -> Any:
    value = r.value(x)
    return WholePair(r.build, lambda: value, value.shape[:-1])


@row("aten.complex.default")
def _complex(r: Reader, real: Any, imaginary: Any) -> Pair:
    return pair_of(r.value(real), r.value(imaginary))


@row("aten.real.default")
def _real(r: Reader, x: Any) -> Value:
    return complex_of(r, x).real


@row("aten.imag.default")
def _imaginary(r: Reader, x: Any) -> Value:
    return complex_of(r, x).imaginary


def _joined(r: Reader, parts: Sequence[Any], join: Callable[[list[Value]], Value]) -> Any:
    """Of both parts, where the result is complex."""
    if r.dtype.is_complex:
        pairs = [complex_of(r, part) for part in parts]
        return pair_of(join([pair.real for pair in pairs]), join([pair.imaginary for pair in pairs]))
    return join([r.value(part, r.kind) for part in parts])


@row("aten.cat.default", "aten.concat.default", moves=True)
def _cat(r: Reader, parts: list[Any], axis: int = 0) -> Any:
    return _joined(r, parts, lambda values: r.build.concat(values, resolved(axis, len(r.shape))))


@row("aten.stack.default", moves=True)
def _stack(r: Reader, parts: list[Any], axis: int = 0) -> Any:
    axis = resolved(axis, len(r.shape))
    return _joined(r, parts, lambda values: r.build.concat(
        [r.build.reshape(value, [*value.shape[:axis], 1, *value.shape[axis:]]) for value in values], axis))


@row("aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default", "aten.unsafe_split.Tensor", "aten.split.sizes",
     "aten.tensor_split.sections", "aten.unsafe_chunk.default", moves=True)
def _split(r: Reader, x: Any, _: Any, axis: int = 0) -> list[Any]:
    axis = resolved(axis, len(x.shape))
    counts = [r.extent(part.shape[axis]) for part in r.node.meta["val"]]
    found, start = [], 0
    for count in counts:
        found.append(_each(r, x, lambda part, start=start, count=count: r.build.slice(part, axis, start, count)))
        start = start + count  # type: ignore[assignment]
    return found


@row("aten.unbind.int", moves=True)
def _unbind(r: Reader, x: Any, axis: int = 0) -> list[Any]:
    return [_each(r, x, lambda part, at=at: r.build.select(part, axis, at)) for at in range(len(r.node.meta["val"]))]


@row("aten.expand.default", "aten.expand_as.default", "aten.broadcast_to.default", moves=True)
def _expand(r: Reader, x: Any, *_: Any, **__: Any) -> Any:
    return _each(r, x, lambda part: r.build.expand(part, r.shape))


@row("aten.repeat.default", "aten.tile.default", moves=True)
def _repeat(r: Reader, x: Any, times: list[Any]) -> Value:
    value = r.value(x)
    value = r.build.reshape(value, [1] * (len(times) - value.rank) + list(value.shape))
    split, shape = [], []
    for extent, count in zip(value.shape, times):
        split += [1, extent]
        shape += [r.extent(count), extent]
    return r.build.reshape(r.build.expand(r.build.reshape(value, split), shape), r.shape)


@row("aten.repeat_interleave.self_int", moves=True)
def _repeat_interleave(r: Reader, x: Any, times: Any, axis: int | None = None, **_: Any) -> Value:
    value = r.value(x)
    axis = 0 if axis is None else resolved(axis, value.rank)
    value = value if len(r.shape) == value.rank else r.build.reshape(value, [-1])
    before, after = list(value.shape[:axis + 1]), list(value.shape[axis + 1:])
    wide = r.build.expand(r.build.reshape(value, [*before, 1, *after]), [*before, r.extent(times), *after])
    return r.build.reshape(wide, r.shape)


@row("aten.constant_pad_nd.default", "aten.pad.default", moves=True)
def _pad(r: Reader, x: Any, pads: list[Any], mode: Any = "constant", value: Any = None) -> Any:
    if isinstance(mode, (int, float)):
        mode, value = "constant", mode
    if isinstance(x, Pair) and mode == "constant" and not value:
        return _each(r, x, lambda part: _padded(r, part, pads, 0))
    found = r.value(x)
    if mode != "constant":
        return _padded_by_own(r, found, pads, mode)
    return _padded(r, found, pads, number_of(value or 0, r.dtype))


def _padded(r: Reader, x: Value, pads: Sequence[Any], value: float) -> Value:
    for at in range(len(pads) // 2):
        x = r.build.pad(x, -1 - at, r.extent(pads[2 * at]), r.extent(pads[2 * at + 1]), value)
    return x


_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _padded_by_own(r: Reader, x: Value, pads: Sequence[Any], mode: str) -> Value:
    if mode not in _MODES:
        raise Refused(f"its mode is {mode}")
    for at in range(len(pads) // 2):
        x = pad_by_own(r.build, x, -1 - at, r.extent(pads[2 * at]), r.extent(pads[2 * at + 1]), _MODES[mode])
    return x


for _word, _mode in {"reflection": "reflect", "replication": "replicate"}.items():
    for _axes in (1, 2, 3):
        row(f"aten.{_word}_pad{_axes}d.default", moves=True)(
            lambda r, x, pads, mode=_mode: _padded_by_own(r, r.value(x), pads, mode))


@row("aten.pixel_shuffle.default", "aten.pixel_unshuffle.default", moves=True)
def _pixel_shuffle(r: Reader, x: Any, factor: int) -> Value:
    b, value = r.build, r.value(x)
    *lead, channels, rows, columns = value.shape if "unshuffle" not in str(r.node.target) else r.shape
    inner, at = channels // (factor * factor), len(lead)
    if "unshuffle" in str(r.node.target):
        split = b.reshape(value, [*lead, inner, rows, factor, columns, factor])
        order = [*range(at + 1), at + 2, at + 4, at + 1, at + 3]
    else:
        split = b.reshape(value, [*lead, inner, factor, factor, rows, columns])
        order = [*range(at + 1), at + 3, at + 1, at + 4, at + 2]
    return b.reshape(b.permute(split, order), r.shape)


@row("aten.channel_shuffle.default", "aten.native_channel_shuffle.default", moves=True)
def _channel_shuffle(r: Reader, x: Any, groups: int) -> Value:
    b, value = r.build, r.value(x)
    rest = list(value.shape[2:])
    split = b.reshape(value, [value.shape[0], groups, value.shape[1] // groups, *rest])
    return b.reshape(b.swap(split, 1, 2), r.shape)


@row("aten.meshgrid.default", "aten.meshgrid.indexing", moves=True)
def _meshgrid(r: Reader, parts: list[Any], indexing: str = "ij", **_: Any) -> list[Value]:
    b, values = r.build, [r.value(part) for part in parts]
    shape = [extent for value in values for extent in (value.shape or [1])]
    found = [b.expand(b.reshape(value, [-1 if at == axis else 1 for at in range(len(values))]), shape)
             for axis, value in enumerate(values)]
    return [b.swap(value, 0, 1) for value in found] if indexing == "xy" and len(found) > 1 else found


@row("aten.flip.default", moves=True)
def _flip(r: Reader, x: Any, axes: list[int]) -> Any:
    def flipped(value: Value) -> Value:
        for axis in axes:
            extent = value.shape[resolved(axis, value.rank)]
            value = r.build.slice(value, axis, extent - 1, extent, -1)
        return value

    return _each(r, x, flipped)


def _rolled(r: Reader, value: Value, shift: Any, axis: int) -> Value:
    extent, b = value.shape[axis], r.build
    if not isinstance(extent, int) or not isinstance(shift, int):  # of some sizes one part has nothing
        return b.take(value, b.binary("modulo", b.arange(extent, r.extent(-shift)), b.size(extent)), axis)
    cut = -shift % extent
    if cut and axis < value.rank - 1:  # whole slices: each is copied once
        return b.take(value, b.constant((np.arange(extent) + cut) % extent, "i32"), axis)
    return b.concat([b.slice(value, axis, cut, extent - cut), b.slice(value, axis, 0, cut)], axis) if cut else value


@row("aten.roll.default", moves=True)
def _roll(r: Reader, x: Any, shifts: list[Any], axes: Sequence[int] = ()) -> Any:
    def rolled(value: Value) -> Value:
        value = value if axes else r.build.reshape(value, [-1])  # as one row
        for shift, axis in zip(shifts, axes or [0]):
            value = _rolled(r, value, shift, resolved(axis, value.rank))
        return r.build.reshape(value, r.shape)

    return _each(r, x, rolled)


@row("aten.diagonal.default", moves=True)
def _diagonal(r: Reader, x: Any, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    value, b = r.value(x), r.build
    first, second = resolved(first, value.rank), resolved(second, value.rank)
    rest = [axis for axis in range(value.rank) if axis not in (first, second)]
    rows, columns = value.shape[first], value.shape[second]
    flat = b.reshape(b.permute(value, [*rest, first, second]), [*(value.shape[axis] for axis in rest), rows * columns])
    if not isinstance(columns, int):
        raise Refused("the size of its second axis is no number")
    return b.slice(flat, -1, offset if offset >= 0 else -offset * columns, r.shape[-1], columns + 1)


@row("aten.unfold.default", moves=True)
def _unfold(r: Reader, x: Any, axis: int, size: Any, step: int) -> Value:
    value, b = r.value(x), r.build
    axis = resolved(axis, value.rank)
    return b.swap(spectra.frames(b, b.swap(value, axis, -1), size, step), axis, -2)


# ---- by indices ----

@row("aten.embedding.default", moves=True)
def _embedding(r: Reader, table: Any, tokens: Any, *_: Any, **__: Any) -> Value:
    indices = r.value(tokens, "i32")
    if indices.rank == 2:
        return r.program.node("embedding", [indices, r.value(table)], "f32", r.shape)
    return r.build.take(r.value(table), indices, 0)


@row("aten.index_select.default", moves=True)
def _index_select(r: Reader, x: Any, axis: int, indices: Any) -> Value:
    value = r.value(x)
    return r.build.take(value, r.build.from_start(r.value(indices), value.shape[axis]), axis)


@row("aten.gather.default", "aten.take_along_dim.default", moves=True)
def _gather(r: Reader, x: Any, axis: int, indices: Any, **_: Any) -> Value:
    return r.build.take_along(r.value(x), r.value(indices), axis)


@row("aten.index.Tensor", moves=True)
def _index(r: Reader, x: Any, indices: list[Any]) -> Value:
    value = r.value(x)
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    if axes != list(range(axes[0], axes[-1] + 1)):
        raise Refused("its indices are of axes with others between them")
    if any(getattr(index, "dtype", None) == torch.bool for index in indices):
        raise Refused("an index is a mask, whose result's size depends on the inputs")
    linear: Value | None = None
    for axis in axes:
        extent = value.shape[axis]
        index = r.build.from_start(r.value(indices[axis], "i32"), extent)
        linear = index if linear is None else r.build.add(r.build.multiply(linear, r.value(extent, "i32")), index)
    assert linear is not None
    first = axes[0]
    flat = r.build.reshape(value, [*value.shape[:first], -1, *value.shape[axes[-1] + 1:]])
    return r.build.take(flat, linear, first)


# ---- constants ----

@row("aten.arange.default", "aten.arange.start", "aten.arange.start_step")
def _arange(r: Reader, *ends: Any, **_: Any) -> Value:
    start, step = (ends[0] if len(ends) > 1 else 0), (ends[2] if len(ends) > 2 else 1)
    if isinstance(start, float) or isinstance(step, float):
        raise Refused("it counts in fractions")
    value = r.build.arange(r.shape[0], r.extent(start), r.extent(step))
    return r.build.convert(value, r.kind)


@row("aten.full.default", "aten.new_full.default", "aten.full_like.default", moves=True)
def _full(r: Reader, *given: Any, **kwargs: Any) -> Value:
    number = kwargs.get("fill_value", given[-1])
    if isinstance(number, (Size, Value, torch.Tensor)):
        return r.build.expand(r.value(number, r.kind), r.shape)
    return r.build.full(r.shape, number_of(number, r.dtype), r.kind)


@row("aten.ones.default", "aten.new_ones.default", "aten.ones_like.default", moves=True)
def _ones(r: Reader, *_: Any, **__: Any) -> Value:
    return r.build.full(r.shape, 1, r.kind)


@row("aten.zeros.default", "aten.new_zeros.default", "aten.zeros_like.default", "aten.empty.memory_format",
     "aten.empty_like.default", "aten.empty_permuted.default", "aten.empty_strided.default", "aten.new_empty.default",
     "aten.new_empty_strided.default", moves=True)
def _zeros(r: Reader, *_: Any, **__: Any) -> Any:
    if r.dtype.is_complex:
        return complex_of(r, r.build.full(r.shape, 0.0, "f32"))
    return r.build.full(r.shape, 0, r.kind)


@row("aten.scalar_tensor.default", moves=True)
def _scalar_tensor(r: Reader, number: Any, **_: Any) -> Value:
    return r.operand(number)


@row("aten.tril.default", "aten.triu.default", moves=True)
def _triangle(r: Reader, x: Any, diagonal: int = 0) -> Value:
    value = r.value(x)
    rows, columns = (r.build.arange(extent) for extent in value.shape[-2:])
    row_at = r.build.add(r.build.reshape(rows, [-1, 1]), r.build.constant(diagonal, "i32"))
    lower = "tril" in str(r.node.target)
    keeps = r.build.binary("less_equal" if lower else "greater_equal", r.build.reshape(columns, [1, -1]), row_at)
    return r.build.where(keeps, value, r.build.constant(0, value.dtype))


@row("aten.sym_size.int")
def _sym_size(r: Reader, x: Any, axis: int) -> Extent:
    return r.extent(r.node.meta["val"])


@row("sym_max", "sym_min", "sym_int")
def _sym(r: Reader, *given: Any) -> Extent:
    return r.extent(r.node.meta["val"])

