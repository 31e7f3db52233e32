# SPDX-License-Identifier: MIT
"""Transposed convolutions of programs: one convolution gives all phases of the strides, which are put side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ... import errors
from .norms import Numbers, note_affine, times
from .program import Value
from .sizes import Extent, divide, product
from .windows import Windows, conv

if TYPE_CHECKING:
    from .ops import Builder


def conv_transpose(b: Builder, x: Value, weight: Value, bias: Value | None, windows: Windows, more: Sequence[int],
                   groups: int) -> Value:
    """x [B, C, …], weight [C, O / groups, …], bias [O]: [B, O, …]. `windows` are those of the convolution that this is the
    transpose of; `more`: elements behind each axis."""
    axes, strides, given = len(windows.kernel), windows.strides, x
    phases, outputs = math.prod(strides), int(str(weight.shape[1])) * groups
    filters = _phases_of(b, weight, windows, groups)
    wide = None if bias is None else _for_each_phase(b, bias, phases)
    before, after, cuts, counts = [], [], [], []
    for at in range(axes):
        extent, stride, taps = x.shape[2 + at], strides[at], int(str(filters.shape[2 + at]))
        span = windows.dilations[at] * (windows.kernel[at] - 1) + 1
        count = stride * (extent - 1) + more[at] + span - windows.pads[at] - windows.pads[axes + at]
        first, end = windows.pads[at] // stride, -divide(-(windows.pads[at] + count), stride)
        early = taps - 1 - first
        late = end - first - extent - early + taps - 1
        if not isinstance(late, int):
            raise errors.Unsupported(f"its pads behind axis {2 + at} depend on the size of that")
        x = b.pad(x, 2 + at, min(early, 0), min(late, 0))
        before.append(max(early, 0))
        after.append(max(late, 0))
        cuts.append(windows.pads[at] - first * stride)
        counts.append(count)
    taps_of = [int(str(extent)) for extent in filters.shape[2:]]
    y = conv(b, x, filters, wide, Windows(taps_of, [1] * axes, before + after, [1] * axes), groups)
    y = _side_by_side(b, y, outputs, strides)
    for at in range(axes):
        y = b.slice(y, 2 + at, cuts[at], counts[at])
    note_affine(b, y, weight, bias, lambda scale, term: conv_transpose(
        b, given, times(b, weight, _of_outputs(scale, groups, weight)), term, windows, more, groups))
    return y


def _of_outputs(scale: Numbers, groups: int, weight: Value) -> Numbers:
    """Factors of outputs as a weight [C, O / groups, …] has them."""
    inputs = int(str(weight.shape[0]))
    rows = scale.reshape(groups, 1, -1).repeat(inputs // groups, 1)
    return rows.reshape(inputs, -1, *[1] * (weight.rank - 2))


def _phases_of(b: Builder, weight: Value, windows: Windows, groups: int) -> Value:
    """[O · phases, C / groups, …]: for each phase of the strides the elements of filters that reach it, the last one first."""
    axes = len(windows.kernel)
    inputs, outputs = int(str(weight.shape[0])) // groups, weight.shape[1]
    w = weight
    for at in reversed(range(axes)):
        w = _spread(b, w, 2 + at, windows.dilations[at])
        taps = -(-int(str(w.shape[2 + at])) // windows.strides[at])
        w = b.pad(w, 2 + at, 0, taps * windows.strides[at] - int(str(w.shape[2 + at])))
        w = b.reshape(w, [*w.shape[:2 + at], taps, windows.strides[at], *w.shape[3 + at:]])
        w = b.slice(w, 2 + at, taps - 1, taps, -1)
    w = b.permute(w, [1, *range(3, 2 + 2 * axes, 2), 0, *range(2, 2 + 2 * axes, 2)])
    places = list(w.shape[2 + axes:])
    rows = outputs * math.prod(windows.strides)
    w = b.permute(b.reshape(w, [rows, groups, inputs, product(places)]), [1, 0, 2, 3])
    return b.reshape(w, [groups * rows, inputs, *places])


def _spread(b: Builder, w: Value, axis: int, dilation: int) -> Value:
    """With zeros between the elements of an axis."""
    if dilation == 1:
        return w
    taps = int(str(w.shape[axis]))
    wide = b.pad(b.reshape(w, [*w.shape[:axis + 1], 1, *w.shape[axis + 1:]]), axis + 1, 0, dilation - 1)
    wide = b.reshape(wide, [*w.shape[:axis], taps * dilation, *w.shape[axis + 1:]])
    return b.slice(wide, axis, 0, dilation * (taps - 1) + 1)


def _for_each_phase(b: Builder, bias: Value, phases: int) -> Value:
    if bias.array is not None:
        return b.constant(bias.array.repeat(phases), "f32")
    return b.reshape(b.expand(b.reshape(bias, [-1, 1]), [bias.shape[0], phases]), [-1])


def _side_by_side(b: Builder, y: Value, outputs: int, strides: Sequence[int]) -> Value:
    """[B, O, … · strides] of [B, O · phases, …]."""
    axes = len(strides)
    places: list[Extent] = list(y.shape[2:])
    split = b.reshape(y, [y.shape[0], outputs, *strides, *places])
    order = [0, 1]
    for at in range(axes):
        order += [2 + axes + at, 2 + at]
    return b.reshape(b.permute(split, order),
                     [y.shape[0], outputs, *(extent * stride for extent, stride in zip(places, strides))])


def summed_windows(b: Builder, x: Value, size: Sequence[Extent], windows: Windows) -> Value:
    """[B, C, …] of such a size, where each window of [B, C · taps, windows] is added to what it is a window of."""
    axes, taps = len(windows.kernel), math.prod(windows.kernel)
    counts = windows.counts(size)
    lead = list(x.shape[:-2]) or [1]
    parts = b.reshape(x, [*lead, x.shape[-2], *counts])
    places = b.constant(np.eye(taps).reshape(taps, 1, *windows.kernel), "f32")
    channels = x.shape[-2] // taps
    rows = b.reshape(parts, [product([*lead, channels]), taps, *counts])
    more = []
    for at, (extent, count) in enumerate(zip(size, counts)):
        reach = (count - 1) * windows.strides[at] + windows.dilations[at] * (windows.kernel[at] - 1) + 1
        left = extent + windows.pads[at] + windows.pads[axes + at] - reach
        if not isinstance(left, int):
            raise errors.Unsupported(f"how much no window covers depends on the sizes: {left}")
        more.append(left)
    found = conv_transpose(b, rows, places, None, windows, more, 1)
    return b.reshape(found, [*lead, channels, *size])
