# SPDX-License-Identifier: MIT
"""Arrays of others as NumPy's: without a copy where type and layout allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import errors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]
    I32 = npt.NDArray[np.int32]


def _plain(value: Any) -> Any:
    """A NumPy array of the same memory where there is one."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):  # PyTorch's, which may want a gradient or be on a GPU
        value = value.detach().cpu()
        if value.is_floating_point() and value.element_size() < 4:  # NumPy has no bfloat16
            value = value.float()
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def f32(value: Any, what: str) -> F32:
    """Dense float32. Other numbers are converted, f64 rounded to nearest."""
    import numpy as np

    array = _plain(value)
    if array.dtype.kind not in "fiub":
        raise errors.InvalidArgument(f"{what}: expected numbers, found dtype {array.dtype}")
    return np.require(array, np.float32, ["C", "A"])


def i32(value: Any, what: str) -> I32:
    """Dense int32, of any integers that fit."""
    import numpy as np

    array = _plain(value)
    if array.dtype.kind not in "iu" and array.size:
        raise errors.InvalidArgument(f"{what}: expected integers, found dtype {array.dtype}")
    if array.size and array.dtype != np.int32:
        bounds = np.iinfo(np.int32)
        if array.min() < bounds.min or array.max() > bounds.max:
            raise errors.InvalidArgument(f"{what}: expected integers of 32 bits, found {array.min()} … {array.max()}")
    return np.require(array, np.int32, ["C", "A"])


def full(shape: tuple[int, ...], value: float) -> F32:
    """An array of one number."""
    import numpy as np

    return np.full(shape, value, np.float32)
