# SPDX-License-Identifier: MIT
"""The places of the largest elements of windows, and what is put back there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from .program import Value
from .scatter import scatter_elements
from .sizes import Extent
from .windows import Windows

if TYPE_CHECKING:
    from .ops import Builder

Places = np.ndarray[Any, Any]


def known(extent: Extent) -> int:
    """A size that is a number. Raises Unsupported for others."""
    if not isinstance(extent, int):
        raise errors.Unsupported(f"a size of what it pools is {extent}, which varies")
    return extent


def window_places(windows: Windows, counts: Sequence[Extent]) -> list[Places]:
    """For each axis, of each of so many windows the elements that it has: [windows, elements], also outside of the axis."""
    found = []
    for at, count in enumerate(counts):
        first = np.arange(known(count)) * windows.strides[at] - windows.pads[at]
        found.append(first[:, None] + np.arange(windows.kernel[at]) * windows.dilations[at])
    return found


def places_of_largest(b: Builder, x: Value, places: Sequence[Places]) -> Value:
    """Of each window the place of its largest element, or of the first of them, within its last axes together."""
    axes = len(places)
    lead, extents = list(x.shape[:x.rank - axes]), [known(extent) for extent in x.shape[x.rank - axes:]]
    for at, (own, extent) in enumerate(zip(places, extents)):
        before, axis = max(0, -int(own.min())), len(lead) + 2 * at
        x = b.pad(x, axis, before, max(0, int(own.max()) + 1 - extent), -math.inf)
        x = b.take(x, b.constant(own + before, "i32"), axis)
    windows, elements = (math.prod(own.shape[side] for own in places) for side in (0, 1))
    order = [*range(len(lead)), *range(len(lead), x.rank, 2), *range(len(lead) + 1, x.rank, 2)]
    rows = b.reshape(b.permute(x, order), [*lead, windows, elements])
    table = np.zeros([1] * 2 * axes, np.int64)
    for at, (own, extent) in enumerate(zip(places, extents)):
        table = table * extent + own.reshape([own.shape[axis // axes] if axis % axes == at else 1 for axis in range(2 * axes)])
    first = b.constant(np.arange(windows) * elements, "i32")
    found = b.take(b.constant(table.reshape(-1), "i32"), b.add(b.arg("argmax", rows, -1, False), first), 0)
    return b.reshape(found, [*lead, *(len(own) for own in places)])


def unpooled(b: Builder, x: Value, places: Value, extents: Sequence[Extent]) -> Value:
    """Zeros of such last axes, and x where its places are, within these axes together."""
    lead, count = list(x.shape[:x.rank - len(extents)]), math.prod(map(known, extents))
    flat = [b.reshape(one, [*lead, -1]) for one in (places, x)]
    found = scatter_elements(b, b.full([*lead, count], 0.0, "f32"), flat[0], flat[1], -1, "none")
    return b.reshape(found, [*lead, *extents])
