# SPDX-License-Identifier: MIT
"""Convolutions and pooling of programs, over any number of axes, from slices and products."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence

from ._program import Value
from ._program_ops import Builder
from ._sizes import Extent, divide, product


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


def conv(b: Builder, x: Value, weight: Value, bias: Value | None, windows: Windows, groups: int) -> Value:
    """x [B, C, …], weight [O, C / groups, …], bias [O]: [B, O, …]."""
    axes = len(windows.kernel)
    last = b.permute(x, [0, *range(2, axes + 2), 1])
    outputs, inner = int(str(weight.shape[0])), int(str(weight.shape[1]))
    if inner == 1 and outputs == groups:
        y = _depthwise(b, last, weight, windows)
    else:
        y = _by_products(b, last, weight, windows, groups)
    if bias is not None:
        y = b.add(y, bias)
    return b.permute(y, [0, axes + 1, *range(1, axes + 1)])


def _depthwise(b: Builder, x: Value, weight: Value, windows: Windows) -> Value:
    taps = b.reshape(weight, [weight.shape[0], -1])
    terms = (b.multiply(part, b.select(taps, 1, at)) for at, part in enumerate(windows.taps(b, x, 1, 0.0)))
    return functools.reduce(b.add, terms)


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


def pool(b: Builder, kind: str, x: Value, windows: Windows, count_pads: bool) -> Value:
    """The "max" or "average" of each window of [B, C, …]."""
    if kind == "max":
        return _over_taps(b, "maximum", x, windows, -math.inf)
    total = _over_taps(b, "add", x, windows, 0.0)
    if count_pads or not any(windows.pads):
        return b.divide(total, b.constant(float(math.prod(windows.kernel)), "f32"))
    return b.divide(total, _over_taps(b, "add", b.full([1, 1, *x.shape[2:]], 1.0, "f32"), windows, 0.0))


def _over_taps(b: Builder, word: str, x: Value, windows: Windows, fill: float) -> Value:
    return functools.reduce(lambda one, other: b.binary(word, one, other), windows.taps(b, x, 2, fill))
