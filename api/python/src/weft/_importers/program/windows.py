# SPDX-License-Identifier: MIT
"""Convolutions and pooling of programs: nodes over one or two axes, over more from slices and products."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ... import errors
from .norms import note_affine, times
from .program import Value
from .sizes import Extent, divide, product

if TYPE_CHECKING:
    from .ops import Builder


@dataclasses.dataclass(frozen=True)
class Windows:
    """How a window goes over the axes behind the first two of x, [B, C, …]. `pads`: all befores, then all afters."""

    kernel: Sequence[int]
    strides: Sequence[int]
    pads: Sequence[int]
    dilations: Sequence[int]

    def counts(self, extents: Sequence[Extent]) -> list[Extent]:
        """How many places it has along each axis."""
        axes = len(self.kernel)
        return [divide(extent + self.pads[at] + self.pads[axes + at] - self.dilations[at] * (self.kernel[at] - 1) - 1,
                       self.strides[at]) + 1 for at, extent in enumerate(extents)]

    def fields(self) -> dict[str, list[int]]:
        """As the nodes conv and pool have them, of one or two axes."""
        axes = len(self.kernel)
        return {"strides": _pair(self.strides), "dilations": _pair(self.dilations), "before": _pair(self.pads[:axes], 0),
                "after": _pair(self.pads[axes:], 0)}

    def taps(self, b: Builder, x: Value, first: int, fill: float) -> Iterator[Value]:
        """For each element of a window, what x has there at all places; the window's axes begin at `first`."""
        axes = len(self.kernel)
        counts = self.counts(x.shape[first:first + axes])
        for at in range(axes):
            x = b.pad(x, first + at, self.pads[at], self.pads[axes + at], fill)
        for tap in itertools.product(*map(range, self.kernel)):
            part = x
            for at in range(axes):
                part = b.slice(part, first + at, tap[at] * self.dilations[at], counts[at], self.strides[at])
            yield part


def _pair(numbers: Sequence[int], missing: int = 1) -> list[int]:
    return [*numbers, missing][:2]


def conv(b: Builder, x: Value, weight: Value, bias: Value | None, windows: Windows, groups: int) -> Value:
    """x [B, C, …], weight [O, C / groups, …], bias [O]: [B, O, …]."""
    y = _conv(b, x, weight, bias, windows, groups)
    note_affine(b, y, weight, bias, lambda scale, term: conv(
        b, x, times(b, weight, scale.reshape(-1, *[1] * (weight.rank - 1))), term, windows, groups))
    return y


def _conv(b: Builder, x: Value, weight: Value, bias: Value | None, windows: Windows, groups: int) -> Value:
    axes = len(windows.kernel)
    if axes > 2:
        return _of_products(b, x, weight, bias, windows, groups)
    counts = windows.counts(x.shape[2:])
    if (axes, weight.shape[0], weight.shape[1]) == (1, groups, 1) and windows.strides[0] == windows.dilations[0] == 1:
        short = _short_filter(b, x, weight, bias, windows)
        if short is not None:
            return short
    return b.program.node("conv", [x, weight, bias], "f32", [x.shape[0], weight.shape[0], *counts], groups=groups,
                          **windows.fields())


def _short_filter(b: Builder, x: Value, weight: Value, bias: Value | None, windows: Windows) -> Value | None:
    """The node conv1d, of a filter for each channel: causal, in the middle, or causal of what zeros are put behind."""
    taps, (before, after) = windows.kernel[0], windows.pads
    middle = (before, after) == ((taps - 1) // 2, taps - 1 - (taps - 1) // 2)
    if not middle and (before != taps - 1 or after > before):
        return None
    rows = b.swap(b.pad(x, 2, 0, 0 if middle else after), 1, 2)
    filters = b.reshape(weight, [weight.shape[0], taps])
    y = b.program.node("conv1d", [rows, filters, bias], "f32", rows.shape, causal=not middle or taps == 1)
    return b.swap(y, 1, 2)


def without_padding(b: Builder, x: Value, axis: int, count: Extent) -> Value | None:
    """The first results of a causal conv1d: zeros behind what they read need not be there."""
    swapped = x.node if x.node is not None and x.node.op == "permute" and x.node.fields["axes"] == [0, 2, 1] else None
    source = swapped.inputs[0] if swapped is not None else None
    filter_ = source.node if source is not None and source.node is not None and source.node.op == "conv1d" else None
    if filter_ is None or axis != 2 or not filter_.fields["causal"]:
        return None
    rows = filter_.inputs[0]
    unswapped = b.swap(rows, 1, 2) if rows is not None else None
    padded = unswapped.node if unswapped is not None and unswapped.node is not None and unswapped.node.op == "pad" else None
    whole = padded.inputs[0] if padded is not None else None
    if padded is None or whole is None or padded.fields["axis"] != 2 or padded.fields["before"] != 0 or whole.shape[2] != count:
        return None
    rows = b.swap(whole, 1, 2)
    y = b.program.node("conv1d", [rows, *filter_.inputs[1:]], "f32", rows.shape, causal=True)
    return b.swap(y, 1, 2)


def _of_products(b: Builder, x: Value, weight: Value, bias: Value | None, windows: Windows, groups: int) -> Value:
    """Over more than two axes: from slices, and a product."""
    axes = len(windows.kernel)
    last = b.permute(x, [0, *range(2, axes + 2), 1])
    y = _by_products(b, last, weight, windows, groups)
    if bias is not None:
        y = b.add(y, bias)
    return b.permute(y, [0, axes + 1, *range(1, axes + 1)])


def _by_products(b: Builder, x: Value, weight: Value, windows: Windows, groups: int) -> Value:
    """The elements of each window side by side, then one product."""
    outputs, inner, count = int(str(weight.shape[0])), int(str(weight.shape[1])), math.prod(windows.kernel)
    patches = _patches(b, x, windows)
    places = patches.shape[:-1]
    matrix = b.permute(b.reshape(weight, [groups, outputs // groups, inner, count]), [0, 1, 3, 2])
    if groups == 1:
        return b.linear(patches, b.reshape(matrix, [outputs, count * inner]), None)
    rows = b.reshape(patches, [product(places), count, groups, inner])
    rows = b.reshape(b.permute(rows, [2, 0, 1, 3]), [groups, product(places), count * inner])
    y = b.matmul(rows, b.swap(b.reshape(matrix, [groups, outputs // groups, count * inner]), 1, 2))
    return b.reshape(b.permute(y, [1, 0, 2]), [*places, outputs])


def _patches(b: Builder, x: Value, windows: Windows) -> Value:
    """[B, places …, taps · C] of [B, …, C]."""
    axes = len(windows.kernel)
    if list(windows.kernel) == list(windows.strides) and not any(windows.pads) and set(windows.dilations) == {1} and all(
            isinstance(extent, int) and extent % size == 0 for extent, size in zip(x.shape[1:], windows.kernel)):
        counts = windows.counts(x.shape[1:-1])
        split = b.reshape(x, [x.shape[0], *itertools.chain(*zip(counts, windows.kernel)), x.shape[-1]])
        order = [0, *range(1, 2 * axes, 2), *range(2, 2 * axes + 1, 2), 2 * axes + 1]
        return b.reshape(b.permute(split, order), [x.shape[0], *counts, math.prod(windows.kernel) * x.shape[-1]])
    return b.concat(list(windows.taps(b, x, 1, 0.0)), -1)


def pool(b: Builder, kind: str, x: Value, windows: Windows, count_pads: bool, partial: Sequence[Extent] | None = None) -> Value:
    """The "max" or "average" of each window of [B, C, …]. `partial`: numbers of windows, where the last may end outside."""
    axes = len(windows.kernel)
    if x.dtype == "f32":
        if axes > 2:
            return _pool_by_pairs(b, kind, x, windows, count_pads, partial)
        windows = windows if partial is None else _within(windows, x.shape[2:])
        counts = windows.counts(x.shape[2:]) if partial is None else partial
        return b.program.node("pool", [x], "f32", [*x.shape[:2], *counts], kind=kind, sizes=_pair(windows.kernel),
                              counts_padding=count_pads, partial=partial is not None, **windows.fields())
    if partial is not None:
        raise errors.Unsupported("it rounds sizes of whole numbers up")
    if kind == "max":
        return _over_taps(b, "maximum", x, windows, -math.inf)
    total = _over_taps(b, "add", x, windows, 0.0)
    if count_pads or not any(windows.pads):
        return b.divide(total, b.constant(float(math.prod(windows.kernel)), "f32"))
    return b.divide(total, _over_taps(b, "add", b.full([1, 1, *x.shape[2:]], 1.0, "f32"), windows, 0.0))


def _within(windows: Windows, extents: Sequence[Extent]) -> Windows:
    """Windows that may end outside, no longer than what there is."""
    axes = len(windows.kernel)
    most = [extent + windows.pads[at] + windows.pads[axes + at] for at, extent in enumerate(extents)]
    kernel = [min(size, whole) if isinstance(whole, int) and windows.dilations[at] == 1 else size
              for at, (size, whole) in enumerate(zip(windows.kernel, most))]
    return dataclasses.replace(windows, kernel=kernel)


def _pool_by_pairs(b: Builder, kind: str, x: Value, windows: Windows, count_pads: bool,
                   partial: Sequence[Extent] | None) -> Value:
    """Over two axes after the other: what lies in a window is a product of ranges, and so is how much of it is padding."""
    axes = len(windows.kernel)
    for first in range(0, axes, 2):
        chosen = list(range(first, min(first + 2, axes)))
        order = [at for at in range(x.rank) if at - 2 not in chosen] + [2 + at for at in chosen]
        moved = b.permute(x, order)
        part = Windows([windows.kernel[at] for at in chosen], [windows.strides[at] for at in chosen],
                       [windows.pads[at + side] for side in (0, axes) for at in chosen],
                       [windows.dilations[at] for at in chosen])
        rest = moved.shape[:x.rank - len(chosen)]
        rows = b.reshape(moved, [rest[0], product(rest[1:]), *moved.shape[len(rest):]])
        found = pool(b, kind, rows, part, count_pads, None if partial is None else [partial[at] for at in chosen])
        x = b.permute(b.reshape(found, [*rest, *found.shape[2:]]), [order.index(at) for at in range(x.rank)])
    return x


def _over_taps(b: Builder, word: str, x: Value, windows: Windows, fill: float) -> Value:
    return functools.reduce(lambda one, other: b.binary(word, one, other), windows.taps(b, x, 2, fill))
