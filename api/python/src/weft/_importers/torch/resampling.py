# SPDX-License-Identifier: MIT
"""Rows for PyTorch's interpolation, and its sampling at places that a tensor says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..program.grids import grid_sample
from ..program.program import Value
from ..program.resize import Sampling, resize_axis
from .reader import Reader, row
from .types import Refused

_HOW = {
    "upsample_nearest": Sampling("nearest", "asymmetric", "floor"),
    "_upsample_nearest_exact": Sampling("nearest", "tf_half_pixel_for_nn", "floor"),
    "upsample_linear": Sampling("linear", "half_pixel"), "upsample_bilinear": Sampling("linear", "half_pixel"),
    "upsample_trilinear": Sampling("linear", "half_pixel"), "upsample_bicubic": Sampling("cubic", "half_pixel"),
}
_SMOOTHED = {"_upsample_bilinear2d_aa": Sampling("linear", "half_pixel", antialias=True, exclude_outside=True),
             "_upsample_bicubic2d_aa": Sampling("cubic", "half_pixel", cubic=-0.5, antialias=True, exclude_outside=True)}
"""With weights that are wider where the result is smaller."""
_ALIGNED = {"linear": Sampling("linear", "align_corners"), "cubic": Sampling("cubic", "align_corners")}
_AXES = {"upsample_nearest": (1, 2, 3), "_upsample_nearest_exact": (1, 2, 3), "upsample_linear": (1,),
         "upsample_bilinear": (2,), "upsample_trilinear": (3,), "upsample_bicubic": (2,)}


def _upsampled(r: Reader, how: Sampling, x: Any, aligned: bool, scales: Sequence[Any] | None) -> Value:
    """Of [B, C, …]; scales that the caller gave say where elements come from, and sizes do otherwise."""
    value, shape = r.value(x), r.shape
    if aligned and how.antialias:
        raise Refused("it aligns corners and smooths")
    how = _ALIGNED[how.mode] if aligned else how
    given = list(scales or [None] * (value.rank - 2))
    for axis in range(2, value.rank):
        count, extent, scale = shape[axis], value.shape[axis], given[axis - 2]
        if count != extent or scale not in (None, 1.0):
            step = (count, extent) if scale is None or aligned else float(scale)
            value = resize_axis(r.build, value, axis, count, step, how)
    return value


def _register(name: str, axes: int) -> None:
    flags, how = name in ("upsample_nearest", "_upsample_nearest_exact"), _HOW[name]

    @row(f"aten.{name}{axes}d.vec")
    def _vec(r: Reader, x: Any, size: Any, *rest: Any) -> Value:
        aligned, scales = (False, rest[0] if rest else None) if flags else (bool(rest[0]), rest[1] if len(rest) > 1 else None)
        return _upsampled(r, how, x, aligned, scales)

    @row(f"aten.{name}{axes}d.default")
    def _default(r: Reader, x: Any, size: Any, *rest: Any) -> Value:
        aligned = False if flags else bool(rest[0])
        scales = list(rest[0 if flags else 1:])
        return _upsampled(r, how, x, aligned, scales if any(one is not None for one in scales) else None)


for _name, _numbers in _AXES.items():
    for _axes in _numbers:
        _register(_name, _axes)


@row("aten._upsample_bilinear2d_aa.vec", "aten._upsample_bicubic2d_aa.vec", "aten._upsample_bilinear2d_aa.default",
     "aten._upsample_bicubic2d_aa.default")
def _smoothed(r: Reader, x: Any, size: Any, aligned: bool, *scales: Any) -> Value:
    given = scales[0] if str(r.node.target).endswith("vec") else scales
    return _upsampled(r, _SMOOTHED[str(r.node.target).split(".")[1]], x, aligned, list(given) if given else None)


# ---- at places that a tensor says ----

@row("aten.grid_sampler.default", "aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default")
def _grid_sampler(r: Reader, x: Any, grid: Any, mode: int, around: int, corners: bool) -> Value:
    return grid_sample(r.build, r.value(x), r.value(grid), ("linear", "nearest", "cubic")[mode],
                       ("zeros", "border", "reflection")[around], corners)
