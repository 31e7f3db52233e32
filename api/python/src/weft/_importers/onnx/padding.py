# SPDX-License-Identifier: MIT
"""Rows for ONNX's Pad and CenterCropPad."""

from __future__ import annotations

from typing import Any

from ..program.padding import pad_by_own
from ..program.program import Value, resolved
from ..program.sizes import larger
from .reader import Reader, row


@row("Pad")
def _pad(r: Reader, x: Any, pads: Any, fill: Any = None, axes: Any = None) -> Value:
    value, counts, mode = r.value(x), r.ints(1, pads), r.attribute("mode", "constant")
    at = list(range(value.rank)) if axes is None else [resolved(int(axis), value.rank) for axis in r.ints(3, axes)]
    number = 0.0 if fill is None else float(r.numbers(2, fill).reshape(-1)[0])
    for index, axis in enumerate(at):
        before, after = counts[index], counts[len(at) + index]
        if mode == "constant":
            value = r.build.pad(value, axis, before, after, number if value.dtype == "f32" else int(number))
        else:
            value = pad_by_own(r.build, value, axis, before, after, mode)
    return value


@row("CenterCropPad")
def _center_crop_pad(r: Reader, x: Any, shape: Any) -> Value:
    value, wanted = r.value(x), r.ints(1, shape)
    axes = [resolved(int(axis), value.rank) for axis in r.attribute("axes", range(value.rank))]
    for axis, extent in zip(axes, wanted):
        more = extent - value.shape[axis]
        cut = larger(-more, 0)
        less = cut // 2
        value = r.build.pad(value, axis, -less, less - cut)
        more = larger(more, 0)
        value = r.build.pad(value, axis, more // 2, more - more // 2)
    return value
