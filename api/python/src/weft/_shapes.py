# SPDX-License-Identifier: MIT
"""Types of elements, and shapes as C has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from . import _checks, errors
from ._core import lib

DType = Literal["f32", "i32", "f16", "u8"]


def c_shape(shape: Sequence[int], what: str = "shape") -> dict[str, Any]:
    """A weft_shape, as cffi takes it."""
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        raise TypeError(f"{what}: expected a list of extents, found {shape!r}")
    extents = [_checks.whole(extent, f"{what}[{axis}]") for axis, extent in enumerate(shape)]
    if len(extents) > lib.WEFT_MAX_RANK:
        raise errors.InvalidArgument(f"{what} {extents}: expected at most {lib.WEFT_MAX_RANK} axes")
    return {"rank": len(extents), "dim": extents}


def py_shape(shape: Any) -> tuple[int, ...]:
    """A tuple of a weft_shape."""
    return tuple(shape.dim[axis] for axis in range(shape.rank))
