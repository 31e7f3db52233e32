# SPDX-License-Identifier: MIT
"""Padding with elements that are there already: reflected, repeated at the edge, or from the other end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import errors
from .program import Value, resolved
from .sizes import Extent, larger

if TYPE_CHECKING:
    from .ops import Builder

MODES = ("reflect", "edge", "wrap")


def pad_by_own(b: Builder, x: Value, axis: int, before: Extent, after: Extent, mode: str) -> Value:
    """Elements around an axis; a negative number of elements takes them away, before others are put around."""
    if mode not in MODES:
        raise errors.Unsupported(f"its mode is {mode}")
    axis = resolved(axis, x.rank)
    x = b.pad(x, axis, -larger(-before, 0), -larger(-after, 0))
    before, after = larger(before, 0), larger(after, 0)
    if before == 0 and after == 0:
        return x
    extent = x.shape[axis]
    if isinstance(extent, int) and isinstance(before, int) and isinstance(after, int):
        at = np.pad(np.arange(extent), (before, after), mode=mode)  # type: ignore[call-overload]
        return b.take(x, b.constant(at, "i32"), axis)
    return b.take(x, _places(b, extent, before, after, mode), axis)


def _places(b: Builder, extent: Extent, before: Extent, after: Extent, mode: str) -> Value:
    at = b.arange(before + extent + after, -before)
    last = b.size(extent - 1)
    if mode == "edge":
        return b.binary("minimum", b.binary("maximum", at, b.constant(0, "i32")), last)
    if mode == "wrap":
        return b.binary("modulo", at, b.size(extent))
    period = larger(2 * extent - 2, 1)  # there and back, without the ends twice
    at = b.binary("modulo", at, b.size(period))
    return b.binary("minimum", at, b.subtract(b.size(2 * extent - 2), at)) if period != 1 else at
