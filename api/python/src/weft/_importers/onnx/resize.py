# SPDX-License-Identifier: MIT
"""Rows for ONNX's Resize and what it grew out of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..program.program import Value, resolved
from ..program.ratios import Ratio
from ..program.resize import Sampling, resize_axis
from ..program.sizes import Extent, divide
from .reader import Reader, has_sizes, row
from .refused import Refused

_OTHER_WORDS = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


@row("Resize", "Upsample")
def _resize(r: Reader, x: Any, *given: Any) -> Value:
    """Where corners are aligned, a scale s is of ends that are s · n - 1 apart, as the standard's tests have it; PyTorch, which
    writes such files, and ONNX Runtime take floor(s · n) - 1."""
    roi, scales, sizes = _parts(r, given)
    value = r.value(x)
    axes = [resolved(int(axis), value.rank) for axis in r.attribute("axes", range(value.rank))]
    how, rois = _sampling(r), [(0.0, 1.0)] * len(axes)
    policy = str(r.attribute("keep_aspect_ratio_policy", "stretch"))  # without sizes it changes nothing
    if how.transform == "tf_crop_and_resize":
        ends = np.asarray(r.numbers(1, roi), np.float64).reshape(2, -1)
        rois = list(zip(*ends.tolist()))
    before = [value.shape[axis] for axis in axes]
    if sizes is not None:
        steps = _by_sizes(policy, before, r.ints(3, sizes))
    else:
        steps = [_by_scale(extent, scale)
                 for extent, scale in zip(before, r.numbers(2 if len(given) > 1 else 1, scales).reshape(-1))]
        if how.transform == "align_corners" and r.producer == "pytorch":
            steps = [(count, (count, extent)) for extent, (count, _) in zip(before, steps)]
    for axis, extent, (count, scale), region in zip(axes, before, steps, rois):
        same = scale == 1.0 or isinstance(scale, tuple) and scale[0] == scale[1]
        if not same or how.transform == "tf_crop_and_resize" and region != (0.0, 1.0):
            value = resize_axis(r.build, value, axis, count, scale,
                                Sampling(**{**vars(how), "roi": region}))
        elif count != extent:
            raise Refused(f"axis {axis} has another size at the same scale")
    return value


def _parts(r: Reader, given: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Regions, scales and sizes, of which empty ones are not given."""
    def known(one: Any) -> Any:
        return None if one is None or isinstance(one, np.ndarray) and one.size == 0 else one

    parts = [known(one) for one in given] + [None] * 3
    if len(given) == 1:  # Upsample, and the oldest Resize
        return None, parts[0], None
    if parts[1] is None and parts[2] is None:
        raise Refused("it has neither scales nor sizes")
    return parts[0], parts[1], parts[2]


def _sampling(r: Reader) -> Sampling:
    mode = str(r.attribute("mode", "nearest"))
    transform = "asymmetric" if r.node.op_type == "Upsample" else "half_pixel"
    nearest = "floor" if r.node.op_type == "Upsample" else "round_prefer_floor"
    return Sampling(
        mode=_OTHER_WORDS.get(mode, mode), transform=r.attribute("coordinate_transformation_mode", transform),
        nearest=r.attribute("nearest_mode", nearest), cubic=float(r.attribute("cubic_coeff_a", -0.75)),
        exclude_outside=bool(r.attribute("exclude_outside", 0)), antialias=bool(r.attribute("antialias", 0)),
        extrapolation=float(r.attribute("extrapolation_value", 0.0)))


def _by_scale(extent: Extent, scale: Any) -> tuple[Extent, float | tuple[Extent, Extent]]:
    """A new size, and the scale: a number, or the two sizes whose quotient it is."""
    number = scale.number if isinstance(scale, Ratio) else float(scale)
    return ((scale * extent).floor(), (scale.above, scale.below)) if number is None else (_grown(extent, number), number)


def _grown(extent: Extent, scale: float) -> Extent:
    """floor(extent · scale)."""
    if isinstance(extent, int):
        return math.floor(extent * scale)
    above, below = scale.as_integer_ratio()
    if below > 2**10:
        raise Refused(f"an axis of {extent} elements grows by {scale}, no simple fraction: a number in `sizes` will do")
    return divide(extent * above, below)


def _by_sizes(policy: str, before: list[Extent], after: list[Any]) -> list[tuple[Extent, float | tuple[Extent, Extent]]]:
    """New sizes, and scales as pairs of sizes; a policy may keep the aspect."""
    if policy == "stretch":
        return [(count, (count, extent)) for extent, count in zip(before, after)]
    if has_sizes(np.array([*before, *after], object)):
        raise Refused(f"its policy is {policy}, and sizes are no numbers")
    scale = (min if policy == "not_larger" else max)(count / int(str(extent)) for extent, count in zip(before, after))
    return [(math.floor(int(str(extent)) * scale + 0.5), scale) for extent in before]
